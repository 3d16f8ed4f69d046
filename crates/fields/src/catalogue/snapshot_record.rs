//! What a root says of snapshots: for each name a header and the datasets that it shows.
//!
//! What must stay true: a header with its maker's number comes once, with all its datasets, and they go together. So what
//! was read under a name is one snapshot's if the same maker's header is there afterwards.

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_object::{Cell, Error as ObjectError, Label, Precondition, Transaction, Update};

use crate::{
    Error, Result, Selection, StoreSnapshot,
    admin::locks::Locks,
    catalogue::{
        layout::{DATASETS, SNAPSHOTS, numbered_label, parse_named_text},
        record::Record,
        root::{Entry, Root, conflict_is_false, for_each},
    },
};

/// The version of the record of a snapshot.
const RECORD_VERSION: u8 = 1;

/// How far a snapshot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It is being made, or its maker was killed.
    Making = 0,
    /// It can be read.
    Whole = 1,
    /// It is being removed, or its remover was killed. It never comes back from here.
    Removing = 2,
}

/// What a root says of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) state: State,
    /// Drawn by who made it, so that nobody takes another's for his own.
    pub(crate) maker: u64,
    pub(crate) created_us: u64,
    pub(crate) request: String,
}

impl Header {
    /// The same snapshot in another state.
    pub(crate) fn to(&self, state: State) -> Self {
        Self { state, ..self.clone() }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = vec![RECORD_VERSION, self.state as u8, 0, 0];
        out.extend_from_slice(&self.maker.to_le_bytes());
        out.extend_from_slice(&self.created_us.to_le_bytes());
        out.put_text(&self.request);
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let [RECORD_VERSION, state, 0, 0] = reader.array::<4>()? else { return None };
        let state = [State::Making, State::Whole, State::Removing].into_iter().find(|s| *s as u8 == state)?;
        let (maker, created_us) = (reader.u64()?, reader.u64()?);
        let request = reader.text()?.to_owned();
        Some(Self { state, maker, created_us, request })
    }
}

/// One snapshot, whatever has its name later.
#[derive(Debug, Clone)]
pub(crate) struct Past {
    pub(crate) name: Label,
    pub(crate) maker: u64,
    /// What the containers call it. With the maker's number in it, so that nobody removes another's.
    pub(crate) kept_as: Label,
}

impl Past {
    pub(crate) fn new(name: &Label, maker: u64) -> Result<Self> {
        Ok(Self { name: name.clone(), maker, kept_as: numbered_label(name.as_str(), maker)? })
    }

    /// There is no such snapshot, or no whole one.
    pub(crate) fn absent(name: &Label) -> Error {
        ObjectError::not_found(format!("snapshot {name}")).into()
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

impl Root {
    pub(crate) fn header(&self, name: &Label) -> Result<Option<Header>> {
        let Some(record) = self.get(SNAPSHOTS, name.as_str().as_bytes())? else { return Ok(None) };
        let header = Header::decode(&record);
        header.map(Some).ok_or_else(|| self.corrupt(&format!("the entry of snapshot {name}")).into())
    }

    /// Refuses to show a snapshot that is not there any more, or not whole. What was read of it before this is its own.
    pub(crate) fn check_past(&self) -> Result<()> {
        let Some(past) = &self.past else { return Ok(()) };
        match self.header_of(past)?.is_some_and(|header| header.state == State::Whole) {
            true => Ok(()),
            false => Err(Past::absent(&past.name)),
        }
    }

    /// The header of this very snapshot.
    pub(crate) fn header_of(&self, past: &Past) -> Result<Option<Header>> {
        Ok(self.header(&past.name)?.filter(|header| header.maker == past.maker))
    }

    /// Takes a name, if it is free, and enters these datasets under it. False if one of them is not as it was.
    pub(crate) fn enter<'s>(
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

    /// Replaces a header, if it is still `old`.
    pub(crate) fn replace_header(&self, name: &Label, old: &Header, new: &Header) -> Result<bool> {
        let (old, new) = (old.encode(), new.encode());
        let cell = Cell::kv(SNAPSHOTS, name.as_str().as_bytes());
        let transaction = Transaction::new().require(Precondition::Equals(cell, &old));
        let transaction = transaction.update(Update::Put { cell, value: &new });
        let done = conflict_is_false(self.container.commit(&transaction))?;
        self.container.flush()?;
        Ok(done)
    }

    /// Says that a snapshot is being removed, and what the root says of it from now on. None if it is not there.
    pub(crate) fn begin_removal(&self, past: &Past) -> Result<Option<Header>> {
        while let Some(header) = self.header_of(past)? {
            let removing = header.to(State::Removing);
            if header == removing || self.replace_header(&past.name, &header, &removing)? {
                return Ok(Some(removing));
            }
        }
        Ok(None)
    }

    /// The datasets of a snapshot: their texts and records.
    pub(crate) fn kept(&self, name: &Label) -> Result<Vec<(String, Record)>> {
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

    /// The datasets of snapshots that are not listed in this life, each with the snapshot.
    pub(crate) fn wiped(&self) -> Result<Vec<(Label, Entry)>> {
        let (mut all, mut wiped) = (Vec::new(), Vec::new());
        self.for_each_kept(|of, text, record| all.push((of.to_owned(), text.to_owned(), record)))?;
        for (of, text, record) in all {
            let damaged = || self.corrupt(&format!("dataset {text} of snapshot {of}"));
            let key = parse_named_text(&text).ok_or_else(damaged)?;
            let (locks, forbidden) = (Locks::default(), self.limits.of(&key));
            let entry = Entry { text: text.into(), key, record, locks, forbidden };
            if self.same_life(&entry)?.is_none() {
                wiped.push((of.parse()?, entry));
            }
        }
        Ok(wiped)
    }

    fn for_each_kept(&self, mut each: impl FnMut(&str, &str, Record)) -> Result<()> {
        for_each(&*self.container, SNAPSHOTS, |key, record| {
            let Some((name, text)) = parse_kept_key(key) else { return Ok(()) };
            let damaged = || self.corrupt(&format!("dataset {text} of snapshot {name}"));
            each(name, text, Record::decode(record).ok_or_else(damaged)?);
            Ok(())
        })
    }

    pub(crate) fn snapshots(&self) -> Result<Vec<StoreSnapshot>> {
        let mut found: Vec<StoreSnapshot> = Vec::new();
        for_each(&*self.container, SNAPSHOTS, |key, record| {
            let damaged = || self.corrupt(&format!("the entry of snapshot {:?}", key.escape_ascii()));
            // An engine may list in any order, so the datasets are looked for below.
            if parse_kept_key(key).is_none() {
                let name = std::str::from_utf8(key).ok().and_then(|name| name.parse().ok());
                let (name, header) = name.zip(Header::decode(record)).ok_or_else(damaged)?;
                let Header { state, created_us, request, .. } = header;
                let is_complete = state == State::Whole;
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

    /// Removes a name with these datasets, all that it has, if its header is still this one.
    pub(crate) fn forget(&self, name: &Label, header: &Header, kept: &[(String, Record)]) -> Result<bool> {
        let (header, own) = (header.encode(), Cell::kv(SNAPSHOTS, name.as_str().as_bytes()));
        let keys: Vec<_> = kept.iter().map(|(text, _)| kept_key(name, text)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_and_a_key_read_back() {
        for state in [State::Making, State::Whole, State::Removing] {
            let header = Header { state, maker: 9, created_us: 7, request: "class=od".to_owned() };
            let bytes = header.encode();
            assert_eq!(Header::decode(&bytes), Some(header));
            for cut in 0..bytes.len() {
                assert_eq!(Header::decode(&bytes[..cut]), None, "cut at {cut}");
            }
        }
        let name: Label = "a.b:c-d_e".parse().unwrap();
        let key = kept_key(&name, "od@1 class,expver");
        assert_eq!(parse_kept_key(key.as_bytes()), Some((name.as_str(), "od@1 class,expver")));
        assert_eq!(parse_kept_key(name.as_str().as_bytes()), None);
    }

    #[test]
    fn containers_call_snapshots_of_one_name_differently() {
        let name: Label = "x".repeat(127).parse().unwrap();
        let kept_as = [1, 2].map(|maker| Past::new(&name, maker).unwrap().kept_as);
        assert_ne!(kept_as[0], kept_as[1]);
    }
}
