//! What a scan can find wrong, with the facts an operator needs: which message, at which byte, what was expected.

use std::io;

/// Why a scan did not yield a message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// A message begins here but is not whole. A scanner with `skip_bad` continues after it.
    #[error("message {number} at byte {offset} {problem}")]
    BadMessage {
        /// Its number in the input, from 1; bad messages count.
        number: u64,
        /// Byte offset of its "GRIB" in the input.
        offset: u64,
        /// What is wrong with it.
        problem: ScanProblem,
    },
    /// The input came to its end and nowhere was there the mark "GRIB".
    #[error("no GRIB message found in {length} bytes")]
    NoMessage {
        /// Length of the input in bytes.
        length: u64,
    },
    /// The input could not be read. The scan ends here in any case.
    #[error("cannot read at byte {offset}: {source}")]
    Io {
        /// Byte offset from which the scan wanted to read.
        offset: u64,
        /// What the operating system said.
        source: io::Error,
    },
}

impl ScanError {
    /// The number of the bad message, if the error is about one.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::BadMessage { number, .. } => Some(*number),
            Self::NoMessage { .. } | Self::Io { .. } => None,
        }
    }

    /// The byte offset the error is about, if it is about one.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::BadMessage { offset, .. } | Self::Io { offset, .. } => Some(*offset),
            Self::NoMessage { .. } => None,
        }
    }
}

/// What is wrong with one message. Lengths and positions are in bytes, positions counted from the message's start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScanProblem {
    /// The input ends before the message does.
    #[error("is cut short: expected {expected} bytes, the input ends after {available}")]
    Truncated {
        /// How long the message, or the part of its header being read, must be.
        expected: u64,
        /// How many bytes there are from its start to the end of the input.
        available: u64,
    },
    /// The eighth byte is neither 1 nor 2.
    #[error("has edition {edition}, expected GRIB edition 1 or 2")]
    Edition {
        /// The edition found.
        edition: u8,
    },
    /// The length in the header cannot hold a header and a trailer.
    #[error("has length {length} in its header, expected at least {least} bytes")]
    Length {
        /// The length found.
        length: u64,
        /// The least that a message of its edition can be.
        least: u64,
    },
    /// The length in the header is above the scanner's limit.
    #[error("has length {length} in its header, more than the {limit} bytes this scan accepts")]
    TooLong {
        /// The length found.
        length: u64,
        /// The limit, see [`crate::DEFAULT_MAX_LENGTH`].
        limit: u64,
    },
    /// The last four bytes are not "7777".
    #[error(
        "does not end where its header says: expected \"7777\" as the last of {length} bytes, found {found:02x?}"
    )]
    Trailer {
        /// The length in the header.
        length: u64,
        /// The four bytes found in the trailer's place.
        found: [u8; 4],
    },
}
