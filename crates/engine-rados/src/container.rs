//! A handle on a container: checks the arguments, submits pending updates where needed, and calls the parts below.

use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use isotach_object::{
    Anchor, ArrayRead, Capabilities, Cell, Container, ContainerFacets, Epoch, Error, Extents, IdRange, Label,
    ObjectId, ObjectType, Page, PendingRead, PendingReads, Result, Transaction, Update, check_limit,
    merge_extents,
};

use crate::{
    CAPABILITIES,
    arrays::{Arrays, Ended, Held, Slot},
    commit,
    entry::Entry,
    ids::Ids,
    keys,
    listing::{self, Objects},
    options::SCHEME,
    pipeline::Pipeline,
    space::Space,
};

/// A handle.
#[derive(Debug)]
pub(crate) struct RadosContainer {
    space: Arc<Space>,
    arrays: Arc<Arrays>,
    pipeline: Mutex<Pipeline>,
    ids: Ids,
    objects: Objects,
}

impl RadosContainer {
    pub(crate) fn new(space: Arc<Space>) -> Result<Self> {
        let arrays = Arc::new(Arrays::new(Arc::clone(&space))?);
        Ok(Self {
            space,
            arrays,
            pipeline: Mutex::default(),
            ids: Ids::default(),
            objects: Objects::default(),
        })
    }

    fn pipeline(&self) -> MutexGuard<'_, Pipeline> {
        self.pipeline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over everything if something of these objects waits, so that the handle sees its own updates.
    fn hand_over_for(&self, objects: impl Iterator<Item = ObjectId>) -> Result<()> {
        let mut pipeline = self.pipeline();
        let mut objects = objects;
        match !pipeline.is_empty() && objects.any(|object| pipeline.has(object)) {
            true => self.hand_over(&mut pipeline),
            false => Ok(()),
        }
    }

    fn hand_over(&self, pipeline: &mut Pipeline) -> Result<()> {
        pipeline.check(&self.space)?;
        pipeline.or_fail(|pipeline| pipeline.hand_over(&self.arrays))
    }

    /// Submits everything and returns the epoch at which it counts.
    fn settle(&self, pipeline: &mut Pipeline) -> Result<Epoch> {
        self.hand_over(pipeline)?;
        if !pipeline.is_ahead {
            return self.space.epoch().map(Epoch);
        }
        let epoch = pipeline.or_fail(|_| self.space.next_epoch())?;
        pipeline.is_ahead = false;
        Ok(Epoch(epoch))
    }

    /// The contents of slots, some of which may hold values.
    fn sizes_of(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        let slots: Vec<Slot> = cells.iter().map(Slot::of).collect();
        let held = self.space.load_slots(&slots)?;
        let size = |(cell, held): (&Cell<'_>, Held)| match held {
            Held::Nothing => Ok(None),
            Held::Bytes(table, _) => Ok(Some(table.size)),
            Held::Value(stored) => {
                Entry::decode(cell.object, &keys::entry_key(cell), &stored).map(|entry| Some(entry.size()))
            }
        };
        cells.iter().zip(held).map(size).collect()
    }
}

impl Container for RadosContainer {
    fn label(&self) -> &Label {
        &self.space.label
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn facets(&self) -> ContainerFacets<'_> {
        ContainerFacets { pending_reads: Some(self), extents: Some(self), ..ContainerFacets::none(SCHEME) }
    }

    fn allocate_ids(&self, count: u64) -> Result<IdRange> {
        if count == 0 {
            return Err(Error::invalid("allocation of 0 object ids", "at least 1"));
        }
        self.ids.allocate(count, &self.space)
    }

    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| update.check_for(SCHEME, CAPABILITIES.redundancy))?;
        let mut pipeline = self.pipeline();
        pipeline.check(&self.space)?;
        pipeline.or_fail(|pipeline| updates.iter().try_for_each(|update| pipeline.take(update, &self.arrays)))
    }

    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        let write = Update::Write { cell: Cell::array(object), offset: 0, data };
        write.check_for(SCHEME, CAPABILITIES.redundancy)?;
        let mut pipeline = self.pipeline();
        pipeline.check(&self.space)?;
        pipeline.or_fail(|pipeline| pipeline.take_new(object, data, &self.arrays))
    }

    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        transaction.check_for(SCHEME, CAPABILITIES.redundancy)?;
        let cell = commit::only_cell(transaction)?;
        let mut pipeline = self.pipeline();
        self.hand_over(&mut pipeline)?;
        let Some(cell) = cell else { return self.settle(&mut pipeline) };
        match commit::commit(transaction, cell, &self.space, &self.arrays) {
            Ok(()) => pipeline.is_ahead |= !transaction.updates.is_empty(),
            // Nothing was changed by it, so the handle may go on.
            Err(error @ Error::Conflict { .. }) => return Err(error),
            Err(error) => return pipeline.or_fail(|_| Err(error)),
        }
        let what = || format!("begin an epoch of container {} after a commit that counts", self.space.label);
        self.settle(&mut pipeline).map_err(|error| error.after_decision(what()))
    }

    fn flush(&self) -> Result<()> {
        self.settle(&mut self.pipeline()).map(drop)
    }

    fn epoch(&self) -> Result<Epoch> {
        self.settle(&mut self.pipeline())
    }

    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        cells.iter().try_for_each(Cell::check_value)?;
        self.hand_over_for(cells.iter().map(|cell| cell.object))?;
        let wanted: Vec<_> = cells.iter().map(|cell| (cell.object, keys::entry_key(cell))).collect();
        let decode = |(object, key): &(ObjectId, Vec<u8>), stored: &[u8]| Entry::value(*object, key, stored);
        let found = self.space.omaps.get(&wanted, decode)?;
        Ok(found.into_iter().map(Option::flatten).collect())
    }

    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        cells.iter().try_for_each(Cell::check)?;
        self.hand_over_for(cells.iter().map(|cell| cell.object))?;
        self.sizes_of(cells)
    }

    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        reads.iter().try_for_each(|read| read.cell.check_extent())?;
        self.hand_over_for(reads.iter().map(|read| read.cell.object))?;
        self.arrays.read_many(reads)
    }

    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        object.expect_type(ObjectType::KeyValue)?;
        check_limit(limit)?;
        self.hand_over_for([object].into_iter())?;
        listing::entries(&self.space.omaps, object, anchor, limit, values)
    }

    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        object.expect_type(ObjectType::General)?;
        check_limit(limit)?;
        self.hand_over_for([object].into_iter())?;
        listing::dkeys(&self.space.omaps, object, anchor, limit)
    }

    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        Update::RemoveDkey { object, dkey }.check()?;
        check_limit(limit)?;
        self.hand_over_for([object].into_iter())?;
        listing::akeys(&self.space.omaps, object, dkey, anchor, limit)
    }

    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        check_limit(limit)?;
        let mut pipeline = self.pipeline();
        if !pipeline.is_empty() {
            self.hand_over(&mut pipeline)?;
        }
        drop(pipeline);
        self.objects.page(&self.space, anchor, limit)
    }
}

impl Extents for RadosContainer {
    fn list_extents(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<Vec<Range<u64>>> {
        cell.check_extent()?;
        self.hand_over_for([cell.object].into_iter())?;
        let held = self.space.load_slots(&[Slot::of(&cell)])?;
        let range = offset..offset.saturating_add(length);
        let pieces = held.iter().filter_map(Held::table).flat_map(|table| table.pieces_in(&range));
        Ok(merge_extents(pieces.map(|piece| piece.start..piece.end()), &range))
    }
}

impl PendingReads for RadosContainer {
    fn depth(&self) -> usize {
        self.arrays.depth()
    }

    fn begin_read(&self, cell: Cell<'_>, offset: u64, mut buffer: Vec<u8>) -> Result<Box<dyn PendingRead>> {
        cell.check_extent()?;
        self.hand_over_for([cell.object].into_iter())?;
        if cell.object.otype() == ObjectType::Array {
            return Ok(self.arrays.begin_read(&cell, offset, buffer));
        }
        let mut reads = [ArrayRead { cell, offset, buffer: &mut buffer, filled: 0 }];
        self.arrays.read_many(&mut reads)?;
        let filled = reads[0].filled;
        buffer.truncate(filled);
        Ok(Box::new(Ended(buffer)))
    }
}
