//! Checksums, random numbers, and fields of byte strings.

use isotach_object::{Error, Result};
use rustix::{io::Errno, rand};

/// CRC32C (Castagnoli) of `bytes`, the checksum of everything this engine stores.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

/// The checksum of `head` and `tail` as if they were one.
pub(crate) fn crc32c_of_both(head: &[u8], tail: &[u8]) -> u32 {
    let mut digest = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc32Iscsi);
    digest.update(head);
    digest.update(tail);
    digest.finalize() as u32
}

/// `N` random bytes of the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
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
pub(crate) fn random_number() -> Result<u64> {
    Ok(u64::from_le_bytes(random()?))
}

/// Takes fields off the front of a byte string; `None` when it is too short.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_castagnolis() {
        // The check value of CRC-32C (RFC 3720, appendix B.4 polynomial) for the nine digits.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c_of_both(b"1234", b"56789"), 0xe306_9283);
    }

    #[test]
    fn a_reader_never_takes_more_than_there_is() {
        let mut reader = Reader(&[1, 0, 0, 0, 2, 0]);
        assert_eq!((reader.u32(), reader.u32(), reader.take(2)), (Some(1), None, Some(&[2, 0][..])));
    }
}
