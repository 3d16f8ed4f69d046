//! The table: the newest layer of the state, in memory, made by replaying the tail of the log.

use std::{
    collections::BTreeMap,
    ops::Bound::{Included, Unbounded},
};

use isotach_object::{Cell, ObjectType};

use crate::{
    entry::{ByteOp, Bytes, Entry, Part, Versioned},
    path,
    record::{Change, Stored},
};

/// Entries by path.
#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: BTreeMap<Box<[u8]>, Versioned>,
    /// Whether nothing lies under this table, so that everything in it is complete.
    bottom: bool,
    has_cuts: bool,
    scratch: Vec<u8>,
}

impl Table {
    /// An empty table; `bottom` when no run lies under it.
    pub(crate) fn new(bottom: bool) -> Self {
        Self { bottom, ..Self::default() }
    }

    pub(crate) fn has_cuts(&self) -> bool {
        self.has_cuts
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<&Versioned> {
        self.entries.get(path)
    }

    /// Entries from `start` on, in order.
    pub(crate) fn range<'s>(
        &'s self,
        start: &[u8],
    ) -> impl Iterator<Item = (&'s [u8], &'s Versioned)> + use<'s> {
        let range = self.entries.range::<[u8], _>((Included(start), Unbounded));
        range.map(|(path, entry)| (&**path, entry))
    }

    /// Applies one update of a frame at `epoch`.
    pub(crate) fn apply(&mut self, cell: &Cell<'_>, change: Change<'_>, epoch: u64) {
        let mut path = std::mem::take(&mut self.scratch);
        path::of_cell(cell, &mut path);
        match change {
            Change::Put(Stored::Inline(value)) => self.set(&path, epoch, Entry::Value(value.into())),
            Change::Put(Stored::Extent(extent, digest)) => {
                self.set(&path, epoch, Entry::ValueExtent(extent, digest));
            }
            Change::Remove => self.set(&path, epoch, Entry::Removed),
            Change::Write { offset, extent } => {
                let part = Part { offset, length: extent.length, skip: 0, extent };
                self.operate(&path, epoch, ByteOp::Write(part));
            }
            Change::SetSize(size) => self.operate(&path, epoch, ByteOp::SetSize(size)),
            Change::Punch { offset, length } => self.operate(&path, epoch, ByteOp::Punch { offset, length }),
            Change::RemoveDkey => {
                path::of_dkey(cell.object, cell.dkey, &mut path);
                self.cut(&path, epoch);
            }
            Change::Destroy if cell.object.otype() == ObjectType::Array => {
                self.set(&path, epoch, Entry::Removed);
            }
            Change::Destroy => self.cut(&path::of_object(cell.object), epoch),
        }
        self.scratch = path;
    }

    fn set(&mut self, path: &[u8], epoch: u64, entry: Entry) {
        let new = Versioned { epoch, entry };
        match self.entries.get_mut(path) {
            Some(old) => *old = new,
            None => drop(self.entries.insert(path.into(), new)),
        }
    }

    /// Removes everything under a prefix, here and in older layers.
    fn cut(&mut self, prefix: &[u8], epoch: u64) {
        let under = self.range(prefix).map(|(path, _)| path).take_while(|path| path.starts_with(prefix));
        let under: Vec<Box<[u8]>> = under.map(Box::from).collect();
        for path in under {
            self.entries.remove(&path);
        }
        self.entries.insert(prefix.into(), Versioned { epoch, entry: Entry::Cut });
        self.has_cuts = true;
    }

    fn operate(&mut self, path: &[u8], epoch: u64, op: ByteOp) {
        let known_empty = self.bottom || self.is_cut(path);
        let Some(old) = self.entries.get_mut(path) else {
            let bytes = Bytes::new(known_empty, vec![op]);
            self.entries.insert(path.into(), Versioned { epoch, entry: Entry::Bytes(bytes) });
            return;
        };
        // Every update that names a cell counts as a change of it, even one that does nothing: processes
        // that know more or less of what lies under must come to the same last change.
        old.epoch = epoch;
        match &mut old.entry {
            Entry::Bytes(bytes) => bytes.push(op),
            other if op.creates() => *other = Entry::Bytes(Bytes::new(true, vec![op])),
            _ => {}
        }
    }

    /// Whether a cut in this table lies on a prefix of `path`.
    fn is_cut(&self, path: &[u8]) -> bool {
        self.has_cuts
            && path::prefixes(path).any(|prefix| self.get(prefix).is_some_and(|v| v.entry == Entry::Cut))
    }
}
