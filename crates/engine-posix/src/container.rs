//! [`Container`] and its facets for a handle.

use std::{
    ops::Range,
    sync::{Arc, atomic::Ordering},
};

use isotach_object::{
    Anchor, ArrayRead, Capabilities, Cell, Container, ContainerFacets, Epoch, Extents, IdRange, Label,
    LentReads, ObjectId, ObjectType, Page, PreparableStaging, PreparedTransactions, Result, SharedBytes,
    Snapshot, Snapshots, StagedTransactions, Staging, Transaction, Update, check_limit, merge_extents,
};

use crate::{
    capability::{CAPABILITIES, SCHEME, capabilities},
    format::path,
    handle::PosixContainer,
    index::{entry::Entry, system},
    read::{
        bytes::{bytes, find, lookup},
        listing,
        lookup::CellContent,
    },
    transaction::staging::PosixStaging,
};

impl PosixContainer {
    /// Commits a transaction that was checked, or one that no caller may request.
    pub(crate) fn commit_checked(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        self.decide(&transaction.preconditions, |writer| writer.commit(transaction, &[], &self.storage.log))
    }
}

impl Container for PosixContainer {
    fn label(&self) -> &Label {
        &self.label
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(self.storage.log.disk())
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
        self.storage.log.check_writable()?;
        self.check_current()?;
        self.writer().allocate_ids(&self.storage.log, count)
    }

    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| update.check_for(SCHEME, CAPABILITIES.redundancy))?;
        let mut writer = self.writer();
        writer.gather(updates, &self.storage.log)?;
        self.gathered.store(true, Ordering::Release);
        Ok(())
    }

    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        let cell = Cell::array(object);
        Update::Write { cell, offset: 0, data }.check_for(SCHEME, CAPABILITIES.redundancy)?;
        self.write_array(&cell, data).map(Some)
    }

    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        transaction.check_for(SCHEME, CAPABILITIES.redundancy)?;
        self.commit_checked(transaction)
    }

    fn flush(&self) -> Result<()> {
        let wrote = self.writer().has_written();
        if wrote {
            self.check_current()?;
        }
        self.flush_gathered()?;
        if wrote {
            // What was flushed is durable, so the failure of a checkpoint does not matter.
            let _ = self.checkpoint_if_due();
        }
        Ok(())
    }

    fn epoch(&self) -> Result<Epoch> {
        self.publish()?;
        Ok(Epoch(self.storage.log.epoch_at(self.storage.log.length()?)))
    }

    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        cells.iter().try_for_each(Cell::check_value)?;
        self.retry_after_purge(|| {
            let found: Vec<_> = {
                let state = self.state()?;
                let state = state.get()?;
                cells.iter().map(|cell| find(state, cell)).collect::<Result<_>>()?
            };
            cells.iter().zip(found).map(|(cell, entry)| self.value(cell, entry)).collect()
        })
    }

    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        cells.iter().try_for_each(Cell::check)?;
        let state = self.state()?;
        let state = state.get()?;
        let size = |cell: &Cell<'_>| {
            Ok(match lookup(state, cell, 0, 0)? {
                CellContent::Value(Entry::Value(value)) => Some(value.len() as u64),
                CellContent::Value(Entry::ValueExtent(extent, _)) => Some(extent.length),
                CellContent::Bytes(resolved) => Some(resolved.size),
                _ => None,
            })
        };
        cells.iter().map(size).collect()
    }

    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        reads.iter().try_for_each(|read| read.cell.check_extent())?;
        self.retry_after_purge(|| {
            let resolved: Vec<_> = {
                let state = self.state()?;
                let state = state.get()?;
                reads
                    .iter()
                    .map(|read| bytes(state, &read.cell, read.offset, read.buffer.len() as u64))
                    .collect::<Result<_>>()?
            };
            self.read_all(reads, &resolved)
        })
    }

    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        object.expect_type(ObjectType::KeyValue)?;
        check_limit(limit)?;
        let prefix = path::of_object(object);
        self.retry_after_purge(|| {
            let state = self.state()?;
            let page = listing::page(state.get()?, &self.storage.data, &prefix, anchor, limit, values);
            self.naming_object(object, page)
        })
    }

    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        object.expect_type(ObjectType::General)?;
        check_limit(limit)?;
        let state = self.state()?;
        listing::dkeys(state.get()?, object, anchor, limit)
    }

    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        object.expect_type(ObjectType::General)?;
        Cell::general(object, dkey, b"any").check()?;
        check_limit(limit)?;
        let state = self.state()?;
        let mut prefix = Vec::new();
        path::of_dkey(object, dkey, &mut prefix);
        listing::page(state.get()?, &self.storage.data, &prefix, anchor, limit, false)
    }

    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        check_limit(limit)?;
        let state = self.state()?;
        listing::objects(state.get()?, anchor, limit)
    }
}

impl StagedTransactions for PosixContainer {
    fn stage(&self) -> Result<Box<dyn Staging + '_>> {
        Ok(Box::new(PosixStaging::new(self)))
    }
}

impl PreparedTransactions for PosixContainer {
    fn begin_prepared(&self) -> Result<Box<dyn PreparableStaging + '_>> {
        Ok(Box::new(PosixStaging::new(self)))
    }

    fn list_prepared(&self, prefix: &str) -> Result<Vec<Label>> {
        self.prepared_names(prefix)
    }

    fn commit_prepared(&self, names: &[Label], transaction: &Transaction<'_>) -> Result<Epoch> {
        transaction.check_for(SCHEME, CAPABILITIES.redundancy)?;
        self.apply_prepared(names, transaction)
    }

    fn abort_prepared(&self, name: &Label) -> Result<()> {
        self.remove_prepared(name)
    }
}

impl Extents for PosixContainer {
    fn list_extents(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<Vec<Range<u64>>> {
        cell.check_extent()?;
        let state = self.state()?;
        let resolved = bytes(state.get()?, &cell, offset, length)?;
        let extents = resolved.parts.iter().map(|part| part.offset..part.end());
        Ok(merge_extents(extents, &(offset..offset.saturating_add(length))))
    }
}

impl LentReads for PosixContainer {
    fn lend(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes> {
        cell.check_extent()?;
        self.retry_after_purge(|| {
            let resolved = {
                let state = self.state()?;
                bytes(state.get()?, &cell, offset, length)?
            };
            self.lend_resolved(cell, offset, length, &resolved)
        })
    }
}

impl Snapshots for PosixContainer {
    fn create(&self, name: &Label) -> Result<Epoch> {
        self.name_present(name)
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        let state = self.state()?;
        system::snapshots(state.get()?)
    }

    fn open(&self, name: &Label) -> Result<Arc<dyn Container>> {
        self.past(self.epoch_of(name)?)
    }

    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Container>> {
        self.past(epoch)
    }

    fn destroy(&self, name: &Label) -> Result<()> {
        self.forget_name(name)
    }
}
