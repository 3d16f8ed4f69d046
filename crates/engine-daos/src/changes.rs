//! Waiting changes: the outcome for each cell, with objects in the order of their first change.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use isotach_object::{Cell, ObjectId, Update};

use crate::edits::Edit;

/// The memory of a change besides its bytes.
const CHANGE: usize = 100;

/// The change of a cell.
#[derive(Debug)]
pub(crate) enum CellChange {
    Value(Vec<u8>),
    Removed,
    Bytes {
        /// Whether the stored content is removed first.
        is_new: bool,
        edits: Vec<Edit>,
    },
}

/// A distribution key and an attribute key, as in [`Cell`].
pub(crate) type Keys = (Vec<u8>, Vec<u8>);

/// The changes of an object: first the whole object or distribution keys are removed, and then cells change.
#[derive(Debug, Default)]
pub(crate) struct ObjectChanges {
    pub(crate) is_destroyed: bool,
    pub(crate) dkeys: BTreeSet<Vec<u8>>,
    pub(crate) cells: IndexMap<Keys, CellChange>,
}

/// Changes of several objects.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) objects: IndexMap<ObjectId, ObjectChanges>,
    /// Their approximate size in bytes.
    pub(crate) bytes: usize,
    /// The number of their updates.
    pub(crate) updates: usize,
}

impl Changes {
    /// The result of these updates, one after the other.
    pub(crate) fn of(updates: &[Update<'_>]) -> Self {
        let mut changes = Self::default();
        updates.iter().for_each(|update| changes.add(update));
        changes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Adds an update behind the others.
    pub(crate) fn add(&mut self, update: &Update<'_>) {
        let object = self.objects.entry(update.object()).or_default();
        self.bytes += CHANGE;
        self.updates += 1;
        match *update {
            Update::Put { cell, value } => {
                self.bytes += value.len();
                object.cells.insert(keys(&cell), CellChange::Value(value.to_vec()));
            }
            Update::Remove { cell } => drop(object.cells.insert(keys(&cell), CellChange::Removed)),
            Update::Write { cell, offset, data } => {
                self.bytes += data.len();
                object.edit(&cell, Edit::Write { offset, data: data.to_vec() });
            }
            Update::SetSize { cell, size } => object.edit(&cell, Edit::SetSize(size)),
            Update::Punch { cell, offset, length } => object.punch(&cell, Edit::Punch { offset, length }),
            Update::RemoveDkey { dkey, .. } => {
                object.cells.retain(|(there, _), _| there != dkey);
                object.dkeys.insert(dkey.to_vec());
            }
            Update::Destroy { .. } => {
                *object = ObjectChanges { is_destroyed: true, ..ObjectChanges::default() }
            }
        }
    }
}

impl ObjectChanges {
    fn is_gone(&self, dkey: &[u8]) -> bool {
        self.is_destroyed || self.dkeys.contains(dkey)
    }

    /// A write or a size, which removes an existing value.
    fn edit(&mut self, cell: &Cell<'_>, edit: Edit) {
        let is_new = self.is_gone(cell.dkey);
        match self.cells.entry(keys(cell)).or_insert_with(|| CellChange::Bytes { is_new, edits: Vec::new() })
        {
            CellChange::Bytes { edits, .. } => append(edits, edit),
            other => *other = CellChange::Bytes { is_new: true, edits: vec![edit] },
        }
    }

    /// A hole, which creates nothing and does not change a value.
    fn punch(&mut self, cell: &Cell<'_>, edit: Edit) {
        if !matches!(self.cells.get(&keys(cell)), Some(CellChange::Value(_) | CellChange::Removed)) {
            self.edit(cell, edit);
        }
    }
}

/// Adds an edit. A write that continues at the end of the last one is merged with it.
fn append(edits: &mut Vec<Edit>, edit: Edit) {
    match (edits.last_mut(), edit) {
        (Some(Edit::Write { offset, data }), Edit::Write { offset: next, data: more })
            if !data.is_empty() && *offset + data.len() as u64 == next =>
        {
            data.extend_from_slice(&more);
        }
        (_, edit) => edits.push(edit),
    }
}

fn keys(cell: &Cell<'_>) -> Keys {
    (cell.dkey.to_vec(), cell.akey.to_vec())
}
