//! Where messages lie in a file, for indexing them in place.

use std::fmt;
use std::io::{Read, Seek};

use super::ScanError;
use super::finder::Finder;
use super::source::SeekSource;

/// The place of one whole GRIB message in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageLocation {
    /// Its number in the file, from 1; bad messages count.
    pub number: u64,
    /// Byte offset of its first byte from the start of the file.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// Yields the places of a file's messages, reading only their headers and trailers.
///
/// The same rules as [`crate::MessageScanner`], and offsets always count from the start of the file. Memory: 64 KiB.
///
/// ```
/// use std::io::Cursor;
/// use isotach_grib::LocationScanner;
///
/// let file = Cursor::new(b"..GRIB\x00\x00\x0c\x017777..");
/// let place = LocationScanner::new(file)?.next().unwrap()?;
/// assert_eq!((place.number, place.offset, place.length), (1, 2, 12));
/// # Ok::<(), isotach_grib::ScanError>(())
/// ```
pub struct LocationScanner<R> {
    source: SeekSource<R>,
    finder: Finder,
}

impl<R: Read + Seek> LocationScanner<R> {
    /// A scanner over all of `file`, wherever it stands now.
    ///
    /// # Errors
    /// [`ScanError::Io`] if the file cannot be sought in, as a pipe cannot.
    pub fn new(file: R) -> Result<Self, ScanError> {
        let mut finder = Finder::default();
        let source = SeekSource::new(file).map_err(|error| finder.fail(error))?;
        Ok(Self { source, finder })
    }

    /// Whether to go on after a bad message, at the next "GRIB" behind its mark. The error is yielded either way.
    #[must_use]
    pub fn skip_bad(mut self, skip_bad: bool) -> Self {
        self.finder.skip_bad = skip_bad;
        self
    }

    /// The longest message to accept, in bytes ([`crate::DEFAULT_MAX_LENGTH`] unless set).
    #[must_use]
    pub fn max_length(mut self, max_length: u64) -> Self {
        self.finder.max_length = max_length;
        self
    }

    /// Bytes passed so far that lie between messages.
    pub fn outside_bytes(&self) -> u64 {
        self.finder.outside
    }
}

impl<R: Read + Seek> Iterator for LocationScanner<R> {
    type Item = Result<MessageLocation, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.finder.next(&mut self.source)?;
        Some(found.map(|found| MessageLocation {
            number: found.number,
            offset: found.offset,
            length: found.length,
        }))
    }
}

impl<R> fmt::Debug for LocationScanner<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocationScanner").field("finder", &self.finder).finish_non_exhaustive()
    }
}
