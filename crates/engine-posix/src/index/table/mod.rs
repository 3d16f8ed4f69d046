//! The table: the newest layer of the state, in memory, made by replaying the tail of the log.
//!
//! Every reader replays every update, so this is the busiest code. An update costs one look-up by hash, and a copy of its bytes to the end
//! of one buffer in the form of a run. Nothing is allocated for it alone, and nothing is sorted until a caller needs the order of paths.

mod order;

use std::{hash::BuildHasher, sync::PoisonError};

use hashbrown::{DefaultHashBuilder, HashTable};
use isotach_object::{Cell, ObjectType, Result};

use crate::{
    format::{
        extent::ExtentPart,
        path,
        record::{CellChange, Stored},
    },
    index::{
        entry::{BytesRef, Entry, LayerEntry, Versioned, tag},
        ops::{ByteOp, Bytes},
        raw::{LazyEntry, Raw},
    },
    sync::Mutex,
};
use order::{Level, Order};

/// The place of an entry in memory, for messages.
const PLACE: &str = "memory";
/// Unneeded bytes are freed when there are this many, and as many as needed ones.
const WASTE_MIN: usize = 1 << 20;

/// Entries by path.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Paths and payloads, one after the other.
    bytes: Vec<u8>,
    /// In the order in which their paths first appeared.
    slots: Vec<Slot>,
    by_path: HashTable<Indexed>,
    hasher: DefaultHashBuilder,
    order: Mutex<Order>,
    /// How many of `bytes` are not needed any more, slots included.
    waste: usize,
    /// Whether no run lies under this table, so that everything in it is complete.
    bottom: bool,
    has_cuts: bool,
    scratch: Vec<u8>,
}

/// A slot by the hash of its path. With the hash the index grows without reading paths.
#[derive(Debug, Clone, Copy)]
struct Indexed {
    hash: u32,
    slot: u32,
}

impl Indexed {
    /// The hash, spread over the bits that the index uses.
    fn spread(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// The contents of the table for one path, which begins at `path` in the table's bytes.
#[derive(Debug, Clone)]
struct Slot {
    path: usize,
    path_length: u32,
    epoch: u64,
    held: Held,
}

#[derive(Debug, Clone)]
enum Held {
    /// The payload of an entry in a run.
    Encoded { tag: u8, at: usize, length: usize },
    /// Bytes with several operations.
    Bytes(Box<Bytes>),
    /// Removed by a cut.
    Gone,
}

impl Table {
    /// An empty table; `bottom` if no run lies under it.
    pub(crate) fn new(bottom: bool) -> Self {
        Self { bottom, ..Self::default() }
    }

    /// A table with the same entries, which takes a fraction of the time of replaying them.
    pub(crate) fn copied(&self) -> Self {
        let order = self.order.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self {
            bytes: self.bytes.clone(),
            slots: self.slots.clone(),
            by_path: self.by_path.clone(),
            hasher: self.hasher.clone(),
            order: Mutex::new(order),
            waste: self.waste,
            bottom: self.bottom,
            has_cuts: self.has_cuts,
            scratch: Vec::new(),
        }
    }

    pub(crate) fn has_cuts(&self) -> bool {
        self.has_cuts
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<LazyEntry<'_>> {
        self.entry(self.slot_of(path)?)
    }

    /// As [`get`](Self::get), with operations on bytes borrowed.
    pub(crate) fn layer_entry(&self, path: &[u8]) -> Result<Option<LayerEntry<'_>>> {
        let Some(slot) = self.slot_of(path) else { return Ok(None) };
        if let Held::Bytes(bytes) = &self.slots[slot as usize].held {
            return Ok(Some(LayerEntry::Bytes(BytesRef::InTable(bytes))));
        }
        let versioned = self.entry(slot).map(LazyEntry::into_versioned).transpose()?;
        Ok(versioned.map(|Versioned { entry, .. }| LayerEntry::of(entry)))
    }

    fn path(&self, slot: u32) -> &[u8] {
        path_of(&self.bytes, &self.slots[slot as usize])
    }

    fn entry(&self, slot: u32) -> Option<LazyEntry<'_>> {
        let slot = &self.slots[slot as usize];
        match &slot.held {
            Held::Encoded { tag, at, length } => {
                let payload = &self.bytes[*at..*at + *length];
                Some(LazyEntry::Encoded(Raw { epoch: slot.epoch, tag: *tag, payload, place: PLACE }))
            }
            Held::Bytes(bytes) => {
                let entry = Entry::Bytes((**bytes).clone());
                Some(LazyEntry::Decoded(Versioned { epoch: slot.epoch, entry }))
            }
            Held::Gone => None,
        }
    }

    fn hash(&self, path: &[u8]) -> u32 {
        self.hasher.hash_one(path) as u32
    }

    fn slot_of(&self, path: &[u8]) -> Option<u32> {
        self.slot_hashed(self.hash(path), path)
    }

    fn slot_hashed(&self, hash: u32, path: &[u8]) -> Option<u32> {
        let is_it = |indexed: &Indexed| indexed.hash == hash && self.path(indexed.slot) == path;
        self.by_path.find(Indexed::spread(hash), is_it).map(|indexed| indexed.slot)
    }

    /// Everything from `start` on, in stretches that are sorted by path. Each path is in one of them.
    pub(crate) fn from<'s>(&'s self, start: &[u8]) -> Vec<TableCursor<'s>> {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let compare = |a, b| self.path(a).cmp(self.path(b));
        let levels = order.of(self.slots.len() as u32, compare, |slot| self.is_held(slot));
        let cursor = |level: &Level| {
            let at = level.partition_point(|slot| self.path(*slot) < start);
            let mut cursor = TableCursor { table: self, level: Level::clone(level), at };
            cursor.settle();
            cursor
        };
        levels.iter().map(cursor).collect()
    }

    fn is_held(&self, slot: u32) -> bool {
        !matches!(self.slots[slot as usize].held, Held::Gone)
    }

    /// Applies one update of a frame at `epoch`.
    pub(crate) fn apply(&mut self, cell: &Cell<'_>, change: CellChange<'_>, epoch: u64) {
        let mut path = std::mem::take(&mut self.scratch);
        path::of_cell(cell, &mut path);
        match change {
            CellChange::Put(Stored::Inline(value)) => {
                self.set(&path, epoch, tag::VALUE, |out| out.extend(value));
            }
            CellChange::Put(Stored::Extent(extent, digest)) => {
                self.set(&path, epoch, tag::VALUE_EXTENT, |out| {
                    extent.encode(out);
                    out.extend_from_slice(&digest);
                });
            }
            CellChange::Remove => self.set(&path, epoch, tag::REMOVED, |_| ()),
            CellChange::Write { offset, extent } => {
                let part = ExtentPart { offset, length: extent.length, skip: 0, extent };
                self.operate(&path, epoch, ByteOp::Write(part));
            }
            CellChange::SetSize(size) => self.operate(&path, epoch, ByteOp::SetSize(size)),
            CellChange::Punch { offset, length } => {
                self.operate(&path, epoch, ByteOp::Punch { offset, length });
            }
            CellChange::RemoveDkey => {
                path::of_dkey(cell.object, cell.dkey, &mut path);
                self.cut(&path, epoch);
            }
            CellChange::Destroy if cell.object.otype() == ObjectType::Array => {
                self.set(&path, epoch, tag::REMOVED, |_| ());
            }
            CellChange::Destroy => self.cut(&path::of_object(cell.object), epoch),
        }
        self.scratch = path;
        if self.waste > WASTE_MIN.max(self.bytes.len() / 2) {
            self.give_back();
        }
    }

    /// Sets the payload of a path to what `encode` appends.
    fn set(&mut self, path: &[u8], epoch: u64, tag: u8, encode: impl FnOnce(&mut Vec<u8>)) {
        let at = self.bytes.len();
        encode(&mut self.bytes);
        self.hold(path, epoch, Held::Encoded { tag, at, length: self.bytes.len() - at });
    }

    fn hold(&mut self, path: &[u8], epoch: u64, held: Held) {
        let hash = self.hash(path);
        if let Some(slot) = self.slot_hashed(hash, path) {
            let slot = &mut self.slots[slot as usize];
            slot.epoch = epoch;
            self.waste += slot.held.waste();
            slot.held = held;
            return;
        }
        let indexed = Indexed { hash, slot: self.slots.len() as u32 };
        self.slots.push(Slot { path: self.bytes.len(), path_length: path.len() as u32, epoch, held });
        self.bytes.extend_from_slice(path);
        let spread = |indexed: &Indexed| Indexed::spread(indexed.hash);
        self.by_path.insert_unique(spread(&indexed), indexed, spread);
    }

    /// Removes everything under a prefix, in this and in older layers.
    fn cut(&mut self, prefix: &[u8], epoch: u64) {
        let mut under = Vec::new();
        for mut cursor in self.from(prefix) {
            while let Some(slot) = cursor.slot().filter(|slot| self.path(*slot).starts_with(prefix)) {
                under.push(slot);
                cursor.advance();
            }
        }
        for number in under {
            let hash = Indexed::spread(self.hash(self.path(number)));
            if let Ok(found) = self.by_path.find_entry(hash, |indexed| indexed.slot == number) {
                found.remove();
            }
            let slot = &mut self.slots[number as usize];
            self.waste += size_of::<Slot>() + slot.path_length as usize + slot.held.waste();
            slot.held = Held::Gone;
        }
        self.set(prefix, epoch, tag::CUT, |_| ());
        self.has_cuts = true;
    }

    fn operate(&mut self, path: &[u8], epoch: u64, op: ByteOp) {
        let Some(number) = self.slot_of(path) else {
            let known_empty = self.bottom || self.is_cut(path);
            return self.set(path, epoch, tag::BYTES, |out| Entry::encode_op(known_empty, &op, out));
        };
        let slot = &mut self.slots[number as usize];
        // Every update that names a cell is a change of it, even if it has no effect: processes with different layers under this one must
        // come to the same last change.
        slot.epoch = epoch;
        match &mut slot.held {
            Held::Bytes(bytes) => bytes.push(op),
            Held::Encoded { tag: tag::BYTES, at, length } => {
                let payload = &self.bytes[*at..*at + *length];
                self.waste += payload.len();
                if let Some(Entry::Bytes(mut bytes)) = Entry::decode(tag::BYTES, payload) {
                    bytes.push(op);
                    slot.held = Held::Bytes(Box::new(bytes));
                }
            }
            _ if op.creates() => {
                slot.held = Held::Bytes(Box::new(Bytes::new(true, vec![op])));
            }
            _ => {}
        }
    }

    /// Whether a cut in this table lies on a prefix of `path`.
    fn is_cut(&self, path: &[u8]) -> bool {
        self.has_cuts
            && path::prefixes(path).any(|prefix| self.get(prefix).is_some_and(|entry| entry.is_cut()))
    }

    /// Copies what is needed, and frees the rest.
    fn give_back(&mut self) {
        let old = std::mem::replace(self, Self::new(self.bottom));
        self.has_cuts = old.has_cuts;
        for slot in old.slots {
            let path = path_of(&old.bytes, &slot);
            match slot.held {
                Held::Encoded { tag, at, length } => {
                    let payload = &old.bytes[at..at + length];
                    self.set(path, slot.epoch, tag, |out| out.extend_from_slice(payload));
                }
                held @ Held::Bytes(_) => self.hold(path, slot.epoch, held),
                Held::Gone => {}
            }
        }
    }
}

fn path_of<'b>(bytes: &'b [u8], slot: &Slot) -> &'b [u8] {
    &bytes[slot.path..slot.path + slot.path_length as usize]
}

impl Held {
    /// Bytes of the table that are unneeded once this is replaced.
    fn waste(&self) -> usize {
        match self {
            Self::Encoded { length, .. } => *length,
            Self::Bytes(_) | Self::Gone => 0,
        }
    }
}

/// A position in one sorted stretch of a table.
#[derive(Debug, Clone)]
pub(crate) struct TableCursor<'s> {
    table: &'s Table,
    level: Level,
    at: usize,
}

impl<'s> TableCursor<'s> {
    fn slot(&self) -> Option<u32> {
        self.level.get(self.at).copied()
    }

    /// Skips removed slots.
    fn settle(&mut self) {
        while self.slot().is_some_and(|slot| !self.table.is_held(slot)) {
            self.at += 1;
        }
    }

    pub(crate) fn path(&self) -> Option<&'s [u8]> {
        self.slot().map(|slot| self.table.path(slot))
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.slot().map_or(0, |slot| self.table.slots[slot as usize].epoch)
    }

    pub(crate) fn entry(&self) -> Option<LazyEntry<'s>> {
        self.slot().and_then(|slot| self.table.entry(slot))
    }

    pub(crate) fn advance(&mut self) {
        self.at += 1;
        self.settle();
    }
}

#[cfg(test)]
mod tests {
    use isotach_object::{ObjectClass, ObjectId};

    use super::*;

    fn kv(key: &[u8]) -> Cell<'_> {
        Cell::kv(ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1), key)
    }

    fn put(table: &mut Table, key: &str, value: &[u8], epoch: u64) {
        table.apply(&kv(key.as_bytes()), CellChange::Put(Stored::Inline(value)), epoch);
    }

    fn value(table: &Table, key: &str) -> Option<Vec<u8>> {
        match table.get(&path::of(&kv(key.as_bytes())))?.into_versioned().unwrap().entry {
            Entry::Value(value) => Some(value.into_vec()),
            _ => None,
        }
    }

    /// The keys in order, as the merged stretches give them.
    fn keys(table: &Table) -> Vec<String> {
        let mut all = Vec::new();
        for mut cursor in table.from(&[]) {
            let before = all.len();
            while let Some(path) = cursor.path() {
                all.push(String::from_utf8(path[path::ID..].to_vec()).unwrap());
                cursor.advance();
            }
            assert!(all[before..].is_sorted(), "each stretch is in order");
        }
        all.sort();
        all
    }

    #[test]
    fn overwriting_a_cell_again_and_again_takes_no_more_memory() {
        let mut table = Table::new(true);
        put(&mut table, "entry", b"entry", 1);
        let array = Cell::array(ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 2));
        for size in [5, 9] {
            table.apply(&array, CellChange::SetSize(size), 1);
        }
        for epoch in 0..10_000 {
            put(&mut table, "often", &[epoch as u8; 1000], epoch);
        }
        assert!(table.bytes.capacity() < 8 * WASTE_MIN, "{} bytes for 1 kB", table.bytes.capacity());
        assert_eq!(value(&table, "entry").as_deref(), Some(&b"entry"[..]));
        assert_eq!(value(&table, "often"), Some(vec![(9_999 % 256) as u8; 1000]));
        let found = table.get(&path::of(&array)).unwrap().into_versioned().unwrap().entry;
        let Entry::Bytes(bytes) = found else { panic!("the array is there") };
        assert_eq!(bytes.resolve().unwrap().size, 9);
    }

    #[test]
    fn paths_are_sorted_after_inserts_in_any_order_and_cuts() {
        let mut table = Table::new(false);
        for number in (0..300).map(|number| number * 7 % 300) {
            put(&mut table, &format!("{number:03}"), b"v", number);
            if number % 50 == 0 {
                assert_eq!(keys(&table).len(), table.slots.len());
            }
        }
        assert_eq!(keys(&table), (0..300).map(|number| format!("{number:03}")).collect::<Vec<_>>());
        let object = Cell { dkey: b"", ..kv(b"") };
        table.apply(&object, CellChange::Destroy, 400);
        for key in ["b", "a"] {
            put(&mut table, key, b"new", 401);
        }
        // The cut itself has the object's path.
        assert_eq!(keys(&table), ["", "a", "b"]);
        assert_eq!((value(&table, "001"), value(&table, "a")), (None, Some(b"new".to_vec())));
    }
}
