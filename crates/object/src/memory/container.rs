//! A handle on a container in memory, and its staged transactions. It checks the arguments, then works under the container's lock.

use std::{
    ops::{Bound, Range},
    sync::{Arc, Mutex, MutexGuard},
};

use super::{
    CAPABILITIES, SCHEME, lock,
    state::{Content, Keys, State},
};
use crate::{
    Anchor, ArrayRead, Capabilities, Cell, Container, ContainerFacets, Epoch, Error, Extents, IdRange, Label,
    LentReads, ObjectId, ObjectType, OwnedUpdate, Page, Precondition, PreparableStaging,
    PreparedTransactions, Result, SharedBytes, Snapshot, Snapshots, StagedTransactions, Staging, Transaction,
    Update, check_distinct, check_limit,
};

/// A handle. All handles on the present share one state. A handle on the past has a copy, which never changes.
#[derive(Debug)]
pub(super) struct MemoryContainer {
    label: Label,
    state: Arc<Mutex<State>>,
    is_past: bool,
}

impl MemoryContainer {
    pub(super) fn new(label: Label, state: Arc<Mutex<State>>) -> Self {
        Self { label, state, is_past: false }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The state, to be changed.
    fn state_to_change(&self) -> Result<MutexGuard<'_, State>> {
        match self.is_past {
            false => Ok(self.state()),
            true => {
                let what = format!("write to the past of container {}", self.label);
                Err(Error::PermissionDenied { what, source: None })
            }
        }
    }

    fn not_prepared(&self, name: &Label) -> Error {
        Error::not_found(format!("prepared transaction {name} of container {}", self.label))
    }

    /// Keeps a staged transaction under a name.
    fn prepare(
        &self,
        name: &Label,
        preconditions: &[Precondition<'_>],
        updates: Vec<OwnedUpdate>,
    ) -> Result<Epoch> {
        preconditions.iter().try_for_each(Precondition::check)?;
        let mut state = self.state_to_change()?;
        if state.prepared.contains_key(name) {
            let what = format!("prepared transaction {name} of container {}", self.label);
            return Err(Error::AlreadyExists { what });
        }
        state.judge(preconditions)?;
        Ok(state.prepare(name, updates))
    }

    fn no_snapshot(&self, name: &Label) -> Error {
        Error::not_found(format!("snapshot {name} of container {}", self.label))
    }
}

impl Container for MemoryContainer {
    fn label(&self) -> &Label {
        &self.label
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn facets(&self) -> ContainerFacets<'_> {
        ContainerFacets {
            snapshots: Some(self),
            staged_transactions: Some(self),
            prepared_transactions: Some(self),
            lent_reads: Some(self),
            extents: Some(self),
            ..ContainerFacets::none(SCHEME)
        }
    }

    fn allocate_ids(&self, count: u64) -> Result<IdRange> {
        if count == 0 {
            return Err(Error::invalid("allocation of 0 object ids", "at least 1"));
        }
        self.state_to_change()?.allocate_ids(count)
    }

    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| update.check_for(SCHEME, CAPABILITIES.redundancy))?;
        self.state_to_change()?.apply(updates);
        Ok(())
    }

    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        self.update(&[Update::Write { cell: Cell::array(object), offset: 0, data }])?;
        Ok(None)
    }

    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        transaction.check_for(SCHEME, CAPABILITIES.redundancy)?;
        let mut state = self.state_to_change()?;
        state.judge(&transaction.preconditions)?;
        Ok(state.apply(&transaction.updates))
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn epoch(&self) -> Result<Epoch> {
        Ok(self.state().epoch())
    }

    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        cells.iter().try_for_each(Cell::check_value)?;
        let state = self.state();
        Ok(cells.iter().map(|cell| state.value(cell).cloned()).collect())
    }

    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        cells.iter().try_for_each(Cell::check)?;
        let state = self.state();
        Ok(cells.iter().map(|cell| state.cell(cell).map(Content::size)).collect())
    }

    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        reads.iter().try_for_each(|read| read.cell.check_extent())?;
        let state = self.state();
        for read in reads {
            read.filled = state.read(&read.cell, read.offset, read.buffer);
        }
        Ok(())
    }

    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        object.expect_type(ObjectType::KeyValue)?;
        let state = self.state();
        let entries = cells_from(&state, object, (after(anchor), Vec::new()));
        let entries = entries.map(|((key, _), content)| match content {
            Content::Value(value) if values => (key.as_slice(), value.as_slice()),
            _ => (key.as_slice(), &[][..]),
        });
        Page::of(entries, limit)
    }

    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        object.expect_type(ObjectType::General)?;
        let state = self.state();
        let mut last: &[u8] = &[];
        let dkeys = cells_from(&state, object, (after(anchor), Vec::new()));
        let distinct = dkeys.filter_map(|((dkey, _), _)| {
            let new = dkey != last;
            last = dkey;
            new.then_some((last, &[][..]))
        });
        Page::of(distinct, limit)
    }

    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        Update::RemoveDkey { object, dkey }.check()?;
        let state = self.state();
        let akeys = cells_from(&state, object, (dkey.to_vec(), after(anchor)));
        let akeys = akeys.take_while(|((there, _), _)| there == dkey);
        Page::of(akeys.map(|((_, akey), _)| (akey.as_slice(), &[][..])), limit)
    }

    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        check_limit(limit)?;
        let from = anchor.object()?.map_or(Bound::Unbounded, Bound::Excluded);
        let state = self.state();
        let mut rest = state.objects.range((from, Bound::Unbounded)).map(|(object, _)| *object);
        let listed: Vec<ObjectId> = rest.by_ref().take(limit).collect();
        let next = rest.next().and(listed.last()).map(|last| Anchor::of_object(*last));
        Ok((listed, next))
    }
}

/// The updates of a transaction that is being put together.
#[derive(Debug)]
struct MemoryStaging<'c> {
    container: &'c MemoryContainer,
    updates: Vec<OwnedUpdate>,
}

impl Staging for MemoryStaging<'_> {
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| update.check_for(SCHEME, CAPABILITIES.redundancy))?;
        self.updates.extend(updates.iter().map(OwnedUpdate::of));
        Ok(())
    }

    fn commit(self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        let updates = self.updates.iter().map(OwnedUpdate::update).collect();
        self.container.commit(&Transaction { preconditions: preconditions.to_vec(), updates })
    }
}

impl PreparableStaging for MemoryStaging<'_> {
    fn prepare(self: Box<Self>, name: &Label, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        self.container.prepare(name, preconditions, self.updates)
    }
}

impl StagedTransactions for MemoryContainer {
    fn stage(&self) -> Result<Box<dyn Staging + '_>> {
        Ok(Box::new(MemoryStaging { container: self, updates: Vec::new() }))
    }
}

impl PreparedTransactions for MemoryContainer {
    fn begin_prepared(&self) -> Result<Box<dyn PreparableStaging + '_>> {
        Ok(Box::new(MemoryStaging { container: self, updates: Vec::new() }))
    }

    fn list_prepared(&self, prefix: &str) -> Result<Vec<Label>> {
        let state = self.state();
        Ok(state.prepared.keys().filter(|name| name.as_str().starts_with(prefix)).cloned().collect())
    }

    fn commit_prepared(&self, names: &[Label], transaction: &Transaction<'_>) -> Result<Epoch> {
        transaction.check_for(SCHEME, CAPABILITIES.redundancy)?;
        check_distinct(names)?;
        let mut state = self.state_to_change()?;
        let find = |name| state.prepared.get(name).cloned().ok_or_else(|| self.not_prepared(name));
        let prepared: Vec<_> = names.iter().map(find).collect::<Result<_>>()?;
        state.judge(&transaction.preconditions)?;
        names.iter().for_each(|name| drop(state.prepared.remove(name)));
        Ok(state.apply_prepared(&prepared, &transaction.updates))
    }

    fn abort_prepared(&self, name: &Label) -> Result<()> {
        let aborted = self.state_to_change()?.abort_prepared(name);
        aborted.map(drop).ok_or_else(|| self.not_prepared(name))
    }
}

impl Extents for MemoryContainer {
    fn list_extents(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<Vec<Range<u64>>> {
        cell.check_extent()?;
        Ok(self.state().list_extents(&cell, &(offset..offset.saturating_add(length))))
    }
}

impl LentReads for MemoryContainer {
    fn lend(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes> {
        cell.check_extent()?;
        self.state().lend(&cell, offset, length)
    }
}

impl Snapshots for MemoryContainer {
    fn create(&self, name: &Label) -> Result<Epoch> {
        let exists = || Error::AlreadyExists { what: format!("snapshot {name} of container {}", self.label) };
        self.state_to_change()?.create_snapshot(name).ok_or_else(exists)
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        Ok(self.state().snapshots())
    }

    fn open(&self, name: &Label) -> Result<Arc<dyn Container>> {
        let epoch = self.state().snapshot(name).ok_or_else(|| self.no_snapshot(name))?;
        self.open_at(epoch)
    }

    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Container>> {
        let state = self.state();
        let unknown = || {
            let kept: Vec<_> = state.snapshots().iter().map(|kept| format!("{}, ", kept.epoch)).collect();
            let (label, now) = (&self.label, state.epoch());
            Error::not_found(format!("epoch {epoch} of container {label} (kept are {}{now})", kept.concat()))
        };
        let past = state.at(epoch).ok_or_else(unknown)?;
        Ok(Arc::new(Self { label: self.label.clone(), state: Arc::new(Mutex::new(past)), is_past: true }))
    }

    fn destroy(&self, name: &Label) -> Result<()> {
        let destroyed = self.state_to_change()?.destroy_snapshot(name);
        destroyed.map(drop).ok_or_else(|| self.no_snapshot(name))
    }
}

/// The first key that may come after `anchor`, which is the last key of the page before.
fn after(anchor: &Anchor) -> Vec<u8> {
    [anchor.as_bytes(), &[0]].concat()
}

/// The cells of an object, in ascending order of their keys.
fn cells_from(state: &State, object: ObjectId, from: Keys) -> impl Iterator<Item = (&Keys, &Content)> {
    state.objects.get(&object).into_iter().flat_map(move |cells| cells.range(from.clone()..))
}
