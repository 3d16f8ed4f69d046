//! Bytes by offset, kept as the extents that were written.
//!
//! Extents never overlap, are never empty and end within the size. So memory is taken for bytes that were
//! written and for nothing else, however far apart they lie. Extents are immutable: what was lent stays.

use std::{collections::BTreeMap, ops::Range};

use crate::{Error, Result, SharedBytes, merge_extents};

/// An array, or the records of an attribute key.
#[derive(Debug, Clone, Default)]
pub(super) struct Extents {
    size: u64,
    /// By first byte.
    extents: BTreeMap<u64, SharedBytes>,
}

impl Extents {
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn stored_bytes(&self) -> u64 {
        self.extents.values().map(|bytes| bytes.len() as u64).sum()
    }

    /// As in POSIX, a write of no bytes leaves the size alone.
    pub(super) fn write(&mut self, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let end = offset + data.len() as u64;
        self.cut(offset..end);
        self.extents.insert(offset, SharedBytes::from(data.to_vec()));
        self.size = self.size.max(end);
    }

    pub(super) fn set_size(&mut self, size: u64) {
        self.cut(size..u64::MAX);
        self.size = size;
    }

    pub(super) fn punch(&mut self, offset: u64, length: u64) {
        self.cut(offset..offset.saturating_add(length));
    }

    /// Fills the front of `buffer` and says how many bytes were there.
    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let there = self.size.saturating_sub(offset);
        let filled = buffer.len().min(usize::try_from(there).unwrap_or(usize::MAX));
        let buffer = &mut buffer[..filled];
        buffer.fill(0);
        let wanted = offset..offset + filled as u64;
        for (start, bytes) in self.overlapping(&wanted) {
            let (from, to) = (wanted.start.max(start), wanted.end.min(start + bytes.len() as u64));
            let target = &mut buffer[index(from - offset)..index(to - offset)];
            target.copy_from_slice(&bytes[index(from - start)..index(to - start)]);
        }
        filled
    }

    /// Where the bytes of a range are that were written.
    pub(super) fn list(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let extents = self.overlapping(range).map(|(start, bytes)| start..start + bytes.len() as u64);
        merge_extents(extents, range)
    }

    /// Lends a range that lies in one extent; gathers any other.
    pub(super) fn lend(&self, offset: u64, length: u64) -> Result<SharedBytes> {
        let end = offset.saturating_add(length).min(self.size).max(offset);
        if let Some((start, bytes)) = self.extents.range(..=offset).next_back()
            && end <= start + bytes.len() as u64
        {
            return Ok(bytes.part(index(offset - start)..index(end - start)).unwrap_or_default());
        }
        let mut gathered = Vec::new();
        let too_large = |_| Error::NoSpace { what: format!("gather {} bytes of an array", end - offset) };
        gathered.try_reserve_exact(index(end - offset)).map_err(too_large)?;
        gathered.resize(index(end - offset), 0);
        self.read(offset, &mut gathered);
        Ok(SharedBytes::from(gathered))
    }

    /// Makes a hole of `hole`, keeping what sticks out of it on either side.
    fn cut(&mut self, hole: Range<u64>) {
        let touched: Vec<u64> = self.overlapping(&hole).map(|(start, _)| start).collect();
        for start in touched {
            let Some(bytes) = self.extents.remove(&start) else { continue };
            let end = start + bytes.len() as u64;
            if start < hole.start {
                self.keep(start, bytes.part(0..index(hole.start - start)));
            }
            if end > hole.end {
                self.keep(hole.end, bytes.part(index(hole.end - start)..bytes.len()));
            }
        }
    }

    fn keep(&mut self, start: u64, bytes: Option<SharedBytes>) {
        self.extents.extend(bytes.map(|bytes| (start, bytes)));
    }

    fn overlapping(&self, range: &Range<u64>) -> impl Iterator<Item = (u64, &SharedBytes)> {
        let before = self.extents.range(..range.start).next_back();
        let before = before.filter(|(start, bytes)| **start + bytes.len() as u64 > range.start);
        // A range of no bytes may be given, also one that ends before it starts.
        let within = self.extents.range(range.start..range.end.max(range.start));
        before.into_iter().chain(within).map(|(start, bytes)| (*start, bytes))
    }
}

/// A length that lies within memory already, or that `try_reserve` will refuse.
fn index(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(extents: &Extents) -> Vec<u8> {
        let mut buffer = vec![0xee; index(extents.size())];
        assert_eq!(extents.read(0, &mut buffer), buffer.len());
        buffer
    }

    #[test]
    fn an_overwrite_in_the_middle_keeps_both_ends() {
        let mut extents = Extents::default();
        extents.write(0, b"abcdefgh");
        let lent = extents.lend(2, 4).unwrap();
        extents.write(3, b"XY");
        extents.punch(5, 1);
        assert_eq!(all(&extents), b"abcXY\0gh");
        assert_eq!(&*lent, b"cdef", "lent bytes stay as they were");
    }

    #[test]
    fn bytes_cut_off_do_not_come_back_when_growing() {
        let mut extents = Extents::default();
        extents.write(0, b"abcdef");
        extents.set_size(2);
        extents.set_size(4);
        assert_eq!(all(&extents), b"ab\0\0");
    }

    #[test]
    fn a_far_write_takes_no_memory_for_the_hole() {
        let mut extents = Extents::default();
        extents.write(1 << 62, b"x");
        assert_eq!((extents.size(), extents.stored_bytes()), ((1 << 62) + 1, 1));
        assert_eq!(extents.lend(0, 1 << 62).unwrap_err().code(), "no-space");
        assert_eq!(&*extents.lend(1 << 62, 9).unwrap(), b"x");
    }
}
