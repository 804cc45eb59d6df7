//! `cargo +nightly fuzz run classify`: what [`body::classify`] holds, for any bytes.
#![no_main]

#[path = "../body.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::classify(data));
