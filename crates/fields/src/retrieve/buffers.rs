//! Reused buffers: a field's bytes go back to the retrieval that read them when they are dropped.
//!
//! A new buffer for each field costs more than reading it: the system hands out zeroed pages one fault at a time, and
//! takes them back.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex},
};

use crate::sync::lock;

/// How many buffers a retrieval keeps, and their bytes.
const KEPT: usize = 64;
const BYTES_KEPT: usize = 64 << 20;

/// Where buffers begin: at multiples of a cache line, as extents of the posix engine do. A copy between two places that differ modulo 64 by
/// less than half a line takes up to twice as long on many processors (`isotach bench alignment`), and `malloc` puts large blocks 16 bytes
/// behind a page.
const ALIGNMENT: usize = 64;

/// Memory for a field's bytes.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// Longer than the field, and never shortened: bytes that will be overwritten are not cleared.
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Buffer {
    fn new(length: usize) -> Self {
        let memory = vec![0; length.saturating_add(ALIGNMENT)];
        let start = memory.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        Self { memory, start, length }
    }

    /// A buffer of another length with undefined content, in the same memory if there is enough.
    fn with_length(self, length: usize) -> Self {
        match self.memory.len() >= self.start.saturating_add(length) {
            true => Self { length, ..self },
            false => Self::new(length),
        }
    }

    /// The bytes in memory of their own.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        let Self { mut memory, start, length } = self;
        memory.truncate(start + length);
        memory.drain(..start);
        memory
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(memory: Vec<u8>) -> Self {
        Self { start: 0, length: memory.len(), memory }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

/// Buffers for the next fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffers(Arc<Mutex<Vec<Buffer>>>);

impl Buffers {
    /// A buffer of `length` bytes with undefined content.
    pub(crate) fn take(&self, length: usize) -> Buffer {
        lock(&self.0).pop().unwrap_or_default().with_length(length)
    }

    fn discard(&self, buffer: Buffer) {
        let mut kept = lock(&self.0);
        let bytes: usize = kept.iter().map(|buffer| buffer.memory.len()).sum();
        if kept.len() < KEPT && bytes + buffer.memory.len() <= BYTES_KEPT {
            kept.push(buffer);
        }
    }

    /// Wraps these bytes so that their buffer comes back when they are dropped.
    pub(crate) fn lend(&self, buffer: Buffer) -> FieldBytes {
        FieldBytes { buffer, home: Some(self.clone()) }
    }
}

/// The bytes of a field. They begin at a cache line. When those of a retrieval are dropped, a later field of the same retrieval is read
/// into their memory.
pub struct FieldBytes {
    buffer: Buffer,
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

impl From<Buffer> for FieldBytes {
    fn from(buffer: Buffer) -> Self {
        Self { buffer, home: None }
    }
}

impl Drop for FieldBytes {
    fn drop(&mut self) {
        if let Some(home) = self.home.as_ref().filter(|_| !self.buffer.memory.is_empty()) {
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
        let mut buffer = Buffer::new(self.len());
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
            assert_eq!((bytes.as_ptr().addr() % ALIGNMENT, bytes.len()), (0, length));
        }
    }
}
