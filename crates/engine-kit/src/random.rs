//! Random bytes from the system.

use isotach_object::{Error, Result};
use rustix::{io::Errno, rand};

/// `N` random bytes.
///
/// # Errors
/// `Io` where the system has none.
pub fn bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        match rand::getrandom(&mut bytes[filled..], rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::from_io(errno.into(), "random bytes of the system")),
        }
    }
    Ok(bytes)
}

/// A random number.
///
/// # Errors
/// As [`bytes`].
pub fn number() -> Result<u64> {
    Ok(u64::from_le_bytes(bytes()?))
}
