//! Messages out of a stream, each with its own bytes.

use std::fmt;
use std::io::Read;

use super::ScanError;
use super::scanner::Scanner;
use super::source::StreamSource;

/// One whole GRIB message.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number in the input, from 1; bad messages count.
    pub number: u64,
    /// Byte offset of its first byte in the input.
    pub offset: u64,
    /// All of it, from "GRIB" to "7777".
    pub bytes: Vec<u8>,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, offset, bytes } = self;
        write!(f, "Message {{ number: {number}, offset: {offset}, length: {} }}", bytes.len())
    }
}

/// Yields the messages of a stream in order. Memory: one message, and 64 KiB.
///
/// The first error ends the scan, unless [`skip_bad`](Self::skip_bad) is set. An input without any message gives one
/// [`ScanError::NoMessage`].
///
/// Reads in large steps itself; a `BufReader` around the stream gains nothing.
///
/// ```
/// use isotach_grib::MessageScanner;
///
/// let cut_short = b"GRIB\x00\x00\x0c\x0177";
/// let whole = b"GRIB\x00\x00\x0c\x017777";
/// let file = [cut_short.as_slice(), whole].concat();
///
/// let (mut good, mut bad) = (Vec::new(), Vec::new());
/// for message in MessageScanner::new(file.as_slice()).skip_bad(true) {
///     match message {
///         Ok(message) => good.push(message.number),
///         Err(error) => bad.push(error.to_string()),
///     }
/// }
/// assert_eq!(good, [2]);
/// assert!(bad[0].starts_with("message 1 at byte 0 does not end where its header says"), "{bad:?}");
/// ```
pub type MessageScanner<R> = Scanner<StreamSource<R>>;

impl<R: Read> MessageScanner<R> {
    /// A scanner that begins where `reader` stands and counts offsets from there.
    pub fn new(reader: R) -> Self {
        Self::over(StreamSource::new(reader))
    }

    #[cfg(test)]
    pub(super) fn source_capacity(&self) -> usize {
        self.source.capacity()
    }
}

impl<R: Read> Iterator for MessageScanner<R> {
    type Item = Result<Message, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.finder.next(&mut self.source)?;
        Some(found.map(|found| Message {
            number: found.number,
            offset: found.offset,
            bytes: self.source.take(found.offset, found.length),
        }))
    }
}
