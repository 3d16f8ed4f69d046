//! Snapshots of a store: whole datasets as they were, under a name.
//!
//! What must stay true:
//! - Every root has the name before any container has a snapshot, so whatever a kill leaves is found by its name.
//! - Who makes or removes one touches what has the number of its maker, and nothing else: whoever was slow finds the name
//!   another's, or gone, and removes what it made itself.
//! - The datasets enter the root with the name, on the condition that they are still listed. So of a wipe and a snapshot at
//!   least one sees the other, and a dataset that a snapshot shows keeps its containers.
//! - The catalogue's container comes before the store's: what an index names then was in the store before. Nothing may
//!   have been wiped or purged between the two.

use std::{collections::HashSet, sync::Arc};

use isotach_mars::{Key, Request};
use isotach_object::{Cell, Container, Epoch, Error as ObjectError, Label, Pool, Precondition, Transaction};

use crate::{
    Action, DatasetsDone, Error, FieldStore, Result, Selection,
    catalogue::{
        layout::{COLLOCATION, DATASET, ENTRY_PURGE, new_incarnation},
        record::Record,
        root::{Root, conflict_is_false, for_each},
        snapshot_record::{Header, Past, State},
    },
    store::Inner,
    sync::now_us,
};

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
        self.snapshot_telling(request, name, &|_, _| ())
    }

    /// As [`FieldStore::snapshot`], and tells how many datasets are done.
    ///
    /// # Errors
    /// As [`FieldStore::snapshot`].
    pub fn snapshot_telling(
        &self,
        request: &Request,
        name: &str,
        progress: DatasetsDone<'_>,
    ) -> Result<StoreSnapshot> {
        self.inner.check_present("make a snapshot of")?;
        let name: Label = name.parse()?;
        self.inner.check_everywhere(Action::Archive, &format!("snapshot {name}"))?;
        let (selections, past, header) = self.reserve(request, &name)?;
        match self.inner.make(&selections, &past, &header, progress) {
            Ok(true) => {}
            Ok(false) => {
                self.inner.discard(&past, &selections)?;
                let what = format!("snapshot {name}: it was removed while it was made");
                return Err(ObjectError::Conflict { what }.into());
            }
            Err(error) => {
                let _ = self.inner.discard(&past, &selections);
                return Err(error);
            }
        }
        let datasets = selections.iter().map(|selection| selection.entry.key.clone()).collect();
        let Header { request, created_us, .. } = header;
        Ok(StoreSnapshot { name, created_us, request, datasets, is_complete: true })
    }

    /// Takes the name in every root, and enters the datasets there.
    fn reserve(&self, request: &Request, name: &Label) -> Result<(Vec<Selection>, Past, Header)> {
        for _ in 0..ATTEMPTS {
            let (mut selections, gone) = self.inner.layers(self.select(request)?)?;
            gone.into_iter().next().map_or(Ok(()), Err)?;
            // What an overlay shows belongs to it, once however many show it.
            let mut known = HashSet::new();
            selections.retain(|selection| known.insert(selection.entry.record.incarnation));
            if selections.is_empty() {
                let expected = "a request that means a dataset of the store";
                return Err(Error::invalid(format!("a snapshot of no dataset ({request})"), expected));
            }
            self.inner.check_engines(&selections)?;
            // Another number each time: what enters a root once never comes there again.
            let (maker, created_us, request) = (new_incarnation(), now_us(), request.to_string());
            let header = Header { state: State::Making, maker, created_us, request };
            let past = Past::new(name, maker)?;
            let mut taken = Ok(true);
            for root in &self.inner.roots {
                let own = selections.iter().filter(|selection| selection.root.uri() == root.uri());
                taken = root.enter(name, &header, own);
                if !matches!(taken, Ok(true)) {
                    break;
                }
            }
            if let Ok(true) = taken {
                return Ok((selections, past, header));
            }
            // Another's name stays: what this call entered elsewhere is its own.
            self.inner.discard(&past, &[])?;
            taken?;
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
        let headers = self.inner.roots.iter().map(|root| root.header(&name));
        let headers = headers.collect::<Result<Vec<_>>>()?;
        let first = headers.iter().flatten().next().ok_or_else(|| Past::absent(&name))?;
        let mut inner = self.inner.at(&Arc::new(Past::new(&name, first.maker)?));
        // A space that was added later does not know it.
        let roots = inner.roots.drain(..).zip(&headers).filter(|(_, header)| header.is_some());
        inner.roots = roots.map(|(root, _)| root).collect();
        inner.roots.iter().try_for_each(|root| root.check_past())?;
        Ok(Self { inner: inner.into() })
    }

    /// Removes a snapshot, and what only it kept. Who reads it may go on with what is open or fail with `NotFound`.
    ///
    /// # Errors
    /// `NotFound`; what the engines report. What is left then can be removed by another call.
    pub fn remove_snapshot(&self, name: &str) -> Result<()> {
        self.inner.check_present("remove a snapshot of")?;
        let name: Label = name.parse()?;
        self.inner.check_everywhere(Action::Wipe, &format!("snapshot {name}"))?;
        let mut makers = Vec::new();
        for root in &self.inner.roots {
            makers.extend(root.header(&name)?.map(|header| header.maker));
        }
        makers.dedup();
        if makers.is_empty() {
            return Err(Past::absent(&name));
        }
        makers.into_iter().try_for_each(|maker| self.inner.discard(&Past::new(&name, maker)?, &[]))
    }
}

impl Inner {
    /// Refuses where an engine has no snapshots, before anything is done.
    fn check_engines(&self, selections: &[Selection]) -> Result<()> {
        let check = |pool: &dyn Pool| {
            let can = pool.capabilities();
            if can.snapshots && can.transactions {
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

    /// The containers of a dataset, the catalogue's first, opened as far as to answer: what comes next opens little more.
    fn open_containers(&self, root: &Root, record: &Record) -> Result<Vec<Arc<dyn Container>>> {
        self.with_room(|| {
            let containers = self.containers_of(root, record)?;
            containers.iter().try_for_each(|container| container.snapshots()?.list().map(drop))?;
            Ok(containers)
        })
    }

    fn containers_of(&self, root: &Root, record: &Record) -> Result<Vec<Arc<dyn Container>>> {
        let label = record.label.parse()?;
        let mut containers = vec![root.pool.open_container(&label)?];
        if !record.store.is_empty() {
            containers.push(self.pool(&record.store.parse()?)?.open_container(&label)?);
        }
        Ok(containers)
    }

    /// Makes the containers' snapshots, and says in every root that it is whole. False if another removes it meanwhile.
    fn make(
        &self,
        selections: &[Selection],
        past: &Past,
        header: &Header,
        progress: DatasetsDone<'_>,
    ) -> Result<bool> {
        for (done, selection) in selections.iter().enumerate() {
            progress(done as u64, selections.len() as u64);
            match self.keep(selection, past) {
                Ok(()) => {}
                // What is not there was removed with the name.
                Err(error) => match selection.root.header_of(past)?.as_ref() == Some(header) {
                    true => return Err(error),
                    false => return Ok(false),
                },
            }
        }
        let whole = header.to(State::Whole);
        for root in &self.roots {
            if !root.replace_header(&past.name, header, &whole)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes the snapshots of a dataset's containers.
    fn keep(&self, selection: &Selection, past: &Past) -> Result<()> {
        let Selection { root, entry, .. } = selection;
        let opened = self.open_containers(root, &entry.record);
        let kept = opened.and_then(|containers| self.keep_all(&containers, &past.kept_as));
        if kept.map_err(|error| Error::of_listed(&entry.key, error))? {
            return Ok(());
        }
        let what = format!("dataset {}: it is wiped or purged again and again", entry.key);
        Err(ObjectError::Conflict { what }.into())
    }

    /// Removes a snapshot, in whatever state it is, and nothing of another one, though that has its name by now. `made`
    /// are datasets of which this call made it: they are looked into whatever the roots say.
    fn discard(&self, past: &Past, made: &[Selection]) -> Result<()> {
        // Whoever looks for it must not find a part.
        let headers = self.roots.iter().map(|root| root.begin_removal(past));
        let headers = headers.collect::<Result<Vec<_>>>()?;
        made.iter().try_for_each(|made| self.let_go(&made.root, &made.entry.record, past))?;
        for (root, header) in self.roots.iter().zip(headers) {
            let Some(header) = header else { continue };
            let kept = root.kept(&past.name)?;
            if root.header(&past.name)?.as_ref() != Some(&header) {
                // Another was faster, and these may be another snapshot's.
                continue;
            }
            kept.iter().try_for_each(|(_, record)| self.let_go(root, record, past))?;
            if !root.forget(&past.name, &header, &kept)? {
                continue;
            }
            for (text, record) in &kept {
                let now = root.lookup(text)?;
                if now.is_none_or(|now| now.record.incarnation != record.incarnation) {
                    self.destroy_containers(root, record)?;
                }
            }
        }
        Ok(())
    }

    /// Destroys the snapshots of a dataset's containers, as far as they are there.
    fn let_go(&self, root: &Root, record: &Record, past: &Past) -> Result<()> {
        let containers = match self.open_containers(root, record) {
            Err(Error::Object(ObjectError::NotFound { .. })) => return Ok(()),
            containers => containers?,
        };
        for container in containers {
            match container.snapshots()?.destroy(&past.kept_as) {
                Ok(()) | Err(ObjectError::NotFound { .. }) => container.flush()?,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(())
    }

    /// Makes the snapshots of a dataset's containers, of which the catalogue's is the first. False if it is wiped or purged
    /// meanwhile, again and again.
    fn keep_all(&self, containers: &[Arc<dyn Container>], name: &Label) -> Result<bool> {
        for _ in 0..ATTEMPTS {
            let epochs = containers.iter().map(|container| container.snapshots()?.create(name));
            let epochs = epochs.collect::<std::result::Result<Vec<_>, _>>()?;
            let whole = match (containers, &epochs[..]) {
                ([catalogue, _, ..], [taken_at, ..]) => self.is_whole_since(&**catalogue, name, *taken_at)?,
                _ => true,
            };
            if whole {
                containers.iter().try_for_each(|container| container.flush())?;
                return Ok(true);
            }
            containers.iter().try_for_each(|container| container.snapshots()?.destroy(name))?;
        }
        Ok(false)
    }

    /// Whether no collocation that the catalogue's snapshot shows was removed, or put anew, and no field purged since it was made.
    fn is_whole_since(&self, catalogue: &dyn Container, name: &Label, epoch: Epoch) -> Result<bool> {
        let keys = self.with_room(|| {
            let mut keys = Vec::new();
            for_each(&*catalogue.snapshots()?.open(name)?, DATASET, |key, _| {
                if key.first() == Some(&COLLOCATION) {
                    keys.push(key.to_vec());
                }
                Ok(())
            })?;
            Ok(keys)
        })?;
        let unchanged = |key| Precondition::Unchanged(Cell::kv(DATASET, key), epoch);
        let keys = keys.iter().map(Vec::as_slice).chain([ENTRY_PURGE]);
        let preconditions = keys.map(unchanged).collect();
        conflict_is_false(catalogue.commit(&Transaction { preconditions, updates: Vec::new() }))
    }
}
