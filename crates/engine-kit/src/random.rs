//! Random bytes from the system, and numbers that follow from a seed.

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

/// Random numbers that follow from a seed (SplitMix64), for tests that can be repeated.
#[derive(Debug, Clone)]
pub struct Seeded(pub u64);

impl Seeded {
    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// This many bytes. Now and then all are zeros, because lost bytes read as zeros.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let zeros = self.below(4) == 0;
        (0..length).map(|_| if zeros { 0 } else { self.number() as u8 }).collect()
    }
}
