//! Reading several arrays: small ones that lie side by side in a data file with one call, since fields that were archived together are
//! retrieved together, and those that lie apart at once, so that the device works on all of them before the first is waited for.

use isotach_object::{ArrayRead, Result};

use crate::{
    format::extent::{CHUNK, Extent},
    handle::PosixContainer,
    index::ops::Resolved,
};

/// The most bytes that are read in one call.
const TOGETHER_MAX: u64 = 512 << 10;
/// The most bytes between two arrays that are read and not used.
const GAP_MAX: u64 = 4 << 10;
/// The most calls that the device works on at once.
const CALLS_MAX: usize = 32;
/// The most bytes in the buffers of these calls.
const BYTES_MAX: u64 = 2 << 20;

/// Ranges that are read with one call.
#[derive(Default)]
struct Call<'r> {
    /// The extents that the ranges are; none for a single range that is no whole small extent.
    extents: Vec<&'r Extent>,
    /// The bytes of several extents. Those of a single one are read into its buffer.
    bytes: Vec<u8>,
    filled: usize,
}

impl PosixContainer {
    /// Reads ranges of cells, each into its buffer.
    pub(crate) fn read_all(&self, reads: &mut [ArrayRead<'_>], resolved: &[Resolved]) -> Result<()> {
        let mut done = 0;
        while done < reads.len() {
            let (reads, resolved) = (&mut reads[done..], &resolved[done..]);
            let mut calls = calls(reads, resolved);
            // A single call gains nothing from a first, non-blocking read.
            if calls.len() > 1 {
                let mut at = 0;
                for call in &mut calls {
                    self.begin(call, &mut reads[at..]);
                    at += call.ranges();
                }
            }
            let mut at = 0;
            for mut call in calls {
                let ranges = at..at + call.ranges();
                if self.finish(&mut call, &mut reads[at..]).is_none() {
                    // What fails is read again alone, which says what is wrong.
                    let mut alone = reads[ranges.clone()].iter_mut().zip(&resolved[ranges.clone()]);
                    alone.try_for_each(|(read, resolved)| self.read(read, resolved))?;
                }
                at = ranges.end;
            }
            done += at;
        }
        Ok(())
    }

    /// Reads what is in memory, and lets the device start on the rest.
    fn begin(&self, call: &mut Call<'_>, reads: &mut [ArrayRead<'_>]) {
        let Some(first) = call.extents.first().copied() else { return };
        let Ok(file) = self.storage.data.file(first.file) else { return };
        let filled = file.read_cached(call.buffer(reads), first.position);
        call.filled = filled.unwrap_or(0);
    }

    /// Reads the rest. `None` if an extent cannot be read or is damaged.
    fn finish(&self, call: &mut Call<'_>, reads: &mut [ArrayRead<'_>]) -> Option<()> {
        let first = call.extents.first().copied()?;
        let (data, filled) = (&self.storage.data, call.filled);
        let rest = &mut call.buffer(reads)[filled..];
        data.file(first.file).ok()?.read_exact_at(rest, first.position + filled as u64).ok()?;
        for (extent, read) in call.extents.iter().zip(reads) {
            read.filled = extent.length as usize;
            let buffer = &mut read.buffer[..read.filled];
            if call.extents.len() > 1 {
                let from = (extent.position - first.position) as usize;
                buffer.copy_from_slice(&call.bytes[from..from + buffer.len()]);
            }
            data.check_chunks(extent, 0, buffer).ok()?;
        }
        Some(())
    }
}

impl Call<'_> {
    /// How many ranges it reads.
    fn ranges(&self) -> usize {
        self.extents.len().max(1)
    }

    /// Where its bytes are read to.
    fn buffer<'b>(&'b mut self, reads: &'b mut [ArrayRead<'_>]) -> &'b mut [u8] {
        let Some(first) = self.extents.first() else { return &mut [] };
        if self.extents.len() == 1 {
            return &mut reads[0].buffer[..first.length as usize];
        }
        self.bytes.resize(self.own_bytes() as usize, 0);
        &mut self.bytes
    }

    /// The size of its own buffer: that of a single extent is the reader's.
    fn own_bytes(&self) -> u64 {
        match &self.extents[..] {
            [first, .., last] => last.position + last.length - first.position,
            _ => 0,
        }
    }

    /// Whether an extent lies shortly behind the others, in reach of the same call.
    fn reaches(&self, extent: &Extent) -> bool {
        let (Some(first), Some(last)) = (self.extents.first(), self.extents.last()) else { return false };
        let gap = extent.position.checked_sub(last.position + last.length);
        extent.file == last.file
            && gap.is_some_and(|gap| gap <= GAP_MAX)
            && extent.position + extent.length - first.position <= TOGETHER_MAX
    }
}

/// The calls that read the first of these ranges, or all of them.
fn calls<'r>(reads: &[ArrayRead<'_>], resolved: &'r [Resolved]) -> Vec<Call<'r>> {
    let mut calls: Vec<Call<'r>> = Vec::new();
    for (read, resolved) in reads.iter().zip(resolved) {
        let extent = whole(read, resolved);
        if let (Some(extent), Some(call)) = (extent, calls.last_mut())
            && call.reaches(extent)
        {
            call.extents.push(extent);
            continue;
        }
        let bytes: u64 = calls.iter().map(Call::own_bytes).sum();
        if calls.len() == CALLS_MAX || bytes > BYTES_MAX - TOGETHER_MAX {
            break;
        }
        calls.push(Call { extents: extent.into_iter().collect(), ..Call::default() });
    }
    calls
}

/// The extent that a range is, if it is one of a single chunk.
fn whole<'r>(read: &ArrayRead<'_>, resolved: &'r Resolved) -> Option<&'r Extent> {
    let [part] = &resolved.parts[..] else { return None };
    let is_whole = part.skip == 0
        && part.length == part.extent.length
        && part.offset == read.offset
        && resolved.size == part.end()
        && read.buffer.len() as u64 >= part.length;
    (is_whole && part.length <= CHUNK).then_some(&part.extent)
}

#[cfg(test)]
mod tests {
    use isotach_object::{Cell, ObjectClass, ObjectId, ObjectType};

    use super::*;
    use crate::format::extent::{ExtentPart, Sums};

    /// Whole arrays of 60 000 bytes, with a gap before each.
    fn resolved(count: u64, gap: u64) -> Vec<Resolved> {
        let length = 60_000;
        let extent =
            |number| Extent { file: 1, position: number * (length + gap), length, sums: Sums::One(0) };
        let part = |number| ExtentPart { offset: 0, length, skip: 0, extent: extent(number) };
        (0..count).map(|number| Resolved { size: length, parts: vec![part(number)] }).collect()
    }

    #[test]
    fn the_calls_of_a_batch_are_few_and_their_buffers_small() {
        let cell = Cell::array(ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 1));
        let mut buffers = vec![vec![0; 60_000]; 400];
        let reads = buffers.iter_mut().map(|buffer| ArrayRead { cell, offset: 0, buffer, filled: 0 });
        let reads: Vec<ArrayRead<'_>> = reads.collect();

        let (near, apart) = (resolved(400, 0), resolved(400, GAP_MAX + 1));
        let joined = calls(&reads, &near);
        let bytes: u64 = joined.iter().map(Call::own_bytes).sum();
        assert!(bytes > BYTES_MAX / 2 && bytes <= BYTES_MAX, "{bytes} bytes of {} calls", joined.len());
        assert!(joined.iter().all(|call| call.own_bytes() <= TOGETHER_MAX));
        let single = calls(&reads, &apart);
        assert!(single.len() == CALLS_MAX && single.iter().all(|call| call.own_bytes() == 0));
    }
}
