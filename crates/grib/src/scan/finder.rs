//! The rules of scanning, once for all sources: find "GRIB", read edition and length, check "7777".
//!
//! What must stay true: after every answer but the last the position has moved forward, so a scan always ends.

use std::io;

use super::source::Source;
use super::{DEFAULT_MAX_LENGTH, ScanError, ScanProblem, large};

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

const MARK: &[u8; 4] = b"GRIB";
const TRAILER: [u8; 4] = *b"7777";
/// Length of the indicator section, and the least a message can be, in GRIB 1 and GRIB 2.
const HEADER_1: usize = 8;
const HEADER_2: usize = 16;
const LEAST_1: u64 = 12;
const LEAST_2: u64 = 20;

/// The state of one scan.
#[derive(Debug)]
pub(super) struct Finder {
    /// The position at which the search continues.
    position: u64,
    /// Marks seen so far, bad messages included.
    number: u64,
    pub(super) skip_bad: bool,
    pub(super) max_length: u64,
    done: bool,
}

/// What stopped one message: the input itself, or what it says.
pub(super) enum Stop {
    Io(io::Error),
    Problem(ScanProblem),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ScanProblem> for Stop {
    fn from(problem: ScanProblem) -> Self {
        Self::Problem(problem)
    }
}

impl Default for Finder {
    fn default() -> Self {
        Self { position: 0, number: 0, skip_bad: false, max_length: DEFAULT_MAX_LENGTH, done: false }
    }
}

impl Finder {
    /// The next message or the next thing wrong; `None` at the end, or after an error that ends the scan.
    pub(super) fn next<S: Source>(&mut self, source: &mut S) -> Option<Result<MessageLocation, ScanError>> {
        if self.done {
            return None;
        }
        match self.seek_mark(source) {
            Ok(true) => Some(self.one_message(source)),
            Ok(false) => {
                self.done = true;
                (self.number == 0).then_some(Err(ScanError::NoMessage { length: self.position }))
            }
            Err(error) => Some(Err(self.fail(error))),
        }
    }

    /// Ends the scan because the input could not be read.
    pub(super) fn fail(&mut self, source: io::Error) -> ScanError {
        self.done = true;
        ScanError::Io { offset: self.position, source }
    }

    /// Moves to the next "GRIB"; false at the end of the input.
    fn seek_mark<S: Source>(&mut self, source: &mut S) -> io::Result<bool> {
        loop {
            let window = source.look(self.position, MARK.len())?;
            let found = memchr::memmem::find(window, MARK);
            let at_end = window.len() < MARK.len();
            // Without a mark, the last three bytes may still be the beginning of one.
            let step = match found {
                Some(index) => index,
                None if at_end => window.len(),
                None => window.len() - (MARK.len() - 1),
            };
            self.position += step as u64;
            source.forget_before(self.position);
            if found.is_some() || at_end {
                return Ok(found.is_some());
            }
        }
    }

    fn one_message<S: Source>(&mut self, source: &mut S) -> Result<MessageLocation, ScanError> {
        let offset = self.position;
        self.number += 1;
        let number = self.number;
        match whole_length(source, offset, self.max_length) {
            Ok(length) => {
                self.position += length;
                Ok(MessageLocation { number, offset, length })
            }
            Err(Stop::Io(error)) => Err(self.fail(error)),
            Err(Stop::Problem(problem)) => {
                // The header cannot be trusted, so the search continues right after this message's mark.
                self.position += MARK.len() as u64;
                self.done = !self.skip_bad;
                Err(ScanError::BadMessage { number, offset, problem })
            }
        }
    }
}

/// The length of the message at `offset`, once all of it has been seen to be there.
fn whole_length<S: Source>(source: &mut S, offset: u64, limit: u64) -> Result<u64, Stop> {
    let (length, least) = stated_length(source, offset)?;
    if length < least {
        return Err(ScanProblem::Length { length, least }.into());
    }
    if length > limit {
        return Err(ScanProblem::TooLong { length, limit }.into());
    }
    match source.tail(offset, length)? {
        Ok(TRAILER) => Ok(length),
        Ok(found) => Err(ScanProblem::Trailer { length, found }.into()),
        Err(available) => Err(ScanProblem::Truncated { expected: length, available }.into()),
    }
}

/// The length the header states, and the least its edition allows.
fn stated_length<S: Source>(source: &mut S, offset: u64) -> Result<(u64, u64), Stop> {
    let head: [u8; HEADER_1] = bytes_at(source, offset, 0)?;
    match head[7] {
        1 => {
            let stated = number(&head[4..7]);
            Ok((large::length(source, offset, stated)?, LEAST_1))
        }
        2 => {
            let head: [u8; HEADER_2] = bytes_at(source, offset, 0)?;
            Ok((number(&head[8..]), LEAST_2))
        }
        edition => Err(ScanProblem::Edition { edition }.into()),
    }
}

/// `N` bytes at `at` within the message at `offset`.
pub(super) fn bytes_at<S: Source, const N: usize>(
    source: &mut S,
    offset: u64,
    at: u64,
) -> Result<[u8; N], Stop> {
    let window = source.look(offset + at, N)?;
    let cut = ScanProblem::Truncated { expected: at + N as u64, available: at + window.len() as u64 };
    window.first_chunk().copied().ok_or_else(|| cut.into())
}

/// A number as GRIB writes it, the most significant byte first.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
