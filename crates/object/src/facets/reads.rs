//! Reads that lend their bytes, and reads that are not waited for.

use std::fmt::Debug;

use crate::{Cell, Result, SharedBytes};

/// Reads without a copy.
///
/// **Required**: the method.
///
/// **What an engine may assume**: nothing of the cell, which it checks ([`Cell::check_extent`]). A caller may hold lent bytes for
/// as long as it likes, and after the handle is dropped, so a purge or a removal does not take them.
///
/// **Durability**: lending changes nothing. The bytes are checked against their checksum before they are lent.
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
///
/// **Required**: every method, and [`PendingRead::wait`].
///
/// **What an engine may assume**: nothing of the cell, which it checks before the read begins. A caller may have more reads under
/// way than [`PendingReads::depth`]; the engine then waits before it begins another. Reads may be waited for in any order, on any
/// thread, or dropped.
///
/// **Durability**: reading changes nothing.
pub trait PendingReads: Debug + Send + Sync {
    /// How many reads a caller should have under way at once; at least 1.
    fn depth(&self) -> usize;

    /// Begins to fill `buffer` with bytes of an array and returns before they arrive. The answer is that of
    /// [`Container::read_many`](crate::Container::read_many) at some moment between this call and the end of
    /// [`PendingRead::wait`], which also reports later failures.
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
