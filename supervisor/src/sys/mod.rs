//! sys

mod peer;

pub use peer::landlock_abi;
