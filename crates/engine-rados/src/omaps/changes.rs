//! Changes of entries, with all their keys and values in one buffer: one for each of them would cost more than all else that a
//! client does for an entry.

use std::ops::Range;

use isotach_object::Cell;

use crate::{entry, keys};

/// Changes of an object's entries. Of several of one key the last counts.
#[derive(Debug, Default)]
pub(crate) struct EntryChanges {
    bytes: Vec<u8>,
    all: Vec<ChangeSpan>,
}

/// Where a change is in the buffer: first its key, and then what is to be stored.
#[derive(Debug, Clone, Copy)]
struct ChangeSpan {
    begin: usize,
    key_end: usize,
    end: usize,
    removes: bool,
}

/// A stored key, and what is to be stored under it, or nothing.
pub(crate) type ArrayChange<'c> = (&'c [u8], Option<&'c [u8]>);

impl EntryChanges {
    /// An empty one with the capacity of another.
    pub(crate) fn as_large_as(other: &Self) -> Self {
        Self { bytes: Vec::with_capacity(other.bytes.len()), all: Vec::with_capacity(other.all.len()) }
    }

    /// Adds the value of a cell. Returns the number of bytes added.
    pub(crate) fn put(&mut self, cell: &Cell<'_>, value: &[u8]) -> usize {
        let begin = self.bytes.len();
        keys::push_entry_key(cell, &mut self.bytes);
        let key_end = self.bytes.len();
        let head = entry::value_head(cell.object, &self.bytes[begin..], value);
        self.bytes.extend_from_slice(&head);
        self.bytes.extend_from_slice(value);
        self.add(begin, key_end, false)
    }

    /// Adds the removal of a cell. Returns the number of bytes added.
    pub(crate) fn remove(&mut self, cell: &Cell<'_>) -> usize {
        let begin = self.bytes.len();
        keys::push_entry_key(cell, &mut self.bytes);
        self.add(begin, self.bytes.len(), true)
    }

    /// Adds a change.
    pub(crate) fn push(&mut self, (key, stored): ArrayChange<'_>) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(stored.unwrap_or_default());
        self.add(begin, key_end, stored.is_none());
    }

    fn add(&mut self, begin: usize, key_end: usize, removes: bool) -> usize {
        let end = self.bytes.len();
        self.all.push(ChangeSpan { begin, key_end, end, removes });
        end - begin
    }

    /// Forgets the changes of keys from `begin` on and before `end`.
    pub(crate) fn forget(&mut self, begin: &[u8], end: &[u8]) {
        let bytes = &self.bytes;
        self.all.retain(|place| {
            let key = &bytes[place.begin..place.key_end];
            key < begin || key >= end
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Bytes of keys and values.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// In the order of their keys, and of each key only the last.
    pub(crate) fn sorted(mut self) -> Self {
        let bytes = &self.bytes;
        let key = |place: &ChangeSpan| &bytes[place.begin..place.key_end];
        // The latest change of a key comes first and stays. No key is empty, so each begins elsewhere.
        self.all.sort_unstable_by(|one, other| key(one).cmp(key(other)).then(other.begin.cmp(&one.begin)));
        self.all.dedup_by(|next, kept| key(next) == key(kept));
        self
    }

    /// The change with this number.
    pub(crate) fn at(&self, number: usize) -> ArrayChange<'_> {
        let place = self.all[number];
        let stored = (!place.removes).then(|| &self.bytes[place.key_end..place.end]);
        (&self.bytes[place.begin..place.key_end], stored)
    }

    /// The changes with these numbers.
    pub(crate) fn range(&self, numbers: Range<usize>) -> impl Iterator<Item = ArrayChange<'_>> {
        numbers.map(|number| self.at(number))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn sorted_changes_are_those_of_a_map(given in vec((vec(0..3_u8, 1..3), prop::option::of(vec(any::<u8>(), 0..4))), 0..20)) {
            let (mut changes, mut map) = (EntryChanges::default(), BTreeMap::new());
            for (key, stored) in &given {
                changes.push((key, stored.as_deref()));
                map.insert(key.as_slice(), stored.as_deref());
            }
            changes.forget(&[1], &[2]);
            map.retain(|key, _| key[0] != 1);
            let sorted = changes.sorted();
            prop_assert_eq!(sorted.range(0..sorted.len()).collect::<Vec<_>>(), map.into_iter().collect::<Vec<_>>());
        }
    }
}
