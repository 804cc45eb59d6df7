//! Random bytes from the kernel (getrandom(2)).
//!
//! Invariant: they come from the call itself: a file of that name could be somebody else's. Refuses to give fewer.

use super::checked;
use std::io;

/// 32 bytes that nobody can guess. Waits only while a machine has just started.
///
/// # Errors
/// ENOSYS before Linux 3.17.
pub fn bytes() -> io::Result<[u8; 32]> {
    let mut bytes = [0_u8; 32];
    // SAFETY: the kernel writes at most as many bytes as the array has. Up to 256 come whole, or none.
    let got = checked(unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) } as libc::c_long)?;
    if got as usize == bytes.len() { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn they_differ() -> std::io::Result<()> {
        assert_ne!(super::bytes()?, super::bytes()?);
        Ok(())
    }
}
