//! Prepared transactions: staged transactions that wait under a name until any process commits them (FORMAT.md section 5.9).
//!
//! What must stay true (docs/decisions/012-numbered-transactions.md):
//! - An entry names every data file that its records refer to, and no purge removes a file that an entry names.
//! - The frame that commits prepared transactions has the values of their entries as preconditions, so it counts only while they exist.
//! - That frame is appended only if all its segments could be read. Otherwise every reader would stop there.

use std::collections::HashSet;

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_object::{Cell, Epoch, Error, Label, Precondition, Result, Transaction, Update, check_distinct};

use crate::{
    format::record::{self, CellChange, PREPARED, Record, Stored},
    handle::PosixContainer,
    index::{entry::Entry, state::State, system::for_each_prepared},
    io::storage::Storage,
    read::bytes::find,
};

/// The entry under a name.
pub(crate) fn cell(name: &Label) -> Cell<'_> {
    Cell::kv(PREPARED, name.as_str().as_bytes())
}

/// The value of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stage<'a> {
    /// The data files that the records refer to.
    pub(crate) files: Vec<u64>,
    /// Updates and segments in the form of a frame.
    pub(crate) records: &'a [u8],
}

impl<'a> Stage<'a> {
    /// Appends a record that stores this stage under a name.
    pub(crate) fn encode(&self, name: &Label, out: &mut Vec<u8>) {
        let mut value = Vec::with_capacity(4 + 8 * self.files.len() + self.records.len());
        value.put_u32(self.files.len() as u32);
        self.files.iter().for_each(|file| value.put_u64(*file));
        value.extend_from_slice(self.records);
        record::encode_change(out, &cell(name), &CellChange::Put(Stored::Inline(&value)));
    }

    /// `None` for a malformed value.
    pub(crate) fn decode(value: &'a [u8]) -> Option<Self> {
        let mut reader = Reader(value);
        let count = reader.u32()? as usize;
        let mut files = Reader(reader.take(count.checked_mul(8)?)?);
        let files = (0..count).map_while(|_| files.u64()).collect();
        let records = reader.0;
        while !reader.is_empty() {
            record::decode(&mut reader).filter(|record| !matches!(record, Record::Require(..)))?;
        }
        Some(Self { files, records })
    }

    /// Calls `each` with every record, and with the records of segments instead of the segments. Reads and checks all segments, one by one.
    pub(crate) fn for_each(
        &self,
        storage: &Storage,
        each: &mut dyn FnMut(&Record<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut reader = Reader(self.records);
        while let Some(found) = record::decode(&mut reader) {
            let Record::Segment(segment) = &found else {
                each(&found)?;
                continue;
            };
            let records = storage.data.read_extent(segment)?;
            let mut inner = Reader(&records);
            while !inner.is_empty() {
                match record::decode(&mut inner) {
                    Some(found @ Record::Change(..)) => each(&found)?,
                    _ => {
                        let file = storage.data.path(segment.file).display().to_string();
                        return Err(Error::corrupt("a record of a prepared segment is malformed", file));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The stage in an entry.
pub(crate) fn stage<'a>(name: &str, entry: &'a Entry) -> Result<Stage<'a>> {
    let decoded = match entry {
        Entry::Value(value) => Stage::decode(value),
        _ => None,
    };
    decoded.ok_or_else(|| {
        Error::corrupt("the entry of a prepared transaction is malformed", format!("stage {name}"))
    })
}

/// All data files that prepared transactions refer to.
pub(crate) fn files(state: &State) -> Result<HashSet<u64>> {
    let mut files = HashSet::new();
    for_each_prepared(state, "", &mut |name, entry| {
        files.extend(stage(name, entry)?.files);
        Ok(())
    })?;
    Ok(files)
}

impl PosixContainer {
    fn not_prepared(&self, name: &Label) -> Error {
        Error::not_found(format!("prepared transaction {name} of container {}", self.label))
    }

    pub(crate) fn prepared_names(&self, prefix: &str) -> Result<Vec<Label>> {
        let state = self.state()?;
        let mut names = Vec::new();
        for_each_prepared(state.get()?, prefix, &mut |name, _| {
            let damaged = |_| Error::corrupt("the name of a prepared transaction", format!("{name:?}"));
            names.push(name.parse().map_err(damaged)?);
            Ok(())
        })?;
        Ok(names)
    }

    /// The entry of a stage, after checking all its segments.
    fn prepared_entry(&self, name: &Label) -> Result<Entry> {
        let entry = find(self.state()?.get()?, &cell(name))?.ok_or_else(|| self.not_prepared(name))?;
        stage(name.as_str(), &entry)?.for_each(&self.storage, &mut |_| Ok(()))?;
        Ok(entry)
    }

    /// The entries under these names, after checking all their segments.
    fn prepared_entries(&self, names: &[Label]) -> Result<Vec<Entry>> {
        self.retry_after_purge(|| names.iter().map(|name| self.prepared_entry(name)).collect())
    }

    pub(crate) fn apply_prepared(&self, names: &[Label], transaction: &Transaction<'_>) -> Result<Epoch> {
        check_distinct(names)?;
        self.commit_prepared_entries(names, &self.prepared_entries(names)?, transaction)
    }

    /// Commits the entries under these names, if they still exist.
    fn commit_prepared_entries(
        &self,
        names: &[Label],
        entries: &[Entry],
        transaction: &Transaction<'_>,
    ) -> Result<Epoch> {
        let mut preconditions = transaction.preconditions.clone();
        let mut records = Vec::new();
        for (name, entry) in names.iter().zip(entries) {
            records.extend_from_slice(stage(name.as_str(), entry)?.records);
            record::encode_change(&mut records, &cell(name), &CellChange::Remove);
            if let Entry::Value(value) = entry {
                preconditions.push(Precondition::Equals(cell(name), value));
            }
        }
        let whole = Transaction { preconditions, updates: transaction.updates.clone() };
        let own = transaction.preconditions.len();
        let decided =
            self.judge(&whole.preconditions, |writer| writer.commit(&whole, &records, &self.storage.log))?;
        decided.map_err(|failed| match failed.checked_sub(own).and_then(|number| names.get(number)) {
            None => whole.preconditions[failed].conflict(),
            Some(name) => {
                let what = format!("prepared transaction {name} was committed or aborted by another writer");
                Error::Conflict { what }
            }
        })
    }

    pub(crate) fn remove_prepared(&self, name: &Label) -> Result<()> {
        let cell = cell(name);
        let remove = Update::Remove { cell };
        self.update_if(Precondition::Present(cell), remove, || self.not_prepared(name)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use isotach_object::{Container, ObjectClass, ObjectId, ObjectType, Pool};

    use super::*;
    use crate::{
        format::extent::{Extent, Sums},
        testing::Fixture,
    };

    #[test]
    fn a_stage_reads_back_and_malformed_ones_are_refused() {
        let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
        let mut records = Vec::new();
        record::encode_change(&mut records, &Cell::kv(object, b"key"), &CellChange::Remove);
        record::encode_segment(
            &mut records,
            &Extent { file: 7, position: 2, length: 9, sums: Sums::of(&[1; 9]) },
        );
        let stage = Stage { files: vec![7, 9], records: &records };
        let name: Label = "name".parse().unwrap();
        let mut put = Vec::new();
        stage.encode(&name, &mut put);
        let Some(Record::Change(found, CellChange::Put(Stored::Inline(value)))) =
            record::decode(&mut Reader(&put))
        else {
            panic!("a put")
        };
        assert_eq!((found, Stage::decode(value)), (cell(&name), Some(stage)));
        let whole = [20, 20 + 27, value.len()];
        for cut in (0..value.len()).filter(|cut| !whole.contains(cut)) {
            assert_eq!(Stage::decode(&value[..cut]), None, "cut at {cut}");
        }
        let mut conditional = value.to_vec();
        record::encode_condition(&mut conditional, &Precondition::Absent(Cell::kv(object, b"key")));
        assert_eq!(Stage::decode(&conditional), None);
        assert_eq!(Stage::decode(&u32::MAX.to_le_bytes()), None);
    }

    #[test]
    fn an_aborted_or_replaced_prepared_transaction_is_not_committed() {
        let (fixture, name) = (Fixture::new(""), "name".parse::<Label>().unwrap());
        let slow = fixture.handle();
        let other = fixture.pool.open_container(&fixture.label).unwrap();
        let cell = Cell::kv(ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1), b"key");
        let prepare = |value: &[u8]| {
            let mut staging = other.prepared_transactions().unwrap().begin_prepared().unwrap();
            staging.update(&[Update::Put { cell, value }]).unwrap();
            staging.prepare(&name, &[]).unwrap();
        };
        let names = [name.clone()];
        let value = || slow.get_many(&[cell]).unwrap().pop().flatten();
        prepare(b"first");
        let found = slow.prepared_entries(&names).unwrap();
        for next in [None, Some(&b"second"[..])] {
            match next {
                None => other.prepared_transactions().unwrap().abort_prepared(&name).unwrap(),
                Some(value) => prepare(value),
            }
            let late = slow.commit_prepared_entries(&names, &found, &Transaction::new());
            assert_eq!((late.unwrap_err().code(), value()), ("conflict", None), "{next:?}");
        }
        let found = slow.prepared_entries(&names).unwrap();
        other.prepared_transactions().unwrap().commit_prepared(&names, &Transaction::new()).unwrap();
        other.update(&[Update::Put { cell, value: b"third" }]).unwrap();
        other.flush().unwrap();
        let late = slow.commit_prepared_entries(&names, &found, &Transaction::new());
        assert_eq!((late.unwrap_err().code(), value().as_deref()), ("conflict", Some(&b"third"[..])));
    }
}
