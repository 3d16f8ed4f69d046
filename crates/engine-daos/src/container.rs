//! A handle on a container, at present or in the past. It checks arguments, hands over pending updates where necessary, and calls
//! the other modules.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_engine_kit::context::Context;
use isotach_object::{
    Anchor, ArrayRead, Capabilities, Cell, Container, ContainerFacets, Epoch, Error, IdRange, Label,
    ObjectId, ObjectType, Page, PendingRead, PendingReads, Precondition, Result, Snapshot, Snapshots,
    StagedTransactions, Staging, Transaction, Update, check_limit,
};

use crate::{
    changes::Changes,
    commit::{self, is_recent},
    ffi::{self, Begun, Buffer, Tx},
    keys::{check_akey, check_object},
    listing::{self, Objects},
    options::{CAPABILITIES, SCHEME},
    pipeline::Pipeline,
    read::{self, consistent_read},
    snapshots,
    space::{Ids, Space},
};

/// A handle.
#[derive(Debug)]
pub(crate) struct DaosContainer {
    space: Arc<Space>,
    pipeline: Mutex<Pipeline>,
    ids: Ids,
    objects: Objects,
    past: Option<Past>,
}

/// The state that a handle on the past shows.
#[derive(Debug)]
struct Past {
    tx: Tx,
    epoch: u64,
    /// The snapshot of this state.
    snapshot: Option<Snapshot>,
}

impl DaosContainer {
    pub(crate) fn new(space: Arc<Space>) -> Self {
        Self::showing(space, None)
    }

    fn showing(space: Arc<Space>, past: Option<Past>) -> Self {
        let (pipeline, ids, objects) = (Mutex::default(), Ids::default(), Objects::default());
        Self { space, pipeline, ids, objects, past }
    }

    fn pipeline(&self) -> MutexGuard<'_, Pipeline> {
        self.pipeline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tx(&self) -> Option<&Tx> {
        self.past.as_ref().map(|past| &past.tx)
    }

    fn check_present(&self) -> Result<()> {
        self.space.check_process()?;
        match &self.past {
            None => Ok(()),
            Some(past) => {
                let (label, epoch) = (&self.space.label, past.epoch);
                let what = format!("write to the past of container {label} at epoch {epoch}");
                Err(Error::PermissionDenied { what, source: None })
            }
        }
    }

    fn check_update(&self, update: &Update<'_>) -> Result<()> {
        // The library knows the classes.
        self.space.check_process()?;
        update.check_for(SCHEME, CAPABILITIES.redundancy)?;
        check_object(update.object())?;
        if let Update::Put { cell, .. } | Update::Write { cell, .. } | Update::SetSize { cell, .. } = update {
            check_akey(cell)?;
        }
        self.space.check_class(update.object())
    }

    fn check_cell(cell: &Cell<'_>) -> Result<()> {
        cell.check()?;
        check_object(cell.object)
    }

    /// Hands over all pending updates if any is of these objects, so that the handle sees its own updates.
    fn hand_over_for(&self, mut objects: impl Iterator<Item = ObjectId>) -> Result<()> {
        self.space.check_process()?;
        let mut pipeline = self.pipeline();
        match !pipeline.is_empty() && objects.any(|object| pipeline.has(object)) {
            true => self.hand_over(&mut pipeline),
            false => Ok(()),
        }
    }

    fn hand_over(&self, pipeline: &mut Pipeline) -> Result<()> {
        pipeline.check(&self.space)?;
        pipeline.or_fail(|pipeline| pipeline.hand_over(&self.space))
    }

    fn before_listing(&self, object: ObjectId, limit: usize) -> Result<()> {
        check_object(object)?;
        check_limit(limit)?;
        self.hand_over_for([object].into_iter())
    }

    fn hand_over_all(&self) -> Result<()> {
        self.space.check_process()?;
        self.hand_over(&mut self.pipeline())
    }

    /// Commits after the handle's earlier updates.
    fn commit_changes(&self, preconditions: &[Precondition<'_>], changes: &Changes) -> Result<Epoch> {
        self.check_present()?;
        for precondition in preconditions {
            precondition.check()?;
            check_object(precondition.cell().object)?;
        }
        self.hand_over_all()?;
        commit::commit(&self.space, preconditions, changes)
    }

    /// Whether a read is of present bytes under one key, so that it is consistent without a transaction.
    fn is_begun_at_once(&self, cell: &Cell<'_>, offset: u64, length: usize) -> bool {
        let Some(end) = offset.checked_add(length as u64).filter(|end| *end <= i64::MAX as u64) else {
            return false;
        };
        let is_one_key = end.div_ceil(self.space.chunk) - offset / self.space.chunk <= 1;
        cell.object.otype() == ObjectType::Array && length > 0 && is_one_key && self.past.is_none()
    }

    /// A handle on the state at an epoch.
    fn at(&self, epoch: u64, snapshot: Option<Snapshot>) -> Result<Arc<dyn Container>> {
        let what = || format!("open container {} at epoch {epoch}", self.space.label);
        let tx = Tx::at(&self.space.cont, epoch).context(what)?;
        let is_kept = snapshot.is_some();
        let past = Self::showing(Arc::clone(&self.space), Some(Past { tx, epoch, snapshot }));
        if !is_kept {
            // A snapshot has a table of its objects; here it is that of a moment later.
            past.objects.take_present(&self.space)?;
        }
        Ok(Arc::new(past))
    }
}

/// A pending read.
#[derive(Debug)]
enum Pending {
    Begun { read: Begun<ffi::Read<'static>>, space: Arc<Space>, object: ObjectId, offset: u64 },
    Ended(Vec<u8>),
}

impl PendingRead for Pending {
    fn wait(self: Box<Self>) -> Result<Vec<u8>> {
        match *self {
            Self::Begun { read, space, object, offset } => {
                space.check_process()?;
                let cell = Cell::array(object);
                let read = read.wait().context(|| space.naming("read bytes of", &cell))?;
                if read.is_whole() {
                    return Ok(read.into_bytes());
                }
                // The reported number is not of the same moment as the bytes.
                read_whole(&space, None, cell, offset, read.into_buffer())
            }
            Self::Ended(bytes) => Ok(bytes),
        }
    }
}

/// Reads into a buffer, and truncates it to the read bytes.
fn read_whole(
    space: &Space,
    past: Option<&Tx>,
    cell: Cell<'_>,
    offset: u64,
    mut buffer: Vec<u8>,
) -> Result<Vec<u8>> {
    let mut reads = [ArrayRead { cell, offset, buffer: &mut buffer, filled: 0 }];
    read::batch(space, past, &mut reads)?;
    let filled = reads[0].filled;
    buffer.truncate(filled);
    Ok(buffer)
}

impl Container for DaosContainer {
    fn label(&self) -> &Label {
        &self.space.label
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn facets(&self) -> ContainerFacets<'_> {
        ContainerFacets {
            snapshots: Some(self),
            staged_transactions: Some(self),
            pending_reads: Some(self),
            ..ContainerFacets::none(SCHEME)
        }
    }

    fn allocate_ids(&self, count: u64) -> Result<IdRange> {
        self.check_present()?;
        self.ids.allocate(count, &self.space)
    }

    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| self.check_update(update))?;
        self.check_present()?;
        let mut pipeline = self.pipeline();
        pipeline.check(&self.space)?;
        pipeline.or_fail(|pipeline| updates.iter().try_for_each(|update| pipeline.take(update, &self.space)))
    }

    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        self.check_update(&Update::Write { cell: Cell::array(object), offset: 0, data })?;
        self.check_present()?;
        let mut pipeline = self.pipeline();
        pipeline.check(&self.space)?;
        pipeline.or_fail(|pipeline| pipeline.take_new(object, data, &self.space))?;
        Ok(None)
    }

    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        transaction.updates.iter().try_for_each(|update| self.check_update(update))?;
        self.commit_changes(&transaction.preconditions, &Changes::of(&transaction.updates))
    }

    fn flush(&self) -> Result<()> {
        self.hand_over_all()
    }

    fn epoch(&self) -> Result<Epoch> {
        self.hand_over_all()?;
        match &self.past {
            Some(past) => Ok(Epoch(past.epoch)),
            None => self.space.epoch().map(Epoch),
        }
    }

    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        for cell in cells {
            cell.check_value()?;
            check_object(cell.object)?;
        }
        self.hand_over_for(cells.iter().map(|cell| cell.object))?;
        consistent_read(&self.space, self.tx(), cells.len(), |tx| read::values(&self.space, tx, cells))
    }

    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        cells.iter().try_for_each(Self::check_cell)?;
        self.hand_over_for(cells.iter().map(|cell| cell.object))?;
        consistent_read(&self.space, self.tx(), read::parts(cells), |tx| {
            cells.iter().map(|cell| read::size(&self.space, tx, cell)).collect()
        })
    }

    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        for read in reads.iter() {
            read.cell.check_extent()?;
            check_object(read.cell.object)?;
        }
        self.hand_over_for(reads.iter().map(|read| read.cell.object))?;
        read::batch(&self.space, self.tx(), reads)
    }

    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        object.expect_type(ObjectType::KeyValue)?;
        self.before_listing(object, limit)?;
        match values {
            true => listing::entries(&self.space, self.tx(), object, (anchor, limit)),
            false => listing::keys(&self.space, self.tx(), object, None, (anchor, limit)),
        }
    }

    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        object.expect_type(ObjectType::General)?;
        self.before_listing(object, limit)?;
        listing::keys(&self.space, self.tx(), object, None, (anchor, limit))
    }

    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        Update::RemoveDkey { object, dkey }.check()?;
        self.before_listing(object, limit)?;
        listing::keys(&self.space, self.tx(), object, Some(dkey), (anchor, limit))
    }

    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        check_limit(limit)?;
        self.hand_over_all()?;
        let past = self.past.as_ref().map(|past| (&past.tx, past.epoch));
        self.objects.page(&self.space, past, anchor, limit)
    }
}

/// The staged updates of a transaction. They wait in memory until its commit, as in DAOS's own client.
#[derive(Debug)]
struct Staged<'c> {
    container: &'c DaosContainer,
    changes: Changes,
}

impl StagedTransactions for DaosContainer {
    fn stage(&self) -> Result<Box<dyn Staging + '_>> {
        self.check_present()?;
        Ok(Box::new(Staged { container: self, changes: Changes::default() }))
    }
}

impl Staging for Staged<'_> {
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| self.container.check_update(update))?;
        updates.iter().for_each(|update| self.changes.add(update));
        Ok(())
    }

    fn commit(self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        self.container.commit_changes(preconditions, &self.changes)
    }
}

impl PendingReads for DaosContainer {
    fn depth(&self) -> usize {
        self.space.options.depth
    }

    fn begin_read(&self, cell: Cell<'_>, offset: u64, buffer: Vec<u8>) -> Result<Box<dyn PendingRead>> {
        cell.check_extent()?;
        check_object(cell.object)?;
        self.hand_over_for([cell.object].into_iter())?;
        if self.is_begun_at_once(&cell, offset, buffer.len()) {
            let what = || self.space.naming("read bytes of", &cell);
            let array = self.space.array(cell.object).context(what)?;
            let read = ffi::Read::new(&array, None, offset, Buffer::Owned(buffer));
            let read = self.space.cont.begin(read).context(what)?;
            let (space, object) = (Arc::clone(&self.space), cell.object);
            return Ok(Box::new(Pending::Begun { read, space, object, offset }));
        }
        Ok(Box::new(Pending::Ended(read_whole(&self.space, self.tx(), cell, offset, buffer)?)))
    }
}

impl Snapshots for DaosContainer {
    fn create(&self, name: &Label) -> Result<Epoch> {
        self.check_present()?;
        self.hand_over_all()?;
        snapshots::create(&self.space, name)
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        self.space.check_process()?;
        let mut all = snapshots::list(&self.space, self.tx())?;
        all.extend(self.past.as_ref().and_then(|past| past.snapshot.clone()));
        Ok(all)
    }

    fn open(&self, name: &Label) -> Result<Arc<dyn Container>> {
        self.space.check_process()?;
        let epoch = snapshots::find(&self.space, name)?;
        self.at(epoch, Some(Snapshot { name: name.clone(), epoch: Epoch(epoch) }))
    }

    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Container>> {
        let now = self.epoch()?;
        let kept = snapshots::list(&self.space, None)?;
        let snapshot = kept.iter().find(|snapshot| snapshot.epoch == epoch);
        if epoch > now || (snapshot.is_none() && !is_recent(epoch, now)) {
            let kept: String = kept.iter().map(|kept| format!("{}, ", kept.epoch)).collect();
            let label = &self.space.label;
            return Err(Error::not_found(format!(
                "epoch {epoch} of container {label} (kept are {kept}{now})"
            )));
        }
        self.at(epoch.0, snapshot.cloned())
    }

    fn destroy(&self, name: &Label) -> Result<()> {
        self.check_present()?;
        snapshots::destroy(&self.space, name)
    }
}
