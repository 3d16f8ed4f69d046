//! Buffers that begin at a cache line.

use std::ops::{Deref, DerefMut};

/// Where buffers begin: at multiples of a cache line, as extents of the posix engine do. On many processors a copy takes up to twice as long
/// if its destination is 1 to 31 bytes further behind the begin of a page than its source (`isotach bench alignment`), and `malloc` puts
/// large blocks 16 bytes behind one. Two multiples of 64 never differ by so little.
const ALIGNMENT: usize = 64;

/// Memory whose bytes begin at a cache line.
///
/// ```
/// # use isotach_engine_kit::aligned::AlignedBuffer;
/// let buffer = AlignedBuffer::new(1_000_003);
/// assert_eq!((buffer.as_ptr().addr() % 64, buffer.len()), (0, 1_000_003));
/// ```
#[derive(Debug, Default)]
pub struct AlignedBuffer {
    /// Longer than the buffer, and never shortened: bytes that will be overwritten are not cleared.
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    /// A buffer of zeros.
    pub fn new(length: usize) -> Self {
        let memory = vec![0; length.saturating_add(ALIGNMENT)];
        let start = memory.as_ptr().addr().wrapping_neg() % ALIGNMENT;
        Self { memory, start, length }
    }

    /// A buffer of another length with undefined content, in the same memory if there is enough.
    pub fn with_length(self, length: usize) -> Self {
        match self.memory.len() >= self.start.saturating_add(length) {
            true => Self { length, ..self },
            false => Self::new(length),
        }
    }

    /// How long it can become without other memory.
    pub fn capacity(&self) -> usize {
        self.memory.len() - self.start
    }

    /// The bytes as a vector, at whose beginning they are moved.
    pub fn into_vec(self) -> Vec<u8> {
        let Self { mut memory, start, length } = self;
        memory.truncate(start + length);
        memory.drain(..start);
        memory
    }
}

impl From<Vec<u8>> for AlignedBuffer {
    fn from(memory: Vec<u8>) -> Self {
        Self { start: 0, length: memory.len(), memory }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }
}

impl AsRef<[u8]> for AlignedBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}
