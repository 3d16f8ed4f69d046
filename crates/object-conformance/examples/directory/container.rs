//! A handle on a container: a folder with a file for each object.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use isotach_object::{
    Anchor, ArrayRead, Capabilities, Cell, Container, ContainerFacets, Epoch, Error, IdRange, Label,
    ObjectId, ObjectType, Page, PageBuilder, Precondition, Result, Transaction, Update,
};

use crate::{
    engine::{CAPABILITIES, SCHEME},
    files::{self, name, sync_folder, unless_gone},
    object::{Content, Object, take_number},
};

/// The epoch of the last change, and the next id that is free.
#[derive(Debug, Clone, Copy)]
struct Counters {
    epoch: u64,
    next_id: u64,
}

impl Counters {
    fn encode(self) -> Vec<u8> {
        [self.epoch, self.next_id].map(u64::to_le_bytes).concat()
    }

    fn decode(mut bytes: &[u8]) -> Option<Self> {
        let counters = Self { epoch: take_number(&mut bytes)?, next_id: take_number(&mut bytes)? };
        bytes.is_empty().then_some(counters)
    }
}

/// Creates an empty container in a new folder.
pub(crate) fn create(folder: &Path) -> Result<()> {
    for folder in [folder, &folder.join("objects")] {
        fs::create_dir(folder).map_err(|error| Error::from_io(error, name(folder)))?;
    }
    files::create(&folder.join("counters"), &Counters { epoch: 0, next_id: 1 }.encode())?;
    files::create(&folder.join("lock"), b"")
}

#[derive(Debug)]
pub(crate) struct DirectoryContainer {
    label: Label,
    folder: PathBuf,
    poisoned: AtomicBool,
}

impl DirectoryContainer {
    pub(crate) fn new(label: Label, folder: PathBuf) -> Self {
        Self { label, folder, poisoned: AtomicBool::new(false) }
    }

    fn what(&self) -> String {
        format!("container {}", self.label)
    }

    fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    fn file(&self, object: ObjectId) -> PathBuf {
        self.objects().join(object.to_string())
    }

    /// The lock file. Each open file has a lock of its own, so it also excludes other threads of this handle.
    fn lock_file(&self) -> Result<File> {
        let path = self.folder.join("lock");
        File::open(path).map_err(|error| Error::from_io(error, self.what()))
    }

    /// Takes the lock of writers. It is released when the file is closed.
    fn lock(&self) -> Result<File> {
        if self.poisoned.load(Ordering::Acquire) {
            return Err(Error::Poisoned { what: self.what() });
        }
        let file = self.lock_file()?;
        file.lock().map_err(|error| Error::from_io(error, self.what()))?;
        Ok(file)
    }

    /// The outcome of a sync. After a failure this handle accepts no more writes.
    fn synced<T>(&self, outcome: Result<T>) -> Result<T> {
        outcome.inspect_err(|_| self.poisoned.store(true, Ordering::Release))
    }

    /// Writes a whole file, and then gives it its name. The caller holds the lock.
    fn replace(&self, path: &Path, body: &[u8]) -> Result<()> {
        let tmp = self.folder.join("tmp");
        let file = files::write(&tmp, body)?;
        self.synced(file.sync_all().map_err(|error| Error::from_io(error, name(&tmp))))?;
        fs::rename(&tmp, path).map_err(|error| Error::from_io(error, name(path)))
    }

    /// Makes all names durable.
    fn sync(&self) -> Result<()> {
        let both = sync_folder(&self.objects()).and_then(|()| sync_folder(&self.folder));
        match both {
            // The container was destroyed, so nothing can be lost.
            Err(Error::NotFound { .. }) => Err(Error::not_found(self.what())),
            outcome => self.synced(outcome),
        }
    }

    fn counters(&self) -> Result<Counters> {
        let path = self.folder.join("counters");
        let bytes = files::read(&path)?.ok_or_else(|| Error::not_found(self.what()))?;
        Counters::decode(&bytes).ok_or_else(|| Error::corrupt("counters", name(&path)))
    }

    /// Refuses a destroyed container. Its folder disappears in one step, and the folder's name is never used again.
    fn check_exists(&self) -> Result<()> {
        let folder = unless_gone(fs::metadata(&self.folder), &self.folder)?;
        folder.map(|_| ()).ok_or_else(|| Error::not_found(self.what()))
    }

    fn load(&self, object: ObjectId) -> Result<Object> {
        let path = self.file(object);
        match files::read(&path)? {
            Some(bytes) => {
                Object::decode(&bytes).ok_or_else(|| Error::corrupt("an object's form", name(&path)))
            }
            None => self.check_exists().map(|()| Object::default()),
        }
    }

    /// Loads the object unless it is the one that was loaded last.
    fn load_next<'l>(
        &self,
        last: &'l mut Option<(ObjectId, Object)>,
        object: ObjectId,
    ) -> Result<&'l Object> {
        let known = last.take().filter(|(id, _)| *id == object);
        let loaded = match known {
            Some(known) => known,
            None => (object, self.load(object)?),
        };
        Ok(&last.insert(loaded).1)
    }

    /// Stores an object after some changes, as one change. The caller holds the lock.
    fn store(&self, id: ObjectId, object: &Object, changes: usize) -> Result<Epoch> {
        let counters = self.counters()?;
        let epoch = counters.epoch + changes as u64;
        // First the epoch: an epoch without a change does no harm, a change without an epoch would.
        self.replace(&self.folder.join("counters"), &Counters { epoch, ..counters }.encode())?;
        let path = self.file(id);
        match object.is_empty() {
            true => {
                unless_gone(fs::remove_file(&path), &path)?;
            }
            false => self.replace(&path, &object.encode())?,
        }
        Ok(Epoch(epoch))
    }
}

impl Container for DirectoryContainer {
    fn label(&self) -> &Label {
        &self.label
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn facets(&self) -> ContainerFacets<'_> {
        ContainerFacets::none(SCHEME)
    }

    fn allocate_ids(&self, count: u64) -> Result<IdRange> {
        if count == 0 {
            return Err(Error::invalid("an allocation of no ids", "at least 1"));
        }
        let _lock = self.lock()?;
        let counters = self.counters()?;
        let start = counters.next_id;
        let end = start.checked_add(count);
        let end = end.ok_or_else(|| Error::NoSpace { what: format!("{count} ids of {}", self.what()) })?;
        self.replace(&self.folder.join("counters"), &Counters { next_id: end, ..counters }.encode())?;
        self.sync()?;
        Ok(IdRange { start, end })
    }

    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| update.check_for(SCHEME, CAPABILITIES.redundancy))?;
        let _lock = self.lock()?;
        // Neighbours of one object are written together.
        for run in updates.chunk_by(|one, next| one.object() == next.object()) {
            let id = run[0].object();
            let mut object = match run[0] {
                Update::Destroy { .. } => Object::default(),
                _ => self.load(id)?,
            };
            run.iter().for_each(|update| object.apply(update));
            self.store(id, &object, run.len())?;
        }
        Ok(())
    }

    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        self.update(&[Update::Write { cell: Cell::array(object), offset: 0, data }])?;
        Ok(None)
    }

    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        transaction.check_for(SCHEME, CAPABILITIES.redundancy)?;
        let cell = only_cell(transaction)?;
        let _lock = self.lock()?;
        let Some(cell) = cell else { return self.epoch() };
        let mut object = self.load(cell.object)?;
        if let Some(failed) = transaction.preconditions.iter().find(|condition| !object.holds(condition)) {
            return Err(failed.conflict());
        }
        if transaction.updates.is_empty() {
            return self.epoch();
        }
        transaction.updates.iter().for_each(|update| object.apply(update));
        self.store(cell.object, &object, 1)
    }

    fn flush(&self) -> Result<()> {
        if self.poisoned.load(Ordering::Acquire) {
            return Err(Error::Poisoned { what: self.what() });
        }
        self.sync()
    }

    fn epoch(&self) -> Result<Epoch> {
        Ok(Epoch(self.counters()?.epoch))
    }

    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        cells.iter().try_for_each(Cell::check_value)?;
        let mut last = None;
        let values = cells.iter().map(|cell| match self.load_next(&mut last, cell.object)?.cell(cell) {
            Some(Content::Value(value)) => Ok(Some(value.clone())),
            _ => Ok(None),
        });
        values.collect()
    }

    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        cells.iter().try_for_each(Cell::check)?;
        let mut last = None;
        let sizes = cells.iter().map(|cell| {
            let content = self.load_next(&mut last, cell.object)?.cell(cell);
            Ok(content.map(|content| match content {
                Content::Value(value) => value.len() as u64,
                Content::Bytes(bytes) => bytes.size(),
            }))
        });
        sizes.collect()
    }

    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        reads.iter().try_for_each(|read| read.cell.check_extent())?;
        let mut last = None;
        for read in reads {
            read.filled = match self.load_next(&mut last, read.cell.object)?.cell(&read.cell) {
                Some(Content::Bytes(bytes)) => bytes.read(read.offset, read.buffer),
                _ => 0,
            };
        }
        Ok(())
    }

    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        object.expect_type(ObjectType::KeyValue)?;
        check_limit(limit)?;
        let object = self.load(object)?;
        let entries = object.cells().map(|(key, _, content)| match content {
            Content::Value(value) if values => (key, value.as_slice()),
            _ => (key, [].as_slice()),
        });
        Ok(page(entries, anchor, limit))
    }

    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        object.expect_type(ObjectType::General)?;
        check_limit(limit)?;
        let object = self.load(object)?;
        let mut dkeys: Vec<_> = object.cells().map(|(dkey, _, _)| dkey).collect();
        dkeys.dedup();
        Ok(page(dkeys.into_iter().map(|dkey| (dkey, [].as_slice())), anchor, limit))
    }

    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        Update::RemoveDkey { object, dkey }.check()?;
        check_limit(limit)?;
        let object = self.load(object)?;
        let akeys = object.cells().filter(|(of, _, _)| *of == dkey).map(|(_, akey, _)| (akey, [].as_slice()));
        Ok(page(akeys, anchor, limit))
    }

    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        check_limit(limit)?;
        let folder = self.objects();
        // While a folder changes, a listing of it may miss a name that stays.
        let lock = self.lock_file()?;
        lock.lock_shared().map_err(|error| Error::from_io(error, self.what()))?;
        let entries = unless_gone(fs::read_dir(&folder), &folder)?;
        let mut objects = Vec::new();
        for entry in entries.ok_or_else(|| Error::not_found(self.what()))? {
            let text = entry.map_err(|error| Error::from_io(error, name(&folder)))?.file_name();
            let object = text.to_str().and_then(|text| text.parse::<ObjectId>().ok());
            objects.push(object.ok_or_else(|| Error::corrupt("a file that is no object", name(&folder)))?);
        }
        drop(lock);
        // A folder that was removed while it was read looks empty.
        self.check_exists()?;
        objects.retain(|object| object.to_string().as_bytes() > anchor.as_bytes());
        objects.sort();
        let more = objects.len() > limit;
        objects.truncate(limit);
        let last = objects.last().filter(|_| more);
        let next = last.map(|last| Anchor::from_bytes(last.to_string().into_bytes()));
        Ok((objects, next))
    }
}

fn unsupported(what: &str) -> Error {
    Error::Unsupported { engine: SCHEME, what: what.to_owned() }
}

/// The one cell that a transaction names, if it names any.
fn only_cell<'a>(transaction: &Transaction<'a>) -> Result<Option<Cell<'a>>> {
    let mut only = None;
    let mut see = |cell: Cell<'a>| match only.replace(cell) {
        Some(other) if other != cell => Err(unsupported("transactions of several cells")),
        _ => Ok(()),
    };
    for precondition in &transaction.preconditions {
        if let Precondition::Unchanged(..) = precondition {
            return Err(unsupported("the precondition that a cell is unchanged"));
        }
        see(precondition.cell())?;
    }
    for update in &transaction.updates {
        match *update {
            Update::Put { cell, .. }
            | Update::Remove { cell }
            | Update::Write { cell, .. }
            | Update::SetSize { cell, .. }
            | Update::Punch { cell, .. } => see(cell)?,
            // An array has one cell.
            Update::Destroy { object } if object.otype() == ObjectType::Array => see(Cell::array(object))?,
            Update::RemoveDkey { .. } | Update::Destroy { .. } => {
                return Err(unsupported("transactions of several cells"));
            }
        }
    }
    Ok(only)
}

fn check_limit(limit: usize) -> Result<()> {
    match limit {
        0 => Err(Error::invalid("a page of 0 entries", "at least 1")),
        _ => Ok(()),
    }
}

/// A page of sorted entries after the anchor, which is the last key of the page before.
fn page<'a>(entries: impl Iterator<Item = (&'a [u8], &'a [u8])>, anchor: &Anchor, limit: usize) -> Page {
    let mut entries = entries.filter(|(key, _)| *key > anchor.as_bytes()).peekable();
    let mut builder = PageBuilder::new();
    let mut last = None;
    while builder.len() < limit
        && let Some((key, value)) = entries.next()
    {
        builder.push(key, value);
        last = Some(key);
    }
    let more = entries.peek().is_some();
    builder.finish(last.filter(|_| more).map(|key| Anchor::from_bytes(key.to_vec())))
}
