//! Snapshots of a store: whole datasets as they were, under a name.
//!
//! What must stay true:
//! - Every root has the name before any container has a snapshot, so whatever a kill leaves is found by its name.
//! - The datasets enter the root with the name, on the condition that they are still listed. So of a wipe and a snapshot at
//!   least one sees the other, and a dataset that a snapshot shows keeps its containers.
//! - The catalogue's container comes before the store's: what an index names then was in the store before. Nothing may
//!   have been taken out of the index between the two.

use std::sync::Arc;

use isotach_mars::{Key, Request};
use isotach_object::{
    Cell, Container, Epoch, Error as ObjectError, Label, Pool, Precondition, Transaction, Update,
};

use crate::{
    Error, FieldStore, Result, Selection,
    bytes::{Reader, push_text},
    layout::{COLLOCATION, DATASET, DATASETS, SNAPSHOTS, new_incarnation, parse_named_text},
    record::Record,
    root::{Root, conflict_is_false, for_each},
    store::Inner,
    sync::now_us,
};

/// The version of the record of a snapshot.
const RECORD_VERSION: u8 = 1;
/// How often something is tried again that others changed meanwhile.
const ATTEMPTS: u32 = 64;

/// A snapshot of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSnapshot {
    /// Its name.
    pub name: Label,
    /// When it was made, in microseconds since 1970 UTC.
    pub created_us: u64,
    /// The request that chose its datasets.
    pub request: String,
    /// Its datasets.
    pub datasets: Vec<Key>,
    /// Whether it can be read. If not, whoever made or removed it has not finished, or was killed: it can be removed.
    pub is_complete: bool,
}

/// What a root says of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    is_complete: bool,
    /// Drawn by who made it, so that nobody takes another's for his own.
    maker: u64,
    created_us: u64,
    request: String,
}

impl Header {
    fn encode(&self) -> Vec<u8> {
        let mut out = vec![RECORD_VERSION, self.is_complete.into(), 0, 0];
        out.extend_from_slice(&self.maker.to_le_bytes());
        out.extend_from_slice(&self.created_us.to_le_bytes());
        push_text(&mut out, &self.request);
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let [RECORD_VERSION, is_complete @ (0 | 1), 0, 0] = reader.take::<4>()? else { return None };
        let (maker, created_us) = (reader.u64()?, reader.u64()?);
        let request = reader.text()?.to_owned();
        Some(Self { is_complete: is_complete == 1, maker, created_us, request })
    }
}

/// The key of a dataset of a snapshot in the root: the name, `@`, the dataset's text.
pub(crate) fn kept_key(name: &Label, dataset: &str) -> String {
    format!("{name}@{dataset}")
}

/// Reads [`kept_key`] back. A name holds no `@`, so its own entry is none of these.
pub(crate) fn parse_kept_key(key: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(key).ok()?.split_once('@')
}

impl FieldStore {
    /// Names the present state of the datasets that a request may mean, so that it stays readable through
    /// [`FieldStore::at`] whatever is archived or wiped later. It shows what was flushed before, and each dataset at one
    /// moment of its own. Keys of the request below the dataset level are not looked at. Bytes of files that were
    /// adopted, and of locations in other containers, are as safe as they are without.
    ///
    /// # Errors
    /// `AlreadyExists` for a name that is taken; [`Error::Invalid`] for one that cannot be, and for a request that means no
    /// dataset; `Unsupported` where an engine has no snapshots; [`Error::LostDataset`] or [`Error::DamagedDataset`]; else as
    /// [`FieldStore::list`]. Nothing is left of a snapshot that failed, as far as it can be removed.
    pub fn snapshot(&self, request: &Request, name: &str) -> Result<StoreSnapshot> {
        self.inner.check_present("make a snapshot of")?;
        let name: Label = name.parse()?;
        let (maker, created_us, request_text) = (new_incarnation(), now_us(), request.to_string());
        let header = Header { is_complete: false, maker, created_us, request: request_text };
        let selections = self.reserve(request, &name, &header)?;
        let made = selections.iter().try_for_each(|selection| self.inner.keep(selection, &name));
        let made = made.and_then(|()| {
            let complete = Header { is_complete: true, ..header.clone() };
            self.inner.roots.iter().try_for_each(|root| root.replace_header(&name, &header, &complete))
        });
        if let Err(error) = made {
            let _ = self.inner.remove_snapshot(&name);
            return Err(error);
        }
        let datasets = selections.iter().map(|selection| selection.entry.key.clone()).collect();
        let Header { request, .. } = header;
        Ok(StoreSnapshot { name, created_us, request, datasets, is_complete: true })
    }

    /// Takes the name in every root, and enters the datasets there.
    fn reserve(&self, request: &Request, name: &Label, header: &Header) -> Result<Vec<Selection>> {
        for _ in 0..ATTEMPTS {
            let selections = self.select(request)?;
            if selections.is_empty() {
                let expected = "a request that means a dataset of the store";
                return Err(Error::invalid(format!("a snapshot of no dataset ({request})"), expected));
            }
            self.inner.check_engines(&selections)?;
            let mut taken = Ok(true);
            for root in &self.inner.roots {
                let own = selections.iter().filter(|selection| selection.root.uri() == root.uri());
                taken = root.enter(name, header, own);
                if !matches!(taken, Ok(true)) {
                    break;
                }
            }
            match taken {
                Ok(true) => return Ok(selections),
                Ok(false) => {}
                // Another's: what this call entered elsewhere is its own.
                Err(error) => {
                    self.inner.take_back(name, header)?;
                    return Err(error);
                }
            }
            self.inner.take_back(name, header)?;
        }
        let what = format!("snapshot {name}: its datasets change again and again");
        Err(ObjectError::Conflict { what }.into())
    }

    /// All snapshots, oldest first.
    ///
    /// # Errors
    /// What the catalogue's engine reports.
    pub fn snapshots(&self) -> Result<Vec<StoreSnapshot>> {
        let mut all: Vec<StoreSnapshot> = Vec::new();
        for root in &self.inner.roots {
            for found in root.snapshots()? {
                match all.iter_mut().find(|known| known.name == found.name) {
                    Some(known) => {
                        known.datasets.extend(found.datasets);
                        known.is_complete &= found.is_complete;
                    }
                    None => all.push(found),
                }
            }
        }
        all.sort_by(|a, b| (a.created_us, &a.name).cmp(&(b.created_us, &b.name)));
        Ok(all)
    }

    /// A handle on the store as a snapshot shows it: its datasets, and no others. What reads works on it, with the locks of
    /// today; what would change the store fails with [`Error::ReadOnly`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use isotach_fields::{Config, FieldStore};
    /// use isotach_mars::{Key, Request};
    /// # use isotach_object::{Registry, memory::Memory};
    /// # let registry = Registry::new().with(Arc::new(Memory::new()));
    /// # let config = Config::single(&"memory:doc".parse()?).with_schema("[ class [ type [ step: Step ]]]");
    /// # let store = FieldStore::create(&config, &registry)?;
    /// let key: Key = "class=od,type=fc,step=6".parse()?;
    /// store.archive(&key, b"old")?;
    /// store.flush()?;
    /// store.snapshot(&"class=od".parse()?, "before")?;
    /// store.archive(&key, b"new")?;
    /// store.flush()?;
    /// assert_eq!(store.at("before")?.retrieve_one(&key)?.unwrap(), b"old");
    /// store.wipe(&"class=od".parse()?, true)?;
    /// assert_eq!(store.at("before")?.retrieve_one(&key)?.unwrap(), b"old", "a snapshot outlives its dataset");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `NotFound`; what the catalogue's engine reports.
    pub fn at(&self, name: &str) -> Result<Self> {
        let name: Label = name.parse()?;
        let mut inner = self.inner.at(&name);
        // A space that was added later does not know it.
        let mut kept = Vec::new();
        for root in inner.roots.drain(..) {
            if root.header(&name)?.is_some() {
                root.check_past()?;
                kept.push(root);
            }
        }
        inner.roots = kept;
        match inner.roots.is_empty() {
            true => Err(absent(&name)),
            false => Ok(Self { inner: inner.into() }),
        }
    }

    /// Removes a snapshot, and what only it kept. Who reads it may go on with what is open or fail with `NotFound`.
    ///
    /// # Errors
    /// `NotFound`; what the engines report. What is left then can be removed by another call.
    pub fn remove_snapshot(&self, name: &str) -> Result<()> {
        self.inner.check_present("remove a snapshot of")?;
        self.inner.remove_snapshot(&name.parse()?)
    }
}

fn absent(name: &Label) -> Error {
    ObjectError::not_found(format!("snapshot {name}")).into()
}

impl Inner {
    /// Refuses where an engine has no snapshots, before anything is done.
    fn check_engines(&self, selections: &[Selection]) -> Result<()> {
        let check = |pool: &dyn Pool| {
            let capabilities = pool.capabilities();
            if capabilities.snapshots && capabilities.transactions {
                return Ok(());
            }
            let engine = self.scheme_of(pool)?;
            Err(Error::Object(ObjectError::Unsupported { engine, what: "snapshots".to_owned() }))
        };
        for Selection { root, entry, .. } in selections {
            check(&*root.pool)?;
            if !entry.record.store.is_empty() {
                check(&*self.pool(&entry.record.store.parse()?)?)?;
            }
        }
        Ok(())
    }

    /// Gives up a name that this call has taken in some roots.
    fn take_back(&self, name: &Label, header: &Header) -> Result<()> {
        for root in &self.roots {
            if root.header(name)?.as_ref() == Some(header) {
                root.forget(name)?;
            }
        }
        Ok(())
    }

    /// The containers of a dataset, the catalogue's first.
    fn containers_of(&self, root: &Root, record: &Record) -> Result<Vec<Arc<dyn Container>>> {
        let label = record.label.parse()?;
        let mut containers = vec![root.pool.open_container(&label)?];
        if !record.store.is_empty() {
            containers.push(self.pool(&record.store.parse()?)?.open_container(&label)?);
        }
        Ok(containers)
    }

    /// Makes the snapshots of a dataset's containers.
    fn keep(&self, selection: &Selection, name: &Label) -> Result<()> {
        let Selection { root, entry, .. } = selection;
        let opened = self.with_room(|| self.containers_of(root, &entry.record));
        let kept = opened.and_then(|containers| keep_all(&containers, name));
        if kept.map_err(|error| Error::of_listed(&entry.key, error))? {
            return Ok(());
        }
        let what = format!("dataset {}: it is wiped again and again", entry.key);
        Err(ObjectError::Conflict { what }.into())
    }

    fn remove_snapshot(&self, name: &Label) -> Result<()> {
        let mut was_there = false;
        for root in &self.roots {
            let Some(header) = root.header(name)? else { continue };
            was_there = true;
            // Whoever looks for it must not find a part.
            root.replace_header(name, &header, &Header { is_complete: false, ..header.clone() })?;
        }
        if !was_there {
            return Err(absent(name));
        }
        for root in &self.roots {
            let records = root.kept(name)?;
            for (_, record) in &records {
                let containers = match self.with_room(|| self.containers_of(root, record)) {
                    Err(Error::Object(ObjectError::NotFound { .. })) => continue,
                    containers => containers?,
                };
                for container in containers {
                    match container.destroy_snapshot(name) {
                        Ok(()) | Err(ObjectError::NotFound { .. }) => container.flush()?,
                        Err(error) => return Err(error.into()),
                    };
                }
            }
            root.forget(name)?;
            for (text, record) in &records {
                let now = root.lookup(text)?;
                if now.is_none_or(|now| now.record.incarnation != record.incarnation) {
                    self.destroy_containers(root, record)?;
                }
            }
        }
        Ok(())
    }
}

/// Makes the snapshots of a dataset's containers, of which the catalogue's is the first. False if it is wiped meanwhile,
/// again and again.
fn keep_all(containers: &[Arc<dyn Container>], name: &Label) -> Result<bool> {
    for _ in 0..ATTEMPTS {
        let epochs = containers.iter().map(|container| container.create_snapshot(name));
        let epochs = epochs.collect::<std::result::Result<Vec<_>, _>>()?;
        let whole = match (containers, &epochs[..]) {
            ([catalogue, _, ..], [taken_at, ..]) => is_whole_since(&**catalogue, name, *taken_at)?,
            _ => true,
        };
        if whole {
            containers.iter().try_for_each(|container| container.flush().map(drop))?;
            return Ok(true);
        }
        containers.iter().try_for_each(|container| container.destroy_snapshot(name))?;
    }
    Ok(false)
}

/// Whether no collocation that the catalogue's snapshot shows was removed, or put anew, since it was made.
fn is_whole_since(catalogue: &dyn Container, name: &Label, epoch: Epoch) -> Result<bool> {
    let mut keys = Vec::new();
    for_each(&*catalogue.open_snapshot(name)?, DATASET, |key, _| {
        if key.first() == Some(&COLLOCATION) {
            keys.push(key.to_vec());
        }
        Ok(())
    })?;
    let unchanged = |key| Precondition::Unchanged(Cell::kv(DATASET, key), epoch);
    let preconditions = keys.iter().map(|key| unchanged(key.as_slice())).collect();
    conflict_is_false(catalogue.commit(&Transaction { preconditions, updates: Vec::new() }))
}

impl Root {
    fn header(&self, name: &Label) -> Result<Option<Header>> {
        let Some(record) = self.get(SNAPSHOTS, name.as_str().as_bytes())? else { return Ok(None) };
        let header = Header::decode(&record);
        header.map(Some).ok_or_else(|| self.corrupt(&format!("the entry of snapshot {name}")).into())
    }

    /// Refuses to show a snapshot that is not there, or not whole.
    pub(crate) fn check_past(&self) -> Result<()> {
        let Some(name) = &self.past else { return Ok(()) };
        match self.header(name)?.is_some_and(|header| header.is_complete) {
            true => Ok(()),
            false => Err(absent(name)),
        }
    }

    /// Takes a name, if it is free, and enters these datasets under it. False if one of them is not as it was.
    fn enter<'s>(
        &self,
        name: &Label,
        header: &Header,
        datasets: impl Iterator<Item = &'s Selection>,
    ) -> Result<bool> {
        let own = Cell::kv(SNAPSHOTS, name.as_str().as_bytes());
        let header = header.encode();
        let datasets: Vec<_> = datasets
            .map(|Selection { entry, .. }| (&*entry.text, kept_key(name, &entry.text), entry.record.encode()))
            .collect();
        let mut transaction = Transaction::new().require(Precondition::Absent(own));
        transaction = transaction.update(Update::Put { cell: own, value: &header });
        for (text, key, record) in &datasets {
            let listed = Cell::kv(DATASETS, text.as_bytes());
            let put = Update::Put { cell: Cell::kv(SNAPSHOTS, key.as_bytes()), value: record };
            transaction = transaction.require(Precondition::Equals(listed, record)).update(put);
        }
        let entered = conflict_is_false(self.container.commit(&transaction))?;
        self.container.flush()?;
        if !entered && self.header(name)?.is_some() {
            let what = format!("snapshot {name} of {}", self.uri());
            return Err(ObjectError::AlreadyExists { what }.into());
        }
        Ok(entered)
    }

    fn replace_header(&self, name: &Label, old: &Header, new: &Header) -> Result<()> {
        let (old, new) = (old.encode(), new.encode());
        let cell = Cell::kv(SNAPSHOTS, name.as_str().as_bytes());
        let transaction = Transaction::new().require(Precondition::Equals(cell, &old));
        self.container.commit(&transaction.update(Update::Put { cell, value: &new }))?;
        self.container.flush()?;
        Ok(())
    }

    /// The datasets of a snapshot: their texts and records.
    fn kept(&self, name: &Label) -> Result<Vec<(String, Record)>> {
        let mut kept = Vec::new();
        self.for_each_kept(|of, text, record| {
            if of == name.as_str() {
                kept.push((text.to_owned(), record));
            }
        })?;
        Ok(kept)
    }

    /// The snapshots that show a dataset in this life.
    pub(crate) fn keepers(&self, record: &Record) -> Result<Vec<String>> {
        let mut keepers = Vec::new();
        self.for_each_kept(|of, _, kept| {
            if kept.incarnation == record.incarnation {
                keepers.push(of.to_owned());
            }
        })?;
        Ok(keepers)
    }

    fn for_each_kept(&self, mut each: impl FnMut(&str, &str, Record)) -> Result<()> {
        for_each(&*self.container, SNAPSHOTS, |key, record| {
            let Some((name, text)) = parse_kept_key(key) else { return Ok(()) };
            let damaged = || self.corrupt(&format!("dataset {text} of snapshot {name}"));
            each(name, text, Record::decode(record).ok_or_else(damaged)?);
            Ok(())
        })
    }

    fn snapshots(&self) -> Result<Vec<StoreSnapshot>> {
        let mut found: Vec<StoreSnapshot> = Vec::new();
        for_each(&*self.container, SNAPSHOTS, |key, record| {
            let damaged = || self.corrupt(&format!("the entry of snapshot {:?}", key.escape_ascii()));
            // An engine may list in any order, so the datasets are looked for below.
            if parse_kept_key(key).is_none() {
                let name = std::str::from_utf8(key).ok().and_then(|name| name.parse().ok());
                let (name, header) = name.zip(Header::decode(record)).ok_or_else(damaged)?;
                let Header { is_complete, created_us, request, .. } = header;
                found.push(StoreSnapshot { name, created_us, request, datasets: Vec::new(), is_complete });
            }
            Ok(())
        })?;
        self.for_each_kept(|name, text, _| {
            let snapshot = found.iter_mut().find(|snapshot| snapshot.name.as_str() == name);
            if let (Some(snapshot), Some(key)) = (snapshot, parse_named_text(text)) {
                snapshot.datasets.push(key);
            }
        })?;
        Ok(found)
    }

    /// Removes a name with its datasets.
    fn forget(&self, name: &Label) -> Result<()> {
        let mut keys = vec![name.as_str().to_owned()];
        keys.extend(self.kept(name)?.iter().map(|(text, _)| kept_key(name, text)));
        let removed = keys.iter().map(|key| Update::Remove { cell: Cell::kv(SNAPSHOTS, key.as_bytes()) });
        self.container.commit(&Transaction { preconditions: Vec::new(), updates: removed.collect() })?;
        self.container.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_and_a_key_read_back() {
        let header = Header { is_complete: true, maker: 9, created_us: 7, request: "class=od".to_owned() };
        let bytes = header.encode();
        assert_eq!(Header::decode(&bytes), Some(header));
        for cut in 0..bytes.len() {
            assert_eq!(Header::decode(&bytes[..cut]), None, "cut at {cut}");
        }
        let name: Label = "a.b:c-d_e".parse().unwrap();
        let key = kept_key(&name, "od@1 class,expver");
        assert_eq!(parse_kept_key(key.as_bytes()), Some((name.as_str(), "od@1 class,expver")));
        assert_eq!(parse_kept_key(name.as_str().as_bytes()), None);
    }
}
