//! CRC-32C (Castagnoli), the checksum of everything that an engine stores.

use crc_fast::{CrcAlgorithm::Crc32Iscsi, Digest};

/// The checksum of `bytes`.
///
/// ```
/// // The check value of CRC-32C (RFC 3720, appendix B.4) for the nine digits.
/// assert_eq!(isotach_engine_kit::checksum::crc32c(b"123456789"), 0xe306_9283);
/// ```
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::checksum(Crc32Iscsi, bytes) as u32
}

/// The checksum of bytes that come in pieces.
///
/// ```
/// # use isotach_engine_kit::checksum::{Crc32c, crc32c};
/// let mut sum = Crc32c::default();
/// sum.update(b"1234");
/// sum.update(b"56789");
/// assert_eq!(sum.finish(), crc32c(b"123456789"));
/// ```
#[derive(Debug)]
pub struct Crc32c(Digest);

impl Default for Crc32c {
    fn default() -> Self {
        Self(Digest::new(Crc32Iscsi))
    }
}

impl Crc32c {
    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all pieces.
    pub fn finish(self) -> u32 {
        self.0.finalize() as u32
    }
}

/// The checksum of `head` followed by `tail`.
///
/// ```
/// # use isotach_engine_kit::checksum::{crc32c, crc32c_of_both};
/// assert_eq!(crc32c_of_both(b"1234", b"56789"), crc32c(b"123456789"));
/// ```
pub fn crc32c_of_both(head: &[u8], tail: &[u8]) -> u32 {
    let mut sum = Crc32c::default();
    sum.update(head);
    sum.update(tail);
    sum.finish()
}
