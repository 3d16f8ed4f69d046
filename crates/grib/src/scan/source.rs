//! Where a scan's bytes come from: a slice, a stream, or a file that can be sought in.
//!
//! Invariant: no source reads or allocates more than one step beyond the bytes that exist, whatever length it is asked
//! for.

use std::io::{self, Read, Seek, SeekFrom};

/// How much is read when only a header or the next mark is wanted.
const WINDOW: usize = 64 << 10;
/// How much a buffer may grow before the bytes that were asked for have begun to arrive.
const STEP: usize = 4 << 20;

/// Bytes by absolute offset. Offsets asked for never go back behind the one last given to [`Source::forget_before`].
pub(super) trait Source {
    /// The bytes from `offset` on: at least `want` of them unless the input ends, perhaps more.
    fn look(&mut self, offset: u64, want: usize) -> io::Result<&[u8]>;

    /// The last four bytes of the `length` bytes at `offset`, or how many bytes there are if the input ends before.
    fn tail(&mut self, offset: u64, length: u64) -> io::Result<Result<[u8; 4], u64>>;

    /// Bytes before `offset` will not be asked for again.
    fn forget_before(&mut self, offset: u64);
}

fn last_four(bytes: &[u8]) -> [u8; 4] {
    bytes.last_chunk().copied().unwrap_or_default()
}

fn index(offset: u64, base: u64) -> usize {
    usize::try_from(offset.saturating_sub(base)).unwrap_or(usize::MAX)
}

/// The whole input is in memory.
pub struct SliceSource<'a>(pub(super) &'a [u8]);

impl<'a> SliceSource<'a> {
    /// The bytes from `offset` on, with the slice's own lifetime.
    pub(super) fn rest_from(&self, offset: u64) -> &'a [u8] {
        self.0.get(index(offset, 0)..).unwrap_or_default()
    }
}

impl Source for SliceSource<'_> {
    fn look(&mut self, offset: u64, _want: usize) -> io::Result<&[u8]> {
        Ok(self.rest_from(offset))
    }

    fn tail(&mut self, offset: u64, length: u64) -> io::Result<Result<[u8; 4], u64>> {
        let rest = self.rest_from(offset);
        Ok(rest.get(..index(length, 0)).map(last_four).ok_or(rest.len() as u64))
    }

    fn forget_before(&mut self, _offset: u64) {}
}

/// A stream that can only be read forward. Keeps what lies between the scan's position and the furthest byte read.
pub struct StreamSource<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Bytes at the buffer's front that are no longer needed.
    spent: usize,
    /// Absolute offset of the first byte that is.
    base: u64,
    ended: bool,
    failure: Option<io::Error>,
}

impl<R: Read> StreamSource<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), spent: 0, base: 0, ended: false, failure: None }
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// What is held from `offset` on.
    fn held(&self, offset: u64) -> &[u8] {
        self.buffer.get(self.spent.saturating_add(index(offset, self.base))..).unwrap_or_default()
    }

    /// Reads until `needed` bytes are held or the input ends.
    fn fill(&mut self, needed: usize) -> io::Result<()> {
        if self.buffer.len() - self.spent < needed && !self.ended {
            self.buffer.drain(..self.spent);
            self.spent = 0;
        }
        while self.buffer.len() - self.spent < needed && !self.ended {
            let step = (needed - self.buffer.len()).clamp(WINDOW, STEP);
            self.buffer.try_reserve(step).map_err(io::Error::other)?;
            match self.reader.by_ref().take(step as u64).read_to_end(&mut self.buffer) {
                Ok(got) => self.ended = got < step,
                Err(error) => (self.ended, self.failure) = (true, Some(error)),
            }
        }
        // Bytes that arrived before a failure count: the failure is reported when the missing bytes are requested.
        match self.failure.take_if(|_| self.buffer.len() - self.spent < needed) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Takes the `length` bytes at `offset`, which have been seen, out of the buffer.
    pub(super) fn take(&mut self, offset: u64, length: u64) -> Vec<u8> {
        self.forget_before(offset);
        let end = index(length, 0).min(self.buffer.len() - self.spent) + self.spent;
        self.base += (end - self.spent) as u64;
        if end - self.spent < self.buffer.len() - end {
            let message = self.buffer[self.spent..end].to_vec();
            self.spent = end;
            return message;
        }
        // The message may be gigabytes, what was read beyond it is at most one window: copy that instead.
        let rest = self.buffer.split_off(end);
        let mut message = std::mem::replace(&mut self.buffer, rest);
        message.drain(..self.spent);
        self.spent = 0;
        message
    }
}

impl<R: Read> Source for StreamSource<R> {
    fn look(&mut self, offset: u64, want: usize) -> io::Result<&[u8]> {
        self.fill(index(offset, self.base).saturating_add(want))?;
        Ok(self.held(offset))
    }

    fn tail(&mut self, offset: u64, length: u64) -> io::Result<Result<[u8; 4], u64>> {
        let rest = self.look(offset, index(length, 0))?;
        Ok(rest.get(..index(length, 0)).map(last_four).ok_or(rest.len() as u64))
    }

    fn forget_before(&mut self, offset: u64) {
        let count = index(offset, self.base).min(self.buffer.len() - self.spent);
        self.spent += count;
        self.base += count as u64;
    }
}

/// A file that can be sought in: reads headers and trailers, jumps over what lies between.
pub struct SeekSource<R> {
    reader: R,
    length: u64,
    window: Vec<u8>,
    base: u64,
}

impl<R: Read + Seek> SeekSource<R> {
    pub(super) fn new(mut reader: R) -> io::Result<Self> {
        let length = reader.seek(SeekFrom::End(0))?;
        Ok(Self { reader, length, window: Vec::new(), base: 0 })
    }

    fn holds(&self, offset: u64, want: u64) -> bool {
        let end = self.base.saturating_add(self.window.len() as u64);
        self.base <= offset && offset <= end && offset.saturating_add(want).min(self.length) <= end
    }
}

impl<R: Read + Seek> Source for SeekSource<R> {
    fn look(&mut self, offset: u64, want: usize) -> io::Result<&[u8]> {
        if !self.holds(offset, want as u64) {
            self.reader.seek(SeekFrom::Start(offset))?;
            self.window.clear();
            self.base = offset;
            self.reader.by_ref().take(want.max(WINDOW) as u64).read_to_end(&mut self.window)?;
        }
        Ok(self.window.get(index(offset, self.base)..).unwrap_or_default())
    }

    fn tail(&mut self, offset: u64, length: u64) -> io::Result<Result<[u8; 4], u64>> {
        let available = self.length.saturating_sub(offset);
        if length > available {
            return Ok(Err(available));
        }
        // Any length accepted is at least a header and a trailer, so the subtraction cannot pass the start.
        let found = self.look(offset + length.saturating_sub(4), 4)?;
        // A file that was shortened since it was opened ends early after all.
        Ok(found.first_chunk().copied().ok_or(available.saturating_sub(1)))
    }

    fn forget_before(&mut self, _offset: u64) {}
}
