//! Extents: where the written bytes of an array, or of records, are.

use std::{fmt::Debug, ops::Range};

use crate::{ArrayRead, Cell, Container, Result};

/// Distinguishes holes from zeros that were written.
///
/// **Required**: the method. Callers use [`extents_of`], which also answers where there is no such facet.
///
/// **What an engine may assume**: nothing of the cell, which it checks ([`Cell::check_extent`]). The range may reach past the end.
///
/// **Durability**: listing changes nothing. The answer includes the handle's own updates.
pub trait Extents: Debug + Send + Sync {
    /// The ranges of an array, or of records, that were written and not punched or cut off since, within `length` bytes from
    /// `offset` on: in ascending order, with adjacent ranges merged. Zeros that were written count as written. An
    /// absent array has none, nor has a single value.
    ///
    /// # Errors
    /// As [`Container::size_many`]; `InvalidInput` also for a cell that cannot have bytes at an offset.
    fn list_extents(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<Vec<Range<u64>>>;
}

/// The extents of an array or of records on any engine: as [`Extents::list_extents`] returns them, or one extent up to the size
/// where the engine does not know holes.
///
/// # Errors
/// As [`Extents::list_extents`].
pub fn extents_of(
    container: &dyn Container,
    cell: Cell<'_>,
    offset: u64,
    length: u64,
) -> Result<Vec<Range<u64>>> {
    if let Some(extents) = container.facets().extents {
        return extents.list_extents(cell, offset, length);
    }
    cell.check_extent()?;
    let mut first = [0];
    let mut reads = [ArrayRead { cell, offset, buffer: &mut first, filled: 0 }];
    container.read_many(&mut reads)?;
    // A single value has a size, and no bytes.
    if reads[0].filled == 0 {
        return Ok(Vec::new());
    }
    let size = container.size_many(&[cell])?.pop().flatten();
    Ok(merge_extents(size.map(|size| 0..size), &(offset..offset.saturating_add(length))))
}

/// Cuts extents to a range, and merges those that touch. The extents are in ascending order and do not overlap.
///
/// ```
/// let extents = [0..4, 4..8, 10..12, 20..30];
/// assert_eq!(isotach_object::merge_extents(extents, &(2..25)), [2..8, 10..12, 20..25]);
/// ```
pub fn merge_extents(extents: impl IntoIterator<Item = Range<u64>>, within: &Range<u64>) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for extent in extents {
        let (start, end) = (extent.start.max(within.start), extent.end.min(within.end));
        match merged.last_mut() {
            _ if start >= end => {}
            Some(last) if last.end == start => last.end = end,
            _ => merged.push(start..end),
        }
    }
    merged
}
