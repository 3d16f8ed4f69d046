//! Snapshots of a store: the state of whole datasets at one time, under a name.
//!
//! What must stay true:
//! - Every root lists the name before any container has a snapshot, so whatever a kill leaves is found by its name.
//! - A maker or remover touches only objects that carry its maker's number. A process that was overtaken finds another
//!   number under the name, or none, and removes what it made itself.
//! - The datasets enter the root together with the name, on the condition that they are still listed. So of a wipe and
//!   a snapshot at least one sees the other, and a dataset that a snapshot shows keeps its containers.
//! - The snapshot of the catalogue's container is taken before that of the store's: whatever an index names was in the
//!   store before. Nothing may have been wiped or purged between the two.

use std::{collections::HashSet, sync::Arc};

use isotach_mars::Request;
use isotach_object::{Cell, Container, Epoch, Error as ObjectError, Label, Pool, Precondition, Transaction};

use crate::{
    Action, DatasetsDone, Error, FieldStore, Result, Selection,
    catalogue::{
        layout::{COLLOCATION, DATASET, ENTRY_PURGE, new_incarnation},
        record::Record,
        root::{Root, conflict_is_false, for_each},
        snapshot_record::{Header, SnapshotId, State, StoreSnapshot},
    },
    store::Inner,
    sync::now_us,
};

/// How often an operation is repeated after others changed what it read.
const ATTEMPTS: u32 = 64;

impl FieldStore {
    /// Names the present state of the datasets that match a request, so that it stays readable through
    /// [`FieldStore::at`] whatever is archived or wiped later. The snapshot shows what was flushed before it, and each
    /// dataset at one moment. Keys below the dataset level are ignored. A snapshot does not protect the bytes of
    /// adopted files, nor of locations in other containers.
    ///
    /// # Errors
    /// `AlreadyExists` for a name in use; [`Error::Invalid`] for an invalid name, and for a request that matches no
    /// dataset; `Unsupported` where an engine has no snapshots; [`Error::LostDataset`] or [`Error::DamagedDataset`];
    /// else as [`FieldStore::list`]. A snapshot that fails is removed, as far as that is possible.
    pub fn snapshot(&self, request: &Request, name: &str) -> Result<StoreSnapshot> {
        self.snapshot_with_progress(request, name, &|_, _| ())
    }

    /// As [`FieldStore::snapshot`], and reports how many datasets are done.
    ///
    /// # Errors
    /// As [`FieldStore::snapshot`].
    pub fn snapshot_with_progress(
        &self,
        request: &Request,
        name: &str,
        progress: DatasetsDone<'_>,
    ) -> Result<StoreSnapshot> {
        self.inner.check_present("make a snapshot of")?;
        let name: Label = name.parse()?;
        self.inner.check_everywhere(Action::Archive, &format!("snapshot {name}"))?;
        let (selections, snapshot, header) = self.reserve(request, &name)?;
        match self.inner.make(&selections, &snapshot, &header, progress) {
            Ok(true) => {}
            Ok(false) => {
                self.inner.discard(&snapshot, &selections)?;
                let what = format!("snapshot {name}: it was removed while it was made");
                return Err(ObjectError::Conflict { what }.into());
            }
            Err(error) => {
                let _ = self.inner.discard(&snapshot, &selections);
                return Err(error);
            }
        }
        let datasets = selections.iter().map(|selection| selection.entry.key.clone()).collect();
        let Header { request, created_us, .. } = header;
        Ok(StoreSnapshot { name, created_us, request, datasets, is_complete: true })
    }

    /// Reserves the name in every root, and enters the datasets there.
    fn reserve(&self, request: &Request, name: &Label) -> Result<(Vec<Selection>, SnapshotId, Header)> {
        for _ in 0..ATTEMPTS {
            let (mut selections, gone) = self.inner.layers(self.select(request)?)?;
            gone.into_iter().next().map_or(Ok(()), Err)?;
            // The layers of an overlay belong to the snapshot, each once.
            let mut known = HashSet::new();
            selections.retain(|selection| known.insert(selection.entry.record.incarnation));
            if selections.is_empty() {
                let expected = "a request that means a dataset of the store";
                return Err(Error::invalid(format!("a snapshot of no dataset ({request})"), expected));
            }
            self.inner.check_engines(&selections)?;
            // A new number each time: a number never enters a root twice.
            let (maker, created_us, request) = (new_incarnation(), now_us(), request.to_string());
            let header = Header { state: State::Making, maker, created_us, request };
            let snapshot = SnapshotId::new(name, maker)?;
            let mut taken = Ok(true);
            for root in &self.inner.roots {
                let own = selections.iter().filter(|selection| selection.root.uri() == root.uri());
                taken = root.enter(name, &header, own.map(|selection| &*selection.entry));
                if !matches!(taken, Ok(true)) {
                    break;
                }
            }
            if let Ok(true) = taken {
                return Ok((selections, snapshot, header));
            }
            // A name that another process reserved stays. What this call entered in other roots is its own.
            self.inner.discard(&snapshot, &[])?;
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

    /// A handle on the store as a snapshot shows it: its datasets, and no others. Reading works, with today's locks.
    /// Changes fail with [`Error::ReadOnly`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use isotach_fields::{Config, FieldStore};
    /// use isotach_mars::Key;
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
        let first = headers.iter().flatten().next().ok_or_else(|| SnapshotId::absent(&name))?;
        let mut inner = self.inner.at(&Arc::new(SnapshotId::new(&name, first.maker)?));
        // A space that was added later does not list the snapshot.
        let roots = inner.roots.drain(..).zip(&headers).filter(|(_, header)| header.is_some());
        inner.roots = roots.map(|(root, _)| root).collect();
        inner.roots.iter().try_for_each(|root| root.check_snapshot())?;
        Ok(Self { inner: inner.into() })
    }

    /// Removes a snapshot, and the data that only it kept. A reader of it may continue with what is open, or fail with
    /// `NotFound`.
    ///
    /// # Errors
    /// `NotFound`; what the engines report. Another call removes what a failed call left.
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
            return Err(SnapshotId::absent(&name));
        }
        makers.into_iter().try_for_each(|maker| self.inner.discard(&SnapshotId::new(&name, maker)?, &[]))
    }
}

impl Inner {
    /// Refuses engines without snapshots, before anything is done.
    fn check_engines(&self, selections: &[Selection]) -> Result<()> {
        let check = |pool: &dyn Pool| {
            let can = pool.capabilities();
            if can.snapshots && can.transactions {
                return Ok(());
            }
            let engine = self.scheme_of(pool)?;
            Err(Error::Object(ObjectError::Unsupported { engine, what: "snapshots".to_owned() }))
        };
        selections.iter().try_for_each(|Selection { root, entry, .. }| {
            self.pools_of(root, &entry.record)?.iter().try_for_each(|pool| check(&**pool))
        })
    }

    /// The containers of a dataset, the catalogue's first. Listing their snapshots opens their files now, so that later
    /// calls need few more handles.
    fn open_containers(&self, root: &Root, record: &Record) -> Result<Vec<Arc<dyn Container>>> {
        self.with_handles(|| {
            let containers = self.open_apart(root, record)?;
            containers.iter().try_for_each(|container| container.snapshots()?.list().map(drop))?;
            Ok(containers)
        })
    }

    /// Creates the containers' snapshots, and marks the snapshot as whole in every root. False if another process
    /// removes it meanwhile.
    fn make(
        &self,
        selections: &[Selection],
        snapshot: &SnapshotId,
        header: &Header,
        progress: DatasetsDone<'_>,
    ) -> Result<bool> {
        for (done, selection) in selections.iter().enumerate() {
            progress(done as u64, selections.len() as u64);
            match self.create_dataset_snapshot(selection, snapshot) {
                Ok(()) => {}
                // What does not exist was removed together with the name.
                Err(error) => match selection.root.header_of(snapshot)?.as_ref() == Some(header) {
                    true => return Err(error),
                    false => return Ok(false),
                },
            }
        }
        let whole = header.to(State::Whole);
        for root in &self.roots {
            if !root.replace_header(&snapshot.name, header, &whole)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Creates the snapshots of a dataset's containers.
    fn create_dataset_snapshot(&self, selection: &Selection, snapshot: &SnapshotId) -> Result<()> {
        let Selection { root, entry, .. } = selection;
        let opened = self.open_containers(root, &entry.record);
        let created =
            opened.and_then(|containers| self.create_snapshots(&containers, &snapshot.container_snapshot));
        if created.map_err(|error| Error::of_listed(&entry.key, error))? {
            return Ok(());
        }
        let what = format!("dataset {}: it is wiped or purged again and again", entry.key);
        Err(ObjectError::Conflict { what }.into())
    }

    /// Removes a snapshot in any state, and nothing of another snapshot that has its name by now. `made` are the
    /// datasets whose snapshots this call created: they are checked whatever the roots list.
    fn discard(&self, snapshot: &SnapshotId, made: &[Selection]) -> Result<()> {
        // No reader may find a part of it.
        let headers = self.roots.iter().map(|root| root.begin_removal(snapshot));
        let headers = headers.collect::<Result<Vec<_>>>()?;
        made.iter().try_for_each(|made| self.destroy_snapshots(&made.root, &made.entry.record, snapshot))?;
        for (root, header) in self.roots.iter().zip(headers) {
            let Some(header) = header else { continue };
            let datasets = root.snapshot_datasets(&snapshot.name)?;
            if root.header(&snapshot.name)?.as_ref() != Some(&header) {
                // Another remover was faster, and these may belong to another snapshot.
                continue;
            }
            datasets.iter().try_for_each(|(_, record)| self.destroy_snapshots(root, record, snapshot))?;
            if !root.forget(&snapshot.name, &header, &datasets)? {
                continue;
            }
            for (text, record) in &datasets {
                let now = root.lookup(text)?;
                if now.is_none_or(|now| now.record.incarnation != record.incarnation) {
                    self.destroy_containers(root, record)?;
                }
            }
        }
        Ok(())
    }

    /// Destroys the existing snapshots of a dataset's containers.
    fn destroy_snapshots(&self, root: &Root, record: &Record, snapshot: &SnapshotId) -> Result<()> {
        let containers = match self.open_containers(root, record) {
            Err(Error::Object(ObjectError::NotFound { .. })) => return Ok(()),
            containers => containers?,
        };
        for container in containers {
            match container.snapshots()?.destroy(&snapshot.container_snapshot) {
                Ok(()) | Err(ObjectError::NotFound { .. }) => container.flush()?,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(())
    }

    /// Creates the snapshots of a dataset's containers, the catalogue's first. False if the dataset is wiped or purged
    /// again and again.
    fn create_snapshots(&self, containers: &[Arc<dyn Container>], name: &Label) -> Result<bool> {
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

    /// Whether, since the catalogue's snapshot, no collocation that it shows was removed or put again and no field was
    /// purged.
    fn is_whole_since(&self, catalogue: &dyn Container, name: &Label, epoch: Epoch) -> Result<bool> {
        let keys = self.with_handles(|| {
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
