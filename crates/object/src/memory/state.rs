//! The content of a container, and what updates do to it.
//!
//! An object exists while it holds a cell. `changed` holds the epoch of the last change of each cell, even of a removed one,
//! so that a precondition distinguishes "never written" from "put and removed".

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use super::extents::Extents;
use crate::{
    Cell, Epoch, Error, IdRange, Label, ObjectId, OwnedUpdate, Precondition, Result, SharedBytes, Snapshot,
    Update,
};

/// A distribution key and an attribute key, as in [`Cell`].
pub(super) type Keys = (Vec<u8>, Vec<u8>);

/// What a cell holds.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Value(Vec<u8>),
    Bytes(Extents),
}

impl Content {
    fn no_bytes() -> Self {
        Self::Bytes(Extents::default())
    }

    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Value(value) => value.len() as u64,
            Self::Bytes(extents) => extents.size(),
        }
    }

    fn stored_bytes(&self) -> u64 {
        match self {
            Self::Value(value) => value.len() as u64,
            Self::Bytes(extents) => extents.stored_bytes(),
        }
    }
}

/// The content of a container.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// Grows with every update and every commit.
    epoch: u64,
    next_id: u64,
    pub(super) objects: BTreeMap<ObjectId, BTreeMap<Keys, Content>>,
    /// The last change of each cell. Empty keys stand for all there is under the object or the dkey.
    changed: BTreeMap<(ObjectId, Keys), u64>,
    /// What was staged and waits under a name.
    pub(super) prepared: BTreeMap<Label, Arc<Vec<OwnedUpdate>>>,
    snapshots: BTreeMap<Label, Epoch>,
    /// The states that snapshots name.
    kept: BTreeMap<Epoch, Arc<State>>,
}

impl State {
    pub(super) fn epoch(&self) -> Epoch {
        Epoch(self.epoch)
    }

    pub(super) fn stored_bytes(&self) -> u64 {
        let cells = self.objects.values().flatten();
        cells.map(|((dkey, akey), content)| (dkey.len() + akey.len()) as u64 + content.stored_bytes()).sum()
    }

    pub(super) fn allocate_ids(&mut self, count: u64) -> Result<IdRange> {
        let too_many = || Error::NoSpace { what: format!("allocate {count} object ids") };
        let start = self.next_id;
        self.next_id = start.checked_add(count).ok_or_else(too_many)?;
        Ok(IdRange { start, end: self.next_id })
    }

    /// Names the present. The change is an epoch of its own, so no two snapshots have the same.
    pub(super) fn create_snapshot(&mut self, name: &Label) -> Option<Epoch> {
        if self.snapshots.contains_key(name) {
            return None;
        }
        self.epoch += 1;
        self.snapshots.insert(name.clone(), self.epoch());
        self.kept.insert(self.epoch(), Arc::new(self.clone()));
        Some(self.epoch())
    }

    pub(super) fn prepare(&mut self, name: &Label, updates: Vec<OwnedUpdate>) -> Epoch {
        self.epoch += 1;
        self.prepared.insert(name.clone(), Arc::new(updates));
        self.epoch()
    }

    /// Takes what is prepared and does nothing with it.
    pub(super) fn abort_prepared(&mut self, name: &Label) -> Option<Epoch> {
        self.prepared.remove(name)?;
        self.epoch += 1;
        Some(self.epoch())
    }

    /// Applies what is prepared under these names, all of them taken, and then further updates.
    pub(super) fn apply_prepared(
        &mut self,
        prepared: &[Arc<Vec<OwnedUpdate>>],
        updates: &[Update<'_>],
    ) -> Epoch {
        let staged = prepared.iter().flat_map(|updates| updates.iter().map(OwnedUpdate::update));
        let all: Vec<_> = staged.chain(updates.iter().copied()).collect();
        // Taking them is a change, also where they hold nothing.
        self.epoch += u64::from(all.is_empty());
        self.apply(&all)
    }

    pub(super) fn destroy_snapshot(&mut self, name: &Label) -> Option<Epoch> {
        let epoch = self.snapshots.remove(name)?;
        self.epoch += 1;
        self.kept.remove(&epoch);
        Some(epoch)
    }

    pub(super) fn snapshot(&self, name: &Label) -> Option<Epoch> {
        self.snapshots.get(name).copied()
    }

    /// All snapshots, oldest first.
    pub(super) fn snapshots(&self) -> Vec<Snapshot> {
        let snapshots = self.snapshots.iter().map(|(name, epoch)| (name.clone(), *epoch));
        let mut snapshots: Vec<_> = snapshots.map(|(name, epoch)| Snapshot { name, epoch }).collect();
        snapshots.sort_by_key(|snapshot| snapshot.epoch);
        snapshots
    }

    /// A copy of the state at an epoch, if that is the present one or a snapshot's.
    pub(super) fn at(&self, epoch: Epoch) -> Option<Self> {
        match self.kept.get(&epoch) {
            Some(kept) => Some((**kept).clone()),
            None => (epoch == self.epoch()).then(|| self.clone()),
        }
    }

    pub(super) fn cell(&self, cell: &Cell<'_>) -> Option<&Content> {
        self.objects.get(&cell.object)?.get(&keys(cell))
    }

    pub(super) fn value(&self, cell: &Cell<'_>) -> Option<&Vec<u8>> {
        match self.cell(cell)? {
            Content::Value(value) => Some(value),
            Content::Bytes(_) => None,
        }
    }

    fn bytes(&self, cell: &Cell<'_>) -> Option<&Extents> {
        match self.cell(cell)? {
            Content::Bytes(extents) => Some(extents),
            Content::Value(_) => None,
        }
    }

    pub(super) fn read(&self, cell: &Cell<'_>, offset: u64, buffer: &mut [u8]) -> usize {
        self.bytes(cell).map_or(0, |extents| extents.read(offset, buffer))
    }

    pub(super) fn lend(&self, cell: &Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes> {
        self.bytes(cell).map_or_else(|| Ok(SharedBytes::default()), |extents| extents.lend(offset, length))
    }

    pub(super) fn list_extents(&self, cell: &Cell<'_>, range: &Range<u64>) -> Vec<Range<u64>> {
        self.bytes(cell).map_or_else(Vec::new, |extents| extents.list(range))
    }

    /// Fails with the conflict of the first precondition that does not hold.
    pub(super) fn judge(&self, preconditions: &[Precondition<'_>]) -> Result<()> {
        let failed = preconditions.iter().find(|precondition| !self.holds(precondition));
        failed.map_or(Ok(()), |failed| Err(failed.conflict()))
    }

    fn holds(&self, precondition: &Precondition<'_>) -> bool {
        match precondition {
            Precondition::Absent(cell) => self.cell(cell).is_none(),
            Precondition::Present(cell) => self.cell(cell).is_some(),
            Precondition::Equals(cell, expected) => self.value(cell).is_some_and(|value| value == expected),
            Precondition::Unchanged(cell, epoch) => self.last_change(cell) <= epoch.0,
        }
    }

    fn last_change(&self, cell: &Cell<'_>) -> u64 {
        let (dkey, akey) = keys(cell);
        let scopes = [Keys::default(), (dkey.clone(), Vec::new()), (dkey, akey)];
        let changes = scopes.into_iter().filter_map(|keys| self.changed.get(&(cell.object, keys)));
        changes.copied().max().unwrap_or(0)
    }

    /// Applies updates at one new epoch; no updates make none.
    pub(super) fn apply(&mut self, updates: &[Update<'_>]) -> Epoch {
        self.epoch += u64::from(!updates.is_empty());
        for update in updates {
            self.apply_one(update);
            self.changed.insert((update.object(), keys(&update.scope())), self.epoch);
        }
        self.epoch()
    }

    fn apply_one(&mut self, update: &Update<'_>) {
        match update {
            Update::Put { cell, value } => self.set(cell, Content::Value(value.to_vec())),
            Update::Write { cell, offset, data } => self.bytes_to_change(cell).write(*offset, data),
            Update::SetSize { cell, size } => self.bytes_to_change(cell).set_size(*size),
            // Not through `bytes_to_change`: a hole creates nothing and drops no value.
            Update::Punch { cell, offset, length } => {
                if let Some(Content::Bytes(extents)) = self.cell_mut(cell) {
                    extents.punch(*offset, *length);
                }
            }
            Update::Remove { cell } => self.shrink(cell.object, |cells| drop(cells.remove(&keys(cell)))),
            Update::RemoveDkey { object, dkey } => {
                self.shrink(*object, |cells| cells.retain(|(there, _), _| there != dkey));
            }
            Update::Destroy { object } => drop(self.objects.remove(object)),
        }
    }

    fn set(&mut self, cell: &Cell<'_>, content: Content) {
        self.objects.entry(cell.object).or_default().insert(keys(cell), content);
    }

    fn cell_mut(&mut self, cell: &Cell<'_>) -> Option<&mut Content> {
        self.objects.get_mut(&cell.object)?.get_mut(&keys(cell))
    }

    /// The bytes of a cell. A cell without bytes gets none, and a value is dropped.
    fn bytes_to_change(&mut self, cell: &Cell<'_>) -> &mut Extents {
        let cells = self.objects.entry(cell.object).or_default();
        let content = cells.entry(keys(cell)).or_insert_with(Content::no_bytes);
        if matches!(content, Content::Value(_)) {
            *content = Content::no_bytes();
        }
        match content {
            Content::Bytes(extents) => extents,
            Content::Value(_) => unreachable!("a value was replaced above"),
        }
    }

    /// Removes cells from an object. An object without cells is removed.
    fn shrink(&mut self, object: ObjectId, take: impl FnOnce(&mut BTreeMap<Keys, Content>)) {
        if let Some(cells) = self.objects.get_mut(&object) {
            take(cells);
            if cells.is_empty() {
                self.objects.remove(&object);
            }
        }
    }
}

fn keys(cell: &Cell<'_>) -> Keys {
    (cell.dkey.to_vec(), cell.akey.to_vec())
}
