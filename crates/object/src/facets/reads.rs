//! Reads that lend their bytes, and reads that are not waited for.

use std::fmt::Debug;

use crate::{Cell, Result, SharedBytes};

/// Reads without a copy.
pub trait LentReads: Debug + Send + Sync {
    /// Lends bytes of an array. The engine may gather a range that has holes or was written in pieces. Short past the end.
    /// Lent bytes never change, whatever is written later.
    ///
    /// # Errors
    /// `NoSpace` when gathering needs more memory than there is; otherwise as
    /// [`Container::read_many`](crate::Container::read_many).
    fn lend(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes>;
}

/// Reads that are under way while the caller does something else.
pub trait PendingReads: Debug + Send + Sync {
    /// How many reads a caller should have under way at once; at least 1.
    fn depth(&self) -> usize;

    /// Begins to read bytes of an array into the front of `buffer`, as many as it is long, and returns while they are on
    /// their way. The answer is that of [`Container::read_many`](crate::Container::read_many) at some moment between this call
    /// and the end of [`PendingRead::wait`], which also tells of later failures.
    ///
    /// # Errors
    /// `InvalidInput`.
    fn begin_read(&self, cell: Cell<'_>, offset: u64, buffer: Vec<u8>) -> Result<Box<dyn PendingRead>>;
}

/// A read that is under way; see [`PendingReads::begin_read`].
pub trait PendingRead: Debug + Send + Sync {
    /// Waits for the bytes: the buffer, cut off where the array ends.
    ///
    /// # Errors
    /// As [`Container::read_many`](crate::Container::read_many).
    fn wait(self: Box<Self>) -> Result<Vec<u8>>;
}
