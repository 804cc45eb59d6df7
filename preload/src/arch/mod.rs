//! What differs between processors: system calls, their numbers, weak symbols, and the doors of the hooks.
//!
//! Invariant: nothing here touches errno, thread-local storage or memory of its own.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{door, number, syscall, variadic_door, weak};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{door, number, syscall, variadic_door, weak};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the shim knows x86-64 and aarch64");
