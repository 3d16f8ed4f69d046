//! Little-endian numbers in and out of byte strings. Nothing here can read past its input.

/// Takes fields off the front of a byte string; `None` when it is too short.
///
/// ```
/// # use isotach_engine_kit::bytes::{Put, Reader};
/// let mut stored = Vec::new();
/// stored.put_u16(7);
/// let mut reader = Reader(&stored);
/// assert_eq!((reader.u16(), reader.u16()), (Some(7), None));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `length` bytes.
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk()?;
        self.0 = tail;
        Some(*head)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// The next 2 bytes as a number.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// The next 4 bytes as a number.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next 8 bytes as a number.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A text with its length, a u32, in front.
    pub fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.u32()?).ok()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// Whether all bytes have been taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Appends fields to a byte string.
pub trait Put {
    /// Appends a byte.
    fn put_u8(&mut self, value: u8);
    /// Appends 2 bytes.
    fn put_u16(&mut self, value: u16);
    /// Appends 4 bytes.
    fn put_u32(&mut self, value: u32);
    /// Appends 8 bytes.
    fn put_u64(&mut self, value: u64);
    /// Appends a text with its length, a u32, in front. The text has less than 4 GiB.
    fn put_text(&mut self, text: &str);
}

impl Put for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_text(&mut self, text: &str) {
        self.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_never_takes_more_than_there_is() {
        let mut reader = Reader(&[1, 2, 3]);
        assert_eq!(reader.u16(), Some(0x0201));
        assert_eq!(reader.u16(), None);
        assert_eq!(reader.u8(), Some(3));
        assert!(reader.is_empty());
    }
}
