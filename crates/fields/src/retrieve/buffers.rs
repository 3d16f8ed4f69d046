//! Reused buffers: a field's bytes go back to the retrieval that read them when they are dropped.
//!
//! A new buffer for each field costs more than reading it: the system hands out zeroed pages one fault at a time, and
//! takes them back.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, Mutex},
};

use crate::sync::lock;

/// How many buffers a retrieval keeps, and their bytes.
const KEPT: usize = 64;
const BYTES_KEPT: usize = 64 << 20;

/// Buffers for the next fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

impl Buffers {
    /// A buffer of `length` bytes with undefined content.
    pub(crate) fn take(&self, length: usize) -> Vec<u8> {
        let mut buffer = lock(&self.0).pop().unwrap_or_default();
        buffer.resize(length, 0);
        buffer
    }

    fn discard(&self, buffer: Vec<u8>) {
        let mut kept = lock(&self.0);
        let bytes: usize = kept.iter().map(Vec::capacity).sum();
        if kept.len() < KEPT && bytes + buffer.capacity() <= BYTES_KEPT {
            kept.push(buffer);
        }
    }

    /// Wraps these bytes so that their buffer comes back when they are dropped.
    pub(crate) fn lend(&self, bytes: Vec<u8>) -> FieldBytes {
        FieldBytes { bytes, home: self.clone() }
    }
}

/// The bytes of a retrieved field. When they are dropped, a later field of the same retrieval is read into their buffer.
pub struct FieldBytes {
    bytes: Vec<u8>,
    home: Buffers,
}

impl FieldBytes {
    /// The bytes as a buffer of the caller's own.
    pub fn into_vec(mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for FieldBytes {
    fn drop(&mut self) {
        if self.bytes.capacity() > 0 {
            self.home.discard(std::mem::take(&mut self.bytes));
        }
    }
}

impl Deref for FieldBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for FieldBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Clone for FieldBytes {
    fn clone(&self) -> Self {
        self.home.lend(self.bytes.clone())
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for FieldBytes {
    fn eq(&self, other: &T) -> bool {
        self.bytes == other.as_ref()
    }
}

impl Eq for FieldBytes {}

impl fmt::Debug for FieldBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldBytes({} bytes)", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_buffer_is_the_next_one_and_a_kept_one_is_not() {
        let buffers = Buffers::default();
        let first = buffers.lend(buffers.take(1000));
        let place = first.as_ptr();
        drop(first);
        let second = buffers.lend(buffers.take(500));
        assert_eq!((second.as_ptr(), second.len()), (place, 500));
        let kept = second.into_vec();
        let third = buffers.take(500);
        assert_ne!(third.as_ptr(), kept.as_ptr());
    }
}
