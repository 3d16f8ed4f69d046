//! The order of a table's paths, made when somebody asks for it.
//!
//! A handle that looks fields up never needs it. What came since the last time is sorted by itself, and sorted
//! stretches of like size are joined, so that asking after every change costs each path a logarithm.

use std::{cmp::Ordering, sync::Arc};

/// Slots in the order of their paths.
pub(crate) type Level = Arc<Vec<u32>>;

/// Sorted stretches, each slot in one of them; the longest first.
#[derive(Debug, Default)]
pub(super) struct Order {
    levels: Vec<Level>,
    /// How many slots are in them.
    ordered: u32,
}

impl Order {
    /// The stretches, once all of `slots` are in them. Slots that are not `alive` any more may be left out.
    pub(super) fn of(
        &mut self,
        slots: u32,
        compare: impl Fn(u32, u32) -> Ordering,
        alive: impl Fn(u32) -> bool,
    ) -> &[Level] {
        if self.ordered < slots {
            let mut new: Vec<u32> = (self.ordered..slots).filter(|slot| alive(*slot)).collect();
            new.sort_unstable_by(|a, b| compare(*a, *b));
            self.ordered = slots;
            while let Some(last) = self.levels.pop_if(|last| last.len() < 2 * new.len()) {
                let mut joined: Vec<u32> = last.iter().copied().filter(|slot| alive(*slot)).collect();
                joined.append(&mut new);
                // A stable sort finds the two sorted halves and joins them.
                joined.sort_by(|a, b| compare(*a, *b));
                new = joined;
            }
            self.levels.extend((!new.is_empty()).then(|| Arc::new(new)));
        }
        &self.levels
    }
}
