//! The snapshots that a root lists: entering a name with its datasets, reading them, removing them.

use isotach_object::{Cell, Error as ObjectError, Label, Precondition, Transaction, Update};

use crate::{
    Result,
    catalogue::{
        layout::{DATASETS, SNAPSHOTS, parse_named_text},
        locks::Locks,
        record::Record,
        root::{Entry, Root, conflict_is_false, for_each},
        snapshot_record::{Header, SnapshotId, State, StoreSnapshot, parse_snapshot_key, snapshot_key},
    },
};

impl Root {
    pub(crate) fn header(&self, name: &Label) -> Result<Option<Header>> {
        let Some(record) = self.get(SNAPSHOTS, name.as_str().as_bytes())? else { return Ok(None) };
        let header = Header::decode(&record);
        header.map(Some).ok_or_else(|| self.corrupt(&format!("the entry of snapshot {name}")).into())
    }

    /// Refuses a snapshot that does not exist any more, or is not whole. What was read before this check belongs to it.
    pub(crate) fn check_snapshot(&self) -> Result<()> {
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        match self.header_of(snapshot)?.is_some_and(|header| header.state == State::Whole) {
            true => Ok(()),
            false => Err(SnapshotId::absent(&snapshot.name)),
        }
    }

    /// The header of this snapshot, not of another with its name.
    pub(crate) fn header_of(&self, snapshot: &SnapshotId) -> Result<Option<Header>> {
        Ok(self.header(&snapshot.name)?.filter(|header| header.maker == snapshot.maker))
    }

    /// Reserves a name, if it is free, and enters these datasets under it. False if one of them has changed.
    pub(crate) fn enter<'s>(
        &self,
        name: &Label,
        header: &Header,
        datasets: impl Iterator<Item = &'s Entry>,
    ) -> Result<bool> {
        let own = Cell::kv(SNAPSHOTS, name.as_str().as_bytes());
        let header = header.encode();
        let datasets: Vec<_> = datasets
            .map(|entry| (&*entry.text, snapshot_key(name, &entry.text), entry.record.encode()))
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

    /// Replaces a header, if it is still `old`.
    pub(crate) fn replace_header(&self, name: &Label, old: &Header, new: &Header) -> Result<bool> {
        let cell = Cell::kv(SNAPSHOTS, name.as_str().as_bytes());
        self.change(Precondition::Equals(cell, &old.encode()), Update::Put { cell, value: &new.encode() })
    }

    /// Marks a snapshot as being removed, and returns its new header. `None` if it does not exist.
    pub(crate) fn begin_removal(&self, snapshot: &SnapshotId) -> Result<Option<Header>> {
        while let Some(header) = self.header_of(snapshot)? {
            let removing = header.to(State::Removing);
            if header == removing || self.replace_header(&snapshot.name, &header, &removing)? {
                return Ok(Some(removing));
            }
        }
        Ok(None)
    }

    /// The datasets of a snapshot: their texts and records.
    pub(crate) fn snapshot_datasets(&self, name: &Label) -> Result<Vec<(String, Record)>> {
        let mut datasets = Vec::new();
        self.for_each_snapshot_dataset(|of, text, record| {
            if of == name.as_str() {
                datasets.push((text.to_owned(), record));
            }
        })?;
        Ok(datasets)
    }

    /// The snapshots that show this incarnation of a dataset.
    pub(crate) fn snapshots_showing(&self, record: &Record) -> Result<Vec<String>> {
        let mut snapshots_showing = Vec::new();
        self.for_each_snapshot_dataset(|of, _, shown| {
            if shown.incarnation == record.incarnation {
                snapshots_showing.push(of.to_owned());
            }
        })?;
        Ok(snapshots_showing)
    }

    /// The datasets of snapshots whose incarnation is not listed any more, each with its snapshot.
    pub(crate) fn wiped(&self) -> Result<Vec<(Label, Entry)>> {
        let (mut all, mut wiped) = (Vec::new(), Vec::new());
        self.for_each_snapshot_dataset(|of, text, record| {
            all.push((of.to_owned(), text.to_owned(), record));
        })?;
        for (of, text, record) in all {
            let damaged = || self.corrupt(&format!("dataset {text} of snapshot {of}"));
            let key = parse_named_text(&text).ok_or_else(damaged)?;
            let (locks, forbidden) = (Locks::default(), self.limits.of(&key));
            let entry = Entry { text: text.into(), key, record, locks, forbidden };
            if self.same_incarnation(&entry)?.is_none() {
                wiped.push((of.parse()?, entry));
            }
        }
        Ok(wiped)
    }

    fn for_each_snapshot_dataset(&self, mut each: impl FnMut(&str, &str, Record)) -> Result<()> {
        for_each(&*self.container, SNAPSHOTS, |key, record| {
            let Some((name, text)) = parse_snapshot_key(key) else { return Ok(()) };
            let damaged = || self.corrupt(&format!("dataset {text} of snapshot {name}"));
            each(name, text, Record::decode(record).ok_or_else(damaged)?);
            Ok(())
        })
    }

    pub(crate) fn snapshots(&self) -> Result<Vec<StoreSnapshot>> {
        let mut found: Vec<StoreSnapshot> = Vec::new();
        for_each(&*self.container, SNAPSHOTS, |key, record| {
            let damaged = || self.corrupt(&format!("the entry of snapshot {:?}", key.escape_ascii()));
            // The engine's order is not defined, so the datasets are collected below.
            if parse_snapshot_key(key).is_none() {
                let name = std::str::from_utf8(key).ok().and_then(|name| name.parse().ok());
                let (name, header) = name.zip(Header::decode(record)).ok_or_else(damaged)?;
                let Header { state, created_us, request, .. } = header;
                let is_complete = state == State::Whole;
                found.push(StoreSnapshot { name, created_us, request, datasets: Vec::new(), is_complete });
            }
            Ok(())
        })?;
        self.for_each_snapshot_dataset(|name, text, _| {
            let snapshot = found.iter_mut().find(|snapshot| snapshot.name.as_str() == name);
            if let (Some(snapshot), Some(key)) = (snapshot, parse_named_text(text)) {
                snapshot.datasets.push(key);
            }
        })?;
        Ok(found)
    }

    /// Removes a name with all its datasets, if its header is unchanged.
    pub(crate) fn forget(
        &self,
        name: &Label,
        header: &Header,
        datasets: &[(String, Record)],
    ) -> Result<bool> {
        let (header, own) = (header.encode(), Cell::kv(SNAPSHOTS, name.as_str().as_bytes()));
        let keys: Vec<_> = datasets.iter().map(|(text, _)| snapshot_key(name, text)).collect();
        let mut transaction = Transaction::new().require(Precondition::Equals(own, &header));
        transaction = transaction.update(Update::Remove { cell: own });
        for key in &keys {
            transaction = transaction.update(Update::Remove { cell: Cell::kv(SNAPSHOTS, key.as_bytes()) });
        }
        let done = conflict_is_false(self.container.commit(&transaction))?;
        self.container.flush()?;
        Ok(done)
    }
}
