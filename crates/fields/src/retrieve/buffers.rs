//! Reused buffers: a field's bytes go back to the retrieval that read them when they are dropped.
//!
//! A new buffer for each field costs more than reading it: the system hands out zeroed pages one fault at a time, and
//! takes them back.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, Mutex},
};

use isotach_engine_kit::aligned::AlignedBuffer;

use crate::sync::lock;

/// How many buffers a retrieval keeps, and their bytes.
const KEPT: usize = 64;
const BYTES_KEPT: usize = 64 << 20;

/// Buffers for the next fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffers(Arc<Mutex<Vec<AlignedBuffer>>>);

impl Buffers {
    /// A buffer of `length` bytes with undefined content.
    pub(crate) fn take(&self, length: usize) -> AlignedBuffer {
        lock(&self.0).pop().unwrap_or_default().with_length(length)
    }

    fn discard(&self, buffer: AlignedBuffer) {
        let mut kept = lock(&self.0);
        let bytes: usize = kept.iter().map(|buffer| buffer.capacity()).sum();
        if kept.len() < KEPT && bytes + buffer.capacity() <= BYTES_KEPT {
            kept.push(buffer);
        }
    }

    /// Wraps these bytes so that their buffer comes back when they are dropped.
    pub(crate) fn lend(&self, buffer: AlignedBuffer) -> FieldBytes {
        FieldBytes { buffer, home: Some(self.clone()) }
    }
}

/// The bytes of a field. They begin at a cache line, unless an engine or an edited message brought them. When those of a retrieval are dropped, a later field of the same retrieval is read
/// into their memory.
pub struct FieldBytes {
    buffer: AlignedBuffer,
    home: Option<Buffers>,
}

impl FieldBytes {
    /// The bytes as a buffer of the caller's own, in which they begin at its first byte. That moves them.
    pub fn into_vec(mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer).into_vec()
    }
}

impl From<FieldBytes> for Vec<u8> {
    fn from(bytes: FieldBytes) -> Self {
        bytes.into_vec()
    }
}

impl From<AlignedBuffer> for FieldBytes {
    fn from(buffer: AlignedBuffer) -> Self {
        Self { buffer, home: None }
    }
}

impl Drop for FieldBytes {
    fn drop(&mut self) {
        if let Some(home) = self.home.as_ref().filter(|_| self.buffer.capacity() > 0) {
            home.discard(std::mem::take(&mut self.buffer));
        }
    }
}

impl Deref for FieldBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer
    }
}

impl AsRef<[u8]> for FieldBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Clone for FieldBytes {
    fn clone(&self) -> Self {
        let mut buffer = AlignedBuffer::new(self.len());
        buffer.copy_from_slice(self);
        Self { buffer, home: self.home.clone() }
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for FieldBytes {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl Eq for FieldBytes {}

impl fmt::Debug for FieldBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldBytes({} bytes)", self.len())
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
        let kept = second.clone();
        let third = buffers.take(500);
        assert_ne!(third.as_ptr(), kept.as_ptr());
        assert_eq!(second.into_vec(), kept.to_vec());
    }

    #[test]
    fn buffers_of_every_length_begin_at_a_cache_line() {
        let buffers = Buffers::default();
        for length in [1, 4096, 1_000_003, 17, 1 << 20] {
            let bytes = buffers.lend(buffers.take(length));
            assert_eq!((bytes.as_ptr().addr() % 64, bytes.len()), (0, length));
        }
    }
}
