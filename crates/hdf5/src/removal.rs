//! The removal of objects, with everything that belongs to them.

use std::collections::HashSet;

use isotach_object::ObjectId;

use crate::{
    Kind, Result,
    chunk::array_of,
    layout::{in_place, index, map, metadata},
    records::Chunk,
    session::{Session, list},
    stored::{length_of, value_array},
};

impl Session {
    /// Removes an object with everything that belongs to it, but for what its links lead to.
    pub(crate) fn remove_object(&mut self, number: u64) -> Result<()> {
        self.forget_chunks(number, |_| true)?;
        if self.new.remove(&number) {
            self.forget_changes(number);
            return Ok(());
        }
        let header = self.header(number)?;
        if header.as_ref().is_some_and(|header| header.data.is_some()) && !self.is_reset {
            for (_, record) in list(&*self.base()?, index(number))? {
                let chunk = Chunk::decode(&record, format_args!("dataset {number}"))?;
                self.destroyed.extend(array_of(&chunk));
                self.count_stored(-length_of(Some(&chunk)));
            }
            self.destroyed.extend([index(number), in_place(number)]);
            self.destroy_index(number)?;
        }
        if header.is_some_and(|header| header.kind == Kind::Map) {
            self.destroy_values(map(number))?;
        }
        self.destroy_values(metadata(number))?;
        self.forget_changes(number);
        self.removed.insert(number);
        Ok(())
    }

    /// Removes an object of the base whose entries name arrays, with these.
    fn destroy_values(&mut self, object: ObjectId) -> Result<()> {
        let base = self.base_listing(object)?;
        // Values that were replaced or removed since the base are counted and go with the commit already.
        let has_changes = self.changes.of(object).next().is_some();
        let gone: HashSet<_> = self.destroyed.iter().filter(|_| has_changes).copied().collect();
        for (array, length) in base.iter().filter_map(|(key, record)| value_array(key, record)) {
            if !gone.contains(&array) {
                self.destroyed.push(array);
                self.count_stored(-i128::from(length));
            }
        }
        self.destroyed.push(object);
        Ok(())
    }

    /// Forgets every change of an object but those of chunks. Arrays of values that no commit has named are not needed any more.
    pub(crate) fn forget_changes(&mut self, number: u64) {
        for object in [metadata(number), map(number)] {
            let values = self.changes.of(object);
            let values: Vec<_> =
                values.filter_map(|(key, change)| value_array(key, change.value.as_ref()?)).collect();
            for (array, length) in values {
                self.unused.push(array);
                self.count_stored(-i128::from(length));
            }
        }
        self.forget_index(number);
        self.forget(metadata(number));
        self.forget(map(number));
        self.fresh_entries.retain(|(object, _)| *object != map(number));
    }
}
