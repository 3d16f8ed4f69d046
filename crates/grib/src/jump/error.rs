//! What can stand in the way of decoding single points.

/// Why points of a message cannot be decoded alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JumpError {
    /// The message is sound as far as it was read, but of a kind that is decoded whole, by ecCodes.
    #[error("{what} cannot be decoded point by point: decode the message whole with ecCodes")]
    Unsupported {
        /// What the message holds, as in "the packing of template 5.40 of GRIB 2".
        what: String,
    },
    /// The message contradicts itself or is cut.
    #[error("the message is corrupt: {reason}")]
    CorruptMessage {
        /// What is wrong with it.
        reason: String,
    },
    /// The bytes are no jump index.
    #[error("the jump index is corrupt: {reason}; build it anew from the message")]
    CorruptIndex {
        /// What is wrong with it.
        reason: String,
    },
    /// The jump index has a layout that is not known here. A program that knows it may have made it, so it is not replaced.
    #[error("the jump index is of version {found}, expected {expected}: decode the message without it")]
    OtherVersion {
        /// Its version.
        found: u8,
        /// The version that is known here.
        expected: u8,
    },
    /// Points were asked for that the grid does not have.
    #[error("points {start} to {end} (exclusive) of a grid of {points} points")]
    OutOfRange {
        /// The first point asked for.
        start: u64,
        /// The point behind the last.
        end: u64,
        /// How many the grid has.
        points: u64,
    },
    /// The values asked for are more than are decoded at once, or do not fit into memory.
    #[error("{values} values are too many to decode at once")]
    TooLarge {
        /// How many were asked for.
        values: u64,
    },
    /// A read gave fewer bytes than were asked for.
    #[error("a read of bytes {start} to {end} (exclusive) of the message gave {found} bytes")]
    ShortRead {
        /// The first byte asked for.
        start: u64,
        /// The byte behind the last.
        end: u64,
        /// How many bytes came.
        found: u64,
    },
    /// Values were asked for before the bytes that hold them were supplied.
    #[error("the extraction is unfinished: supply the bytes of the message that it wants")]
    Unfinished,
}

impl JumpError {
    pub(crate) fn corrupt(reason: impl Into<String>) -> Self {
        Self::CorruptMessage { reason: reason.into() }
    }

    pub(super) fn index(reason: impl Into<String>) -> Self {
        Self::CorruptIndex { reason: reason.into() }
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }
}
