//! A handle on a container: a folder with a file for each object, and one that counts.
//!
//! Every change goes to the files at once, so a handle holds nothing back; a flush only makes durable what it changed.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_object::{
    Anchor, ArrayRead, Capabilities, Cell, Container, ContainerFacets, Epoch, Error, IdRange, Label,
    ObjectId, ObjectType, Page, Precondition, Result, Transaction, Update, check_limit,
};

use crate::{
    engine::{CAPABILITIES, SCHEME},
    file::{self, failed},
    object::{Content, Object},
    pool::lock,
};

/// The file with the epoch and the next id.
const COUNTERS: &str = "counters";
/// How the names of objects' files end.
const OBJECT: &str = ".object";

/// A handle.
#[derive(Debug)]
pub(crate) struct DirectoryContainer {
    label: Label,
    folder: PathBuf,
    /// Files that were changed and not synced yet.
    unsynced: Mutex<BTreeSet<PathBuf>>,
}

/// The epoch and the next id of a container.
#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    epoch: u64,
    next_id: u64,
}

impl DirectoryContainer {
    pub(crate) fn new(label: Label, folder: PathBuf) -> Self {
        Self { label, folder, unsynced: Mutex::default() }
    }

    fn unsynced(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, object: ObjectId) -> PathBuf {
        self.folder.join(format!("{object}{OBJECT}"))
    }

    /// Refuses where the container was destroyed.
    fn check_is_there(&self) -> Result<()> {
        match self.folder.is_dir() {
            true => Ok(()),
            false => Err(Error::not_found(format!("container {}", self.label))),
        }
    }

    fn object(&self, id: ObjectId) -> Result<Object> {
        self.check_is_there()?;
        let path = self.path(id);
        let Some(contents) = file::read(&path)? else { return Ok(Object::default()) };
        let malformed =
            || Error::corrupt("the contents are not those of an object", path.display().to_string());
        Object::decode(&contents).ok_or_else(malformed)
    }

    /// Replaces the file of an object; one without cells has none.
    fn replace(&self, id: ObjectId, object: &Object) -> Result<()> {
        let path = self.path(id);
        match object.0.is_empty() {
            false => file::write(&path, &object.encode())?,
            true if path.exists() => fs::remove_file(&path).map_err(failed("remove", &path))?,
            true => return Ok(()),
        }
        self.unsynced().insert(path);
        Ok(())
    }

    fn counters(&self) -> Result<Counters> {
        self.check_is_there()?;
        let path = self.folder.join(COUNTERS);
        let Some(contents) = file::read(&path)? else { return Ok(Counters::default()) };
        let mut reader = Reader(&contents);
        let (Some(epoch), Some(next_id)) = (reader.u64(), reader.u64()) else {
            return Err(Error::corrupt("the counters are malformed", path.display().to_string()));
        };
        Ok(Counters { epoch, next_id })
    }

    fn set_counters(&self, counters: Counters) -> Result<()> {
        let path = self.folder.join(COUNTERS);
        let mut contents = Vec::new();
        contents.put_u64(counters.epoch);
        contents.put_u64(counters.next_id);
        file::write(&path, &contents)?;
        self.unsynced().insert(path);
        Ok(())
    }

    /// Applies updates object by object, and counts them as one epoch. The lock is held.
    fn apply(&self, updates: &[Update<'_>]) -> Result<Epoch> {
        let mut counters = self.counters()?;
        if updates.is_empty() {
            return Ok(Epoch(counters.epoch));
        }
        for run in updates.chunk_by(|one, two| one.object() == two.object()) {
            let id = run[0].object();
            let mut object = self.object(id)?;
            run.iter().for_each(|update| object.apply(update));
            self.replace(id, &object)?;
        }
        counters.epoch += 1;
        self.set_counters(counters)?;
        Ok(Epoch(counters.epoch))
    }

    /// Looks at each cell's content, in order. The lock makes it one state.
    fn look<T>(&self, cells: &[Cell<'_>], each: impl Fn(&Content) -> Option<T>) -> Result<Vec<Option<T>>> {
        let _lock = lock();
        let mut found = Vec::with_capacity(cells.len());
        for run in cells.chunk_by(|one, two| one.object == two.object) {
            let object = self.object(run[0].object)?;
            found.extend(run.iter().map(|cell| object.get(cell).and_then(&each)));
        }
        Ok(found)
    }
}

/// Refuses a transaction of more than one cell, and a read set.
fn check_one_cell(transaction: &Transaction<'_>) -> Result<()> {
    let unsupported = |what: &str| Err(Error::Unsupported { engine: SCHEME, what: what.to_owned() });
    let Transaction { preconditions, updates } = transaction;
    if preconditions.iter().any(|condition| matches!(condition, Precondition::Unchanged(..))) {
        return unsupported("transactions with a read set");
    }
    let of_updates = updates.iter().map(|update| match update {
        Update::RemoveDkey { .. } | Update::Destroy { .. } => None,
        of_cell => Some(of_cell.scope()),
    });
    let cells: Vec<_> =
        preconditions.iter().map(|condition| Some(condition.cell())).chain(of_updates).collect();
    match cells.iter().all(|cell| *cell == cells[0]) && (cells.len() < 2 || cells[0].is_some()) {
        true => Ok(()),
        false => unsupported("transactions of more than one cell"),
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
            return Err(Error::invalid("allocation of 0 object ids", "at least 1"));
        }
        let _lock = lock();
        let counters = self.counters()?;
        let start = counters.next_id;
        let end = start.checked_add(count);
        let next_id = end.ok_or_else(|| Error::NoSpace { what: format!("{count} more object ids") })?;
        self.set_counters(Counters { next_id, ..counters })?;
        // Nobody may get them again, whatever crashes.
        file::sync(&self.folder.join(COUNTERS))?;
        file::sync(&self.folder)?;
        Ok(IdRange { start, end: next_id })
    }

    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| update.check_for(SCHEME, CAPABILITIES.redundancy))?;
        let _lock = lock();
        self.apply(updates).map(drop)
    }

    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<()> {
        self.update(&[Update::Write { cell: Cell::array(object), offset: 0, data }])
    }

    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        transaction.check_for(SCHEME, CAPABILITIES.redundancy)?;
        check_one_cell(transaction)?;
        let _lock = lock();
        for precondition in &transaction.preconditions {
            if !self.object(precondition.cell().object)?.holds(precondition) {
                return Err(precondition.conflict());
            }
        }
        self.apply(&transaction.updates)
    }

    fn flush(&self) -> Result<()> {
        let unsynced = std::mem::take(&mut *self.unsynced());
        if unsynced.is_empty() {
            return Ok(());
        }
        self.check_is_there()?;
        unsynced.iter().filter(|path| path.exists()).try_for_each(|path| file::sync(path))?;
        file::sync(&self.folder)
    }

    fn epoch(&self) -> Result<Epoch> {
        let _lock = lock();
        Ok(Epoch(self.counters()?.epoch))
    }

    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        cells.iter().try_for_each(Cell::check_value)?;
        self.look(cells, |content| match content {
            Content::Value(value) => Some(value.clone()),
            Content::Bytes(_) => None,
        })
    }

    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        cells.iter().try_for_each(Cell::check)?;
        self.look(cells, |content| Some(content.size()))
    }

    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        reads.iter().try_for_each(|read| read.cell.check_extent())?;
        let _lock = lock();
        for read in reads {
            read.filled = match self.object(read.cell.object)?.get(&read.cell) {
                Some(Content::Bytes(bytes)) => bytes.read(read.offset, read.buffer),
                _ => 0,
            };
        }
        Ok(())
    }

    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        object.expect_type(ObjectType::KeyValue)?;
        let _lock = lock();
        let object = self.object(object)?;
        let entries = object.0.iter().map(|((key, _), content)| match content {
            Content::Value(value) if values => (&key[..], &value[..]),
            _ => (&key[..], &[][..]),
        });
        Page::of(entries.skip_while(|(key, _)| *key <= anchor.as_bytes()), limit)
    }

    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        object.expect_type(ObjectType::General)?;
        let _lock = lock();
        let object = self.object(object)?;
        let dkeys: BTreeSet<&[u8]> = object.0.keys().map(|(dkey, _)| &dkey[..]).collect();
        let dkeys = dkeys.into_iter().filter(|dkey| *dkey > anchor.as_bytes());
        Page::of(dkeys.map(|dkey| (dkey, &[][..])), limit)
    }

    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        Update::RemoveDkey { object, dkey }.check()?;
        let _lock = lock();
        let object = self.object(object)?;
        let akeys = object.0.keys().filter(|(there, akey)| there == dkey && **akey > *anchor.as_bytes());
        Page::of(akeys.map(|(_, akey)| (&akey[..], &[][..])), limit)
    }

    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        check_limit(limit)?;
        self.check_is_there()?;
        let mut objects = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed("list", &self.folder))? {
            let name = entry.map_err(failed("list", &self.folder))?.file_name();
            objects.extend(name.to_str().and_then(|name| name.strip_suffix(OBJECT)).map(str::to_owned));
        }
        objects.sort_unstable();
        objects.retain(|name| name.as_bytes() > anchor.as_bytes());
        let next = objects.get(limit).and(objects.get(limit - 1));
        let next = next.map(|last| Anchor::from_bytes(last.clone().into_bytes()));
        objects.truncate(limit);
        Ok((objects.iter().map(|name| name.parse()).collect::<Result<_>>()?, next))
    }
}
