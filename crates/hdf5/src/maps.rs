//! Entries of maps: values by keys.
//!
//! A key is the bytes of a packed element ([`isotach_hdf5_types::Datatype::pack`]), and so is a value: they name nothing outside of them but
//! objects.

use isotach_object::ObjectId;

use crate::{
    Error, Kind, Object, Result,
    layout::{ENTRY, map},
    map_entry::MapEntry,
    records::Place,
    session::Session,
    store::{INLINE, value_bytes},
    stored::value_array,
};

/// The longest key, in bytes.
const KEY_MAX: usize = isotach_object::MAX_KEY - 1;

fn stored_key(key: &[u8]) -> Vec<u8> {
    [&[ENTRY], key].concat()
}

impl Object {
    /// The value of a key of the map.
    ///
    /// # Errors
    /// `InvalidInput` for an object that is no map; `Corrupt`, `Object`.
    pub fn map_value(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.check_map()?;
        if key.len() > KEY_MAX {
            return Ok(None);
        }
        self.file().read_again(|| self.stored_map_value(key))
    }

    fn stored_map_value(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let (object, key) = (map(self.number()), stored_key(key));
        let _shared = self.file().shared();
        let (entry, base) = {
            let mut session = self.file().session();
            let Some(record) = session.get(object, &key)? else { return Ok(None) };
            let is_here = session.changes.contains(object, &key);
            let entry = MapEntry::decode(&record, self)?;
            let is_elsewhere = matches!(entry.value, Place::Array(_));
            (entry, if is_here || !is_elsewhere { None } else { Some(session.base()?) })
        };
        match entry.value {
            Place::Inline(value) => Ok(Some(value)),
            Place::Array(number) => {
                let container = base.unwrap_or_else(|| self.file().store.container.clone());
                let value = value_bytes(&*container, number, entry.length)?;
                let damaged =
                    || Error::corrupt("a value of a map that is missing or short", self.to_string());
                value.ok_or_else(damaged).map(Some)
            }
        }
    }

    /// Whether the map has a key.
    ///
    /// # Errors
    /// As [`Object::map_value`].
    pub fn has_map_key(&self, key: &[u8]) -> Result<bool> {
        self.check_map()?;
        let is_possible = key.len() <= KEY_MAX;
        Ok(is_possible && self.file().session().get(map(self.number()), &stored_key(key))?.is_some())
    }

    /// Sets the value of a key of the map. Of several processes that set the same key, the later commit counts.
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` for an object that is no map, or a key of more than 65 534 bytes; `Object`.
    pub fn put_map_value(&self, key: &[u8], value: Vec<u8>) -> Result<()> {
        self.file().check_writable()?;
        self.check_map()?;
        if key.len() > KEY_MAX {
            let what = format!("a key of {} bytes in the map {self}", key.len());
            return Err(Error::invalid(what, format!("at most {KEY_MAX} bytes")));
        }
        let length = value.len() as u64;
        let value = if value.len() <= INLINE {
            Place::Inline(value)
        } else {
            Place::Array(self.file().store.write_array(&value)?)
        };
        let (object, key) = (map(self.number()), stored_key(key));
        let mut session = self.file().session();
        session.put_map_entry(object, key, Some(MapEntry { value, length }.encode()))
    }

    /// Removes a key of the map.
    ///
    /// # Errors
    /// `NotFound`, `ReadOnly`, `Object`; `InvalidInput` for an object that is no map.
    pub fn remove_map_key(&self, key: &[u8]) -> Result<()> {
        self.file().check_writable()?;
        self.check_map()?;
        let (object, key) = (map(self.number()), stored_key(key));
        let mut session = self.file().session();
        if key.len() > KEY_MAX + 1 || session.get(object, &key)?.is_none() {
            return Err(Error::not_found(format!("the key in the map {self}")));
        }
        session.put_map_entry(object, key, None)
    }

    /// All keys of the map, sorted by their bytes.
    ///
    /// # Errors
    /// As [`Object::map_value`].
    pub fn map_keys(&self) -> Result<Vec<Vec<u8>>> {
        self.check_map()?;
        let listing = self.file().session().list(map(self.number()))?;
        Ok(listing.iter().filter_map(|(key, _)| Some(key.strip_prefix(&[ENTRY])?.to_vec())).collect())
    }

    /// How many keys the map has.
    ///
    /// # Errors
    /// As [`Object::map_value`].
    pub fn map_count(&self) -> Result<u64> {
        self.check_map()?;
        let mut session = self.file().session();
        let (object, base) = (map(self.number()), session.base_listing(map(self.number()))?);
        let is_there = |key: &[u8]| base.binary_search_by(|(there, _)| there.as_slice().cmp(key)).is_ok();
        let mut count = base.len();
        for (key, change) in session.changes.of(object) {
            match (is_there(key), change.value.is_some()) {
                (false, true) => count += 1,
                (true, false) => count -= 1,
                _ => {}
            }
        }
        Ok(count as u64)
    }

    fn check_map(&self) -> Result<()> {
        if self.kind() == Kind::Map {
            return Ok(());
        }
        Err(Error::invalid(format!("{self}, which is a {:?}", self.kind()), "a map"))
    }
}

impl Session {
    /// Puts or removes an entry of a map. The array of what it replaces is not needed any more.
    fn put_map_entry(&mut self, object: ObjectId, key: Vec<u8>, record: Option<Vec<u8>>) -> Result<()> {
        self.change_map_entry(object, &key, record)?;
        if self.is_shared {
            self.fresh_entries.insert((object, key));
        }
        Ok(())
    }

    pub(crate) fn change_map_entry(
        &mut self,
        object: ObjectId,
        key: &[u8],
        record: Option<Vec<u8>>,
    ) -> Result<()> {
        let old = self.get(object, key)?;
        if old == record {
            // It counts as put, also where another process commits another value meanwhile.
            if let Some(record) = record {
                self.put(object, key.to_vec(), record);
            }
            return Ok(());
        }
        if let Some((array, length)) = old.as_deref().and_then(|old| value_array(key, old)) {
            self.count_stored(-i128::from(length));
            let is_here = self.changes.contains(object, key);
            if is_here { self.unused.push(array) } else { self.destroyed.push(array) }
        }
        match record {
            Some(record) => {
                let stored = value_array(key, &record).map_or(0, |(_, length)| length);
                self.count_stored(stored.into());
                self.put(object, key.to_vec(), record);
            }
            None => self.remove(object, key),
        }
        Ok(())
    }
}
