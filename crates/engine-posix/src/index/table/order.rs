//! The order of a table's paths, established when it is needed.
//!
//! A handle that only looks paths up never needs it. New paths are sorted by themselves, and sorted stretches of similar length are joined.
//! So establishing the order after every change costs each path a logarithm.

use std::{cmp::Ordering, sync::Arc};

/// Slots in the order of their paths.
pub(crate) type Level = Arc<Vec<u32>>;

/// Sorted stretches, the longest first. Each slot is in one of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    levels: Vec<Level>,
    /// How many slots are in them.
    ordered: u32,
}

impl Order {
    /// The stretches, after adding the new ones among `slots`. Slots that are not `alive` may be left out.
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
                // A stable sort detects the two sorted halves and joins them.
                joined.sort_by(|a, b| compare(*a, *b));
                new = joined;
            }
            self.levels.extend((!new.is_empty()).then(|| Arc::new(new)));
        }
        &self.levels
    }
}
