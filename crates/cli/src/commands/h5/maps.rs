//! The keys and values of maps.

use isotach_hdf5::Header;
use isotach_hdf5_tools::{Error, Source};
use isotach_hdf5_types::{Datatype, Unpacked, Value};

use super::describe;

/// The datatypes of a map as text; of another object that of its elements, if it has any.
pub(super) fn types(header: &Header, place: &str) -> Result<Option<String>, Error> {
    let Some(datatype) = describe::datatype_of(header, place)? else { return Ok(None) };
    if header.key_datatype.is_empty() {
        return Ok(Some(datatype.to_string()));
    }
    Ok(Some(format!("{} -> {datatype}", describe::datatype(&header.key_datatype, place)?)))
}

/// The entries of a map: the first ones that are shown, and how many more there are.
pub(super) struct Entries<'s> {
    source: &'s dyn Source,
    map: u64,
    key: Datatype,
    value: Datatype,
    place: String,
    pub(super) keys: Vec<Vec<u8>>,
    pub(super) more: u64,
}

impl<'s> Entries<'s> {
    pub(super) fn new(
        source: &'s dyn Source,
        map: u64,
        header: &Header,
        place: &str,
        most: Option<u64>,
    ) -> Result<Self, Error> {
        let form = |stored| {
            let form = describe::datatype(stored, place)?.file_form();
            form.map_err(|source| Error::Datatype { place: place.to_owned(), source })
        };
        let (key, value) = (form(&header.key_datatype)?, form(&header.datatype)?);
        let mut keys = source.map_keys(map)?;
        let count = keys.len() as u64;
        let most = most.unwrap_or(count).min(count);
        keys.truncate(most as usize);
        Ok(Self { source, map, key, value, place: place.to_owned(), keys, more: count - most })
    }

    /// A key and its value.
    pub(super) fn entry(&self, key: &[u8]) -> Result<(Value, Value), Error> {
        let value = self.source.map_value(self.map, key)?;
        Ok((self.read(&self.key, key)?, self.read(&self.value, &value)?))
    }

    fn read(&self, datatype: &Datatype, packed: &[u8]) -> Result<Value, Error> {
        let read = datatype.unpack(packed).and_then(|Unpacked { element, blobs }| {
            datatype.value(&element, &mut |name| {
                Unpacked::blob(&blobs, name).map(<[u8]>::to_vec).ok_or_else(|| "it is missing".into())
            })
        });
        read.map_err(|source| Error::Datatype { place: self.place.clone(), source })
    }
}
