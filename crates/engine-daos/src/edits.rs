//! Editing bytes: the result of a sequence of writes, punches and sizes.
//!
//! A transaction of DAOS does not read its own writes, so this module computes the effect of later edits on earlier ones.

use std::collections::BTreeMap;

/// One edit of the bytes of an array or of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edit {
    Write { offset: u64, data: Vec<u8> },
    SetSize(u64),
    Punch { offset: u64, length: u64 },
}

/// The result of edits, in the order of execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect<'e> {
    /// The offset where stored bytes are cut off, if that is before their end.
    pub(crate) cut: Option<u64>,
    /// Offsets and lengths of the punched ranges before the cut.
    pub(crate) holes: Vec<(u64, u64)>,
    /// The written bytes.
    pub(crate) writes: Vec<(u64, &'e [u8])>,
    /// The final size.
    pub(crate) size: u64,
    /// Whether the last byte is neither written nor stored.
    pub(crate) ends_in_hole: bool,
}

/// The result of edits of stored bytes. `None` if nothing was stored and nothing is created.
pub(crate) fn effect(stored: Option<u64>, edits: &[Edit]) -> Option<Effect<'_>> {
    let mut state = State {
        exists: stored.is_some(),
        size: stored.unwrap_or(0),
        kept: stored.unwrap_or(0),
        ..State::default()
    };
    edits.iter().for_each(|edit| state.apply(edit));
    state.exists.then(|| state.effect(stored.unwrap_or(0)))
}

#[derive(Default)]
struct State<'e> {
    exists: bool,
    size: u64,
    /// How much of what was stored is left, but for holes.
    kept: u64,
    /// Begin and end.
    holes: Vec<(u64, u64)>,
    /// No two overlap.
    writes: BTreeMap<u64, &'e [u8]>,
}

impl<'e> State<'e> {
    fn apply(&mut self, edit: &'e Edit) {
        match edit {
            Edit::Write { offset, data } => {
                self.exists = true;
                if data.is_empty() {
                    return;
                }
                let end = offset + data.len() as u64;
                self.carve(*offset, end);
                self.writes.insert(*offset, data);
                self.size = self.size.max(end);
            }
            Edit::SetSize(size) => {
                self.exists = true;
                self.carve(*size, u64::MAX);
                self.kept = self.kept.min(*size);
                self.size = *size;
            }
            Edit::Punch { offset, length } => {
                let end = offset.saturating_add(*length).min(self.size);
                if *offset < end {
                    self.carve(*offset, end);
                    self.holes.push((*offset, end));
                }
            }
        }
    }

    /// Removes a range from the written bytes.
    fn carve(&mut self, begin: u64, end: u64) {
        let before = self.writes.range(..begin).next_back().map(|(offset, data)| (*offset, *data));
        if let Some((offset, data)) = before {
            let (head, tail) = data.split_at(((begin - offset) as usize).min(data.len()));
            self.writes.insert(offset, head);
            if end < offset + data.len() as u64 {
                self.writes.insert(end, &tail[(end - begin) as usize..]);
                return;
            }
        }
        let inside: Vec<u64> = self.writes.range(begin..end).map(|(offset, _)| *offset).collect();
        for offset in inside {
            let Some(data) = self.writes.remove(&offset) else { continue };
            if end < offset + data.len() as u64 {
                self.writes.insert(end, &data[(end - offset) as usize..]);
            }
        }
    }

    fn effect(self, stored: u64) -> Effect<'e> {
        let kept = self.kept;
        let holes = merged(self.holes.iter().map(|(begin, end)| (*begin, (*end).min(kept))));
        let last = self.size.checked_sub(1);
        let is_written = |at: u64| {
            self.writes.range(..=at).next_back().is_some_and(|(offset, data)| at < offset + data.len() as u64)
        };
        let is_kept = |at: u64| at < kept && !holes.iter().any(|(begin, end)| (*begin..*end).contains(&at));
        Effect {
            cut: (kept < stored).then_some(kept),
            ends_in_hole: last.is_some_and(|last| !is_written(last) && !is_kept(last)),
            size: self.size,
            writes: self.writes.into_iter().collect(),
            holes: holes.into_iter().map(|(begin, end)| (begin, end - begin)).collect(),
        }
    }
}

/// Ranges in ascending order that do not touch: DAOS refuses overlapping ones.
fn merged(ranges: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut sorted: Vec<(u64, u64)> = ranges.filter(|(begin, end)| begin < end).collect();
    sorted.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(sorted.len());
    for (begin, end) in sorted {
        match merged.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((begin, end)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(offset: u64, data: &[u8]) -> Edit {
        Edit::Write { offset, data: data.to_vec() }
    }

    #[test]
    fn nothing_comes_of_a_hole_in_nothing_and_a_write_of_no_bytes_makes_something() {
        assert_eq!(effect(None, &[Edit::Punch { offset: 0, length: 9 }]), None);
        let edits = [write(7, b"")];
        let made = effect(None, &edits).unwrap();
        assert_eq!((made.size, made.writes.len(), made.ends_in_hole), (0, 0, false));
    }

    #[test]
    fn what_is_cut_off_and_made_longer_again_is_a_hole() {
        let edits = [Edit::SetSize(3), Edit::SetSize(10)];
        let effect = effect(Some(8), &edits).unwrap();
        assert_eq!((effect.cut, effect.size, effect.ends_in_hole), (Some(3), 10, true));
    }

    fn edit() -> impl Strategy<Value = Edit> {
        prop_oneof![
            (0..40_u64, proptest::collection::vec(1..=255_u8, 0..20))
                .prop_map(|(offset, data)| Edit::Write { offset, data }),
            (0..50_u64).prop_map(Edit::SetSize),
            (0..50_u64, 0..30_u64).prop_map(|(offset, length)| Edit::Punch { offset, length }),
        ]
    }

    /// Applies the edits one by one.
    fn one_by_one(stored: Option<&[u8]>, edits: &[Edit]) -> Option<Vec<u8>> {
        let mut bytes = stored.map(<[u8]>::to_vec);
        for edit in edits {
            match edit {
                Edit::Write { offset, data } => {
                    let bytes = bytes.get_or_insert_default();
                    let end = *offset as usize + data.len();
                    if !data.is_empty() {
                        bytes.resize(bytes.len().max(end), 0);
                        bytes[*offset as usize..end].copy_from_slice(data);
                    }
                }
                Edit::SetSize(size) => bytes.get_or_insert_default().resize(*size as usize, 0),
                Edit::Punch { offset, length } => {
                    for byte in bytes.iter_mut().flatten().skip(*offset as usize).take(*length as usize) {
                        *byte = 0;
                    }
                }
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn the_effect_of_edits_is_that_of_one_after_the_other(
            stored in proptest::option::of(proptest::collection::vec(1..=255_u8, 0..40)),
            edits in proptest::collection::vec(edit(), 0..8),
        ) {
            let expected = one_by_one(stored.as_deref(), &edits);
            let effect = effect(stored.as_ref().map(|bytes| bytes.len() as u64), &edits);
            let done = effect.map(|effect| {
                let mut bytes = stored.unwrap_or_default();
                if let Some(cut) = effect.cut {
                    bytes.truncate(cut as usize);
                }
                prop_assert!(effect.holes.windows(2).all(|two| two[0].0 + two[0].1 < two[1].0), "{:?}", effect.holes);
                for (offset, length) in effect.holes {
                    bytes[offset as usize..(offset + length) as usize].fill(0);
                }
                for (offset, data) in effect.writes {
                    let end = offset as usize + data.len();
                    bytes.resize(bytes.len().max(end), 0);
                    bytes[offset as usize..end].copy_from_slice(data);
                }
                let is_short = (bytes.len() as u64) < effect.size;
                prop_assert!(!is_short || effect.ends_in_hole);
                bytes.resize(effect.size as usize, 0);
                Ok(bytes)
            });
            prop_assert_eq!(done.transpose()?, expected);
        }
    }
}
