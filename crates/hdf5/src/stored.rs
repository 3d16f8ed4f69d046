//! How many bytes a file stores: a counter in the file's record, and the length of its stub.
//!
//! Each commit adds what it stored and takes away what it removed. Two commits at one time may lose a part of that: the counter says
//! about how much there is, and nothing depends on it. Programs and people look at the length of a file, so the stub is as long.

use isotach_object::{Cell, Container, ObjectId, Update};

use crate::{
    File, Result,
    chunk::{State, Target},
    layout::{ATTRIBUTE, ENTRY, FILE, STORED_KEY, array},
    map_entry::MapEntry,
    records::{AttributeRecord, Chunk},
    session::Session,
    stub,
};

/// What a counter says. One that is missing or damaged counts as 0.
fn number(record: Option<Vec<u8>>) -> u64 {
    record.and_then(|record| Some(u64::from_le_bytes(*record.first_chunk()?))).unwrap_or(0)
}

/// The array of the value of an attribute or of a key of a map, and its length, if it is not in the record.
pub(crate) fn value_array(key: &[u8], record: &[u8]) -> Option<(ObjectId, u64)> {
    match *key.first()? {
        ATTRIBUTE => AttributeRecord::array_of(record).map(|(number, length)| (array(number), length)),
        ENTRY => {
            let record = MapEntry::decode(record, "").ok()?;
            Some((record.value.array()?, record.length))
        }
        _ => None,
    }
}

/// The bytes that a chunk stores.
pub(crate) fn length_of(chunk: Option<&Chunk>) -> i128 {
    chunk.map_or(0, |chunk| chunk.stored_length.into())
}

/// The bytes that a chunk stores after the commit.
pub(crate) fn length_after(target: Target<'_>, state: &State) -> i128 {
    match state {
        State::Stored(chunk) => length_of(Some(chunk)),
        State::Patches(_) | State::Whole(_) => target.length as i128,
        State::Removed => 0,
    }
}

impl Session {
    /// Bytes were stored or, with a negative number, removed, which the commit is to count.
    pub(crate) fn count_stored(&mut self, bytes: i128) {
        self.stored += bytes;
    }

    /// What the chunks that were changed store more than those of the base.
    fn stored_in_chunks(&mut self) -> Result<i128> {
        let changed: Vec<_> = self.chunks.keys().cloned().collect();
        let mut stored = 0;
        for (number, key) in changed {
            let old = self.base_chunk(number, &key)?;
            let add = |session: &mut Self, target: Target<'_>| {
                let new = session.chunks.get(&(number, key));
                stored += new.map_or(0, |new| length_after(target, &new.state)) - length_of(old.as_deref());
                Ok(())
            };
            self.with_target(number, add)?;
        }
        Ok(stored)
    }

    /// Passes the new counter to `push`, if it is another. `chunks` is what changed in chunks.
    pub(crate) fn counter_update(
        &mut self,
        live: &dyn Container,
        chunks: i128,
        push: impl FnOnce(Update<'_>) -> Result<()>,
    ) -> Result<()> {
        self.counted = None;
        if self.stored + chunks == 0 {
            return Ok(());
        }
        let cell = Cell::kv(FILE, STORED_KEY);
        let before = if self.is_reset { 0 } else { number(live.get_many(&[cell])?.pop().flatten()) };
        let now = (i128::from(before) + self.stored + chunks).max(0);
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        self.counted = Some(now);
        push(Update::Put { cell, value: &now.to_le_bytes() })
    }
}

impl File {
    /// About how many bytes the file stores in chunks, large attributes, large values of maps and variable-length data, after filters. What was not committed
    /// counts.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn stored_size(&self) -> Result<u64> {
        let mut session = self.session();
        let committed = if session.is_reset { 0 } else { number(session.get(FILE, STORED_KEY)?) };
        let now = i128::from(committed) + session.stored + session.stored_in_chunks()?;
        Ok(u64::try_from(now.max(0)).unwrap_or(u64::MAX))
    }

    /// Makes the stub about as long as what the file stores. One that cannot be changed stays as it is.
    pub(crate) fn set_stub_length(&self, bytes: u64) {
        if let Some(path) = &self.stub {
            let _ = stub::set_length(path, self.store.container.label(), bytes);
        }
    }
}
