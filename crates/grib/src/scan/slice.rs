//! Messages of a buffer in memory (or a mapped file), without copying them.

use std::fmt;

use super::ScanError;
use super::scanner::Scanner;
use super::source::SliceSource;

/// One whole GRIB message inside a larger buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MessageRef<'a> {
    /// Its number in the buffer, from 1; bad messages count.
    pub number: u64,
    /// Byte offset of its first byte in the buffer.
    pub offset: u64,
    /// All of it, from "GRIB" to "7777".
    pub bytes: &'a [u8],
}

impl fmt::Debug for MessageRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, offset, bytes } = self;
        write!(f, "MessageRef {{ number: {number}, offset: {offset}, length: {} }}", bytes.len())
    }
}

/// Yields the messages of a buffer in order, without copying. The same rules as [`crate::MessageScanner`].
///
/// ```
/// use isotach_grib::SliceScanner;
///
/// let buffer = b"..GRIB\x00\x00\x0c\x017777..";
/// let message = SliceScanner::new(buffer).next().unwrap()?;
/// assert_eq!(message.bytes, &buffer[2..14]);
/// # Ok::<(), isotach_grib::ScanError>(())
/// ```
pub type SliceScanner<'a> = Scanner<SliceSource<'a>>;

impl<'a> SliceScanner<'a> {
    /// A scanner over all of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::over(SliceSource(bytes))
    }
}

impl<'a> Iterator for SliceScanner<'a> {
    type Item = Result<MessageRef<'a>, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.finder.next(&mut self.source)?;
        Some(found.map(|found| {
            let rest = self.source.rest_from(found.offset);
            // The finder has seen the whole message in this slice, so its length fits.
            let length = usize::try_from(found.length).unwrap_or(rest.len()).min(rest.len());
            MessageRef { number: found.number, offset: found.offset, bytes: &rest[..length] }
        }))
    }
}
