//! Reading small arrays that lie side by side in a data file with one call: fields that were archived together are retrieved together.

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

impl PosixContainer {
    /// Reads ranges of cells, each into its buffer.
    pub(crate) fn read_all(&self, reads: &mut [ArrayRead<'_>], resolved: &[Resolved]) -> Result<()> {
        let mut done = 0;
        while done < reads.len() {
            let extents = neighbours(&reads[done..], &resolved[done..]);
            // What fails is read again alone, which says what is wrong.
            if extents.len() > 1 && self.read_together(&extents, &mut reads[done..]).is_some() {
                done += extents.len();
            } else {
                self.read(&mut reads[done], &resolved[done])?;
                done += 1;
            }
        }
        Ok(())
    }

    /// Reads the first of these ranges, which are these extents. `None` if one of them cannot be read or is damaged.
    fn read_together(&self, extents: &[&Extent], reads: &mut [ArrayRead<'_>]) -> Option<()> {
        let (first, last) = (extents.first()?, extents.last()?);
        let mut bytes = vec![0; (last.position + last.length - first.position) as usize];
        let data = &self.storage.data;
        data.file(first.file).ok()?.read_exact_at(&mut bytes, first.position).ok()?;
        for (extent, read) in extents.iter().zip(reads) {
            let from = (extent.position - first.position) as usize;
            let of_extent = &bytes[from..from + extent.length as usize];
            data.check_chunks(extent, 0, of_extent).ok()?;
            read.buffer[..of_extent.len()].copy_from_slice(of_extent);
            read.filled = of_extent.len();
        }
        Some(())
    }
}

/// The extents of the first reads, as far as each is a whole small extent shortly behind the one before.
fn neighbours<'r>(reads: &[ArrayRead<'_>], resolved: &'r [Resolved]) -> Vec<&'r Extent> {
    let mut extents: Vec<&Extent> = Vec::new();
    for extent in reads.iter().zip(resolved).map_while(|(read, resolved)| whole(read, resolved)) {
        if let (Some(first), Some(last)) = (extents.first(), extents.last()) {
            let gap = extent.position.checked_sub(last.position + last.length);
            let is_near = extent.file == last.file && gap.is_some_and(|gap| gap <= GAP_MAX);
            if !is_near || extent.position + extent.length - first.position > TOGETHER_MAX {
                break;
            }
        }
        extents.push(extent);
    }
    extents
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
