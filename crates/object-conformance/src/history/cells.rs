//! What the keys of a history stand for in a container, and the bytes of the values.
//!
//! Keys come in generations, so that no key's history grows long while all processes fight for a few keys at a time. A
//! generation has some single keys, each an entry, and some groups, whose entries and arrays only change together.

use super::{
    super::{
        bytes::{number, numbered},
        trial::{array_id, kv_id},
    },
    operation::{GARBLED, Key, Value},
};
use isotach_object::{Cell, ObjectId};

/// The number of keys of a generation.
const ROOM: u64 = 20;
/// Single keys of a generation.
pub(super) const SINGLES: u64 = 4;
/// Groups of a generation.
pub(super) const GROUPS: u64 = 2;
/// Keys of a group: its entries, then its arrays.
const MEMBERS: u64 = 5;
const ENTRIES: u64 = 3;

/// Lengths of values. The last digit of a value's number says which it has.
const LENGTHS: [usize; 4] = [16, 600, 5_000, 150_000];
/// The longest value there is.
pub(super) const LONGEST: usize = LENGTHS[3] + 8 + 60;

/// A key with a value of its own.
pub(super) fn single(generation: u64, which: u64) -> Key {
    generation * ROOM + which
}

/// All single keys of the generation of one.
pub(super) fn singles_beside(key: Key) -> Vec<Key> {
    (0..SINGLES).map(|which| single(key / ROOM, which)).collect()
}

/// Keys that always change together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group(Key);

impl Group {
    pub(super) fn new(generation: u64, which: u64) -> Self {
        Self(generation * ROOM + SINGLES + which * MEMBERS)
    }

    pub(super) fn keys(self) -> std::ops::Range<Key> {
        self.0..self.0 + MEMBERS
    }

    pub(super) fn entries(self) -> std::ops::Range<Key> {
        self.0..self.0 + ENTRIES
    }

    pub(super) fn arrays(self) -> std::ops::Range<Key> {
        self.0 + ENTRIES..self.0 + MEMBERS
    }

    /// The object with all entries of the group but the first.
    pub(super) fn listed(self) -> ObjectId {
        object(self.0 + 1)
    }

    /// The key of an entry in the listed object.
    pub(super) fn key_of(self, entry: &[u8]) -> Option<Key> {
        self.entries().skip(1).find(|key| name(*key) == entry)
    }
}

/// The object that holds the entry of a key. All single keys are in one, so are the first entries of all groups.
fn object(key: Key) -> ObjectId {
    match (key % ROOM).checked_sub(SINGLES) {
        None => kv_id(1),
        Some(within) if within % MEMBERS == 0 => kv_id(2),
        Some(within) => kv_id(100 + key - within % MEMBERS),
    }
}

/// The array of a key.
pub(super) fn array(key: Key) -> ObjectId {
    array_id(key)
}

fn name(key: Key) -> [u8; 8] {
    key.to_le_bytes()
}

/// The entry of a key. `name` holds its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    object: ObjectId,
    name: [u8; 8],
}

impl Entry {
    pub(super) fn of(key: Key) -> Self {
        Self { object: object(key), name: name(key) }
    }

    pub(super) fn cell(&self) -> Cell<'_> {
        Cell::kv(self.object, &self.name)
    }
}

/// The number of the `count`th value of a process, of a length that `choice` decides.
pub(super) fn number_for(process: u64, count: u64, choice: u64) -> u64 {
    let length = match choice % 20 {
        0 => 3,
        1..=3 => 2,
        4..=7 => 1,
        _ => 0,
    };
    process * 10_000_000 + count * 10 + length
}

/// The bytes of a value; short ones of what is none.
pub(super) fn bytes(value: u64) -> Vec<u8> {
    numbered(value, LENGTHS.get((value % 10) as usize).copied().unwrap_or(0))
}

/// Which value these bytes are.
pub(super) fn value_of(found: &[u8]) -> Value {
    let value = if found.len() < 8 { return GARBLED } else { number(found) };
    let is_whole = ((value % 10) as usize) < LENGTHS.len() && bytes(value) == found;
    if is_whole { Some(value) } else { GARBLED }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_tell_their_value_and_a_part_or_a_mix_is_none() {
        for choice in [0, 1, 4, 9] {
            let (one, other) = (number_for(3, 7, choice), number_for(4, 7, choice));
            let (mut first, second) = (bytes(one), bytes(other));
            assert_eq!((value_of(&first), value_of(&second)), (Some(one), Some(other)));
            assert_eq!(value_of(&first[..first.len() - 1]), GARBLED);
            let last = first.len().min(second.len()) - 1;
            first[last] = second[last] ^ 1;
            assert_eq!(value_of(&first), GARBLED);
        }
        let longest = (0..1000).map(|count| bytes(number_for(1, count, 0)).len()).max();
        assert_eq!(longest, Some(LONGEST));
        assert_eq!((value_of(b""), value_of(b"12345678")), (GARBLED, GARBLED));
    }

    #[test]
    fn no_two_keys_stand_for_the_same() {
        let keys = (0..5).flat_map(|generation| {
            let groups = (0..GROUPS).flat_map(move |which| Group::new(generation, which).entries());
            (0..SINGLES).map(move |which| single(generation, which)).chain(groups)
        });
        let cells: Vec<(ObjectId, [u8; 8])> =
            keys.map(|key| (Entry::of(key).object, Entry::of(key).name)).collect();
        let distinct: std::collections::BTreeSet<_> = cells.iter().collect();
        assert_eq!(distinct.len(), cells.len());
        let group = Group::new(7, 1);
        assert_eq!(group.key_of(&name(group.0 + 2)), Some(group.0 + 2));
        assert_eq!(group.key_of(&name(group.0)), None);
        assert_eq!(group.keys().count(), group.entries().count() + group.arrays().count());
    }
}
