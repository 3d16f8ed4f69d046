//! Where messages lie in a file, for indexing them in place.

use std::io::{Read, Seek};

use super::ScanError;
use super::finder::{Finder, MessageLocation};
use super::scanner::Scanner;
use super::source::SeekSource;

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
pub type LocationScanner<R> = Scanner<SeekSource<R>>;

impl<R: Read + Seek> LocationScanner<R> {
    /// A scanner over all of `file`, wherever it stands now.
    ///
    /// # Errors
    /// [`ScanError::Io`] if the file cannot be sought in, as a pipe cannot.
    pub fn new(file: R) -> Result<Self, ScanError> {
        SeekSource::new(file).map(Self::over).map_err(|error| Finder::default().fail(error))
    }
}

impl<R: Read + Seek> Iterator for LocationScanner<R> {
    type Item = Result<MessageLocation, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.finder.next(&mut self.source)
    }
}
