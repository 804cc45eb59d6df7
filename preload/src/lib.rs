//! The shim: asks at the libc exec family of dynamically linked processes.
