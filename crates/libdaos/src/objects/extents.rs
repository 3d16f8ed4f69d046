//! The extents of records under two keys, in pages, from either end.
//!
//! An engine merges adjacent extents, so one may be as large as an array. Programs allocate a buffer for a whole extent, often on the stack, so
//! an extent is reported in pieces of at most [`BYTES_MAX`].

use std::{iter, ops};

use isotach_object::{Anchor, Container, extents_of};

use crate::{
    objects::{
        Object,
        array_keys::ArrayKeys,
        general,
        records::{Range, Records},
    },
    runtime::error::{Result, invalid},
    transactions::scope::Scope,
};

/// The most bytes of a piece. A larger record is one piece.
const BYTES_MAX: u64 = 1 << 20;
/// Bytes that are searched first. Each further search covers [`GROWTH`] times as many, so the cost of a page grows with what it reports.
const FIRST_SEARCH: u64 = 16 << 20;
const GROWTH: u64 = 8;

/// A page of extents.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extents {
    /// Bytes of a record; 0 where the page is empty.
    pub(crate) size: u64,
    pub(crate) ranges: Vec<Range>,
    /// Where the listing continues; `None` at its end.
    pub(crate) next: Option<Anchor>,
}

/// See `daos_obj_list_recx`: at most `limit` extents.
pub(crate) fn list(
    object: &Object,
    scope: &Scope,
    (dkey, akey): (&[u8], &[u8]),
    anchor: &Anchor,
    limit: usize,
    is_ascending: bool,
) -> Result<Extents> {
    let from = position(anchor)?;
    // The offsets of records depend on their size.
    scope.consistent_read(|scope| {
        let page = |records: &Records<'_>| {
            scope.read(&[records.cell], |state| page(records, state, from, limit, is_ascending))
        };
        let found = match object.is_array() {
            true => ArrayKeys::of(object, scope).with_cells(dkey, akey, page)?,
            false => general::with_records(object, scope, dkey, akey, page)?,
        };
        Ok(found.unwrap_or_default())
    })
}

/// The offset at which a listing continues; `None` at its beginning.
fn position(anchor: &Anchor) -> Result<Option<u64>> {
    match anchor.as_bytes() {
        [] => Ok(None),
        mark => match mark.try_into().map(u64::from_le_bytes) {
            Ok(offset) => Ok(Some(offset)),
            Err(_) => invalid("an anchor that is not of a listing of extents"),
        },
    }
}

fn page(
    records: &Records<'_>,
    state: &dyn Container,
    from: Option<u64>,
    limit: usize,
    is_ascending: bool,
) -> isotach_object::Result<Extents> {
    let size = state.size_many(&[records.cell])?.pop().flatten().unwrap_or(0);
    let all = records.all();
    let (start, end) = (all.start, all.end.min(size).max(all.start));
    let rest = match (from.map(|from| from.clamp(start, end)), is_ascending) {
        (None, _) => start..end,
        (Some(from), true) => from..end,
        (Some(from), false) => start..from,
    };
    let most = (BYTES_MAX / records.size).max(1).saturating_mul(records.size);
    let mut length = FIRST_SEARCH;
    loop {
        let searched = match is_ascending {
            true => rest.start..rest.start.saturating_add(length).min(rest.end),
            false => rest.end.saturating_sub(length).max(rest.start)..rest.end,
        };
        let mut extents = extents_of(state, records.cell, searched.start, searched.end - searched.start)?;
        if !is_ascending {
            extents.reverse();
        }
        let pieces = extents.into_iter().flat_map(|extent| pieces(extent, most, is_ascending));
        let mut found: Vec<_> = pieces.take(limit + 1).collect();
        // Only the last piece may continue outside of the searched range.
        if found.len() <= limit && searched != rest {
            length = length.saturating_mul(GROWTH);
            continue;
        }
        let behind = found.get(limit).map(|piece| if is_ascending { piece.start } else { piece.end });
        found.truncate(limit);
        return Ok(Extents {
            size: if found.is_empty() { 0 } else { records.size },
            ranges: found.iter().map(|piece| records.records_of(piece)).collect(),
            next: behind.map(|offset| Anchor::from_bytes(offset.to_le_bytes().to_vec())),
        });
    }
}

/// An extent in pieces of at most `most` bytes, from its start or from its end.
fn pieces(mut rest: ops::Range<u64>, most: u64, is_ascending: bool) -> impl Iterator<Item = ops::Range<u64>> {
    iter::from_fn(move || {
        let length = most.min(rest.end - rest.start);
        if length == 0 {
            return None;
        }
        let (start, end) = (rest.start, rest.end);
        if is_ascending {
            rest.start += length;
            return Some(start..rest.start);
        }
        rest.end -= length;
        Some(rest.end..end)
    })
}

#[cfg(test)]
mod tests {
    use isotach_object::{Cell, ObjectType, Update};

    use super::*;
    use crate::testing::{container, now, object_of};

    /// All extents, read in pages of `limit`, and the bytes of a record.
    fn listed(object: &Object, limit: usize, is_ascending: bool) -> (u64, Vec<Range>) {
        let (mut size, mut ranges, mut anchor) = (0, Vec::new(), Some(Anchor::start()));
        while let Some(from) = anchor {
            let page =
                list(object, &now(&object.container), (b"d", b"a"), &from, limit, is_ascending).unwrap();
            assert!(page.ranges.len() <= limit && (page.next.is_none() || page.ranges.len() == limit));
            (size, anchor) = (size.max(page.size), page.next);
            ranges.extend(page.ranges);
        }
        (size, ranges)
    }

    #[test]
    fn extents_far_apart_are_listed_from_both_ends_in_pages_of_any_size() {
        let (container, ..) = container();
        let object = object_of(&container, ObjectType::General);
        let cell = Cell::general(object.id, b"d", b"a");
        let expected = [0, 7, 5_000, FIRST_SEARCH - 1, 3 * FIRST_SEARCH, 1 << 40, 1 << 61].map(|at| (at, 2));
        let updates = expected.map(|(offset, _)| Update::Write { cell, offset, data: b"ab" });
        container.update(&updates).unwrap();
        for limit in 1..=expected.len() + 1 {
            assert_eq!(listed(&object, limit, true), (1, expected.to_vec()), "{limit}");
            let reversed = expected.iter().rev().copied().collect();
            assert_eq!(listed(&object, limit, false), (1, reversed), "{limit}");
        }
    }

    #[test]
    fn a_large_extent_is_listed_in_pieces_that_cover_it() {
        let (container, ..) = container();
        let object = object_of(&container, ObjectType::General);
        let data = vec![7; 2 * BYTES_MAX as usize + 5];
        let cell = Cell::general(object.id, b"d", b"a");
        container.update(&[Update::Write { cell, offset: 3, data: &data }]).unwrap();
        let up = vec![(3, BYTES_MAX), (3 + BYTES_MAX, BYTES_MAX), (3 + 2 * BYTES_MAX, 5)];
        let down = vec![(8 + BYTES_MAX, BYTES_MAX), (8, BYTES_MAX), (3, 5)];
        for limit in 1..5 {
            assert_eq!(listed(&object, limit, true), (1, up.clone()), "{limit}");
            assert_eq!(listed(&object, limit, false), (1, down.clone()), "{limit}");
        }
    }
}
