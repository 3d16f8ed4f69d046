//! Retrieving one field, and beginning to iterate over the fields of a request.

use std::ffi::{c_int, c_void};

use isotach_fields::{Error, FieldStore, Inspected, ListOptions};
use isotach_mars::{Key, Request};
use isotach_object::SharedBytes;

use super::{Failure, Found, Handle, Out, Result, Text, archive::key_of, bytes_mut, export};
use crate::{
    fields::{Fields, Source},
    status::CODE_TOO_SMALL,
};

/// The flag of a listing that shows replaced fields, too.
const REPLACED: c_int = 1;

#[export]
fn isotach_retrieve_one(
    store: Handle<FieldStore>,
    key: Text,
    bytes: Out<Handle<SharedBytes>>,
) -> Result<Found> {
    let (store, key) = (store.get("store")?, key_of(&key)?);
    bytes.check("bytes")?;
    let Some(found) = store.retrieve_shared(&key)? else { return Ok(Found::No) };
    bytes.put("bytes", Handle::new(found))?;
    Ok(Found::Yes)
}

#[export]
unsafe fn isotach_retrieve_into(
    store: Handle<FieldStore>,
    key: Text,
    buffer: *mut c_void,
    capacity: usize,
    length: Out<usize>,
) -> Result<Found> {
    let (store, key) = (store.get("store")?, key_of(&key)?);
    length.check("length")?;
    // SAFETY: BUFFER for `buffer`, of `capacity`.
    let buffer = unsafe { bytes_mut("buffer", buffer.cast(), capacity) }?;
    let read = match store.retrieve_into(&key, buffer) {
        Err(Error::Invalid { what, expected }) => {
            let Some(needed) = length_of(store, &key)? else { return Ok(Found::No) };
            length.put("length", needed)?;
            return Err(Failure { code: CODE_TOO_SMALL, text: format!("{what}: expected {expected}") });
        }
        read => read?,
    };
    let Some(read) = read else { return Ok(Found::No) };
    length.put("length", read)?;
    Ok(Found::Yes)
}

#[export]
fn isotach_bytes_data(
    bytes: Handle<SharedBytes>,
    data: Out<*const c_void>,
    length: Out<usize>,
) -> Result<()> {
    let bytes = bytes.get("bytes")?;
    data.check("data")?;
    length.put("length", bytes.len())?;
    data.put("data", bytes.as_ptr().cast())
}

#[export]
fn isotach_bytes_free(bytes: Handle<SharedBytes>) {
    bytes.free();
}

#[export]
fn isotach_retrieve(store: Handle<FieldStore>, request: Text, fields: Out<Handle<Fields>>) -> Result<()> {
    let (store, request) = (store.get("store")?, request_of(&request)?);
    fields.fill("fields", || Ok(Fields::new(Source::Retrieval(store.retrieve(&request)?.into()))))
}

#[export]
fn isotach_inspect(store: Handle<FieldStore>, request: Text, fields: Out<Handle<Fields>>) -> Result<()> {
    let (store, request) = (store.get("store")?, request_of(&request)?);
    fields.fill("fields", || Ok(Fields::new(Source::Inspection(store.inspect(&request)?.into()))))
}

#[export]
fn isotach_list(
    store: Handle<FieldStore>,
    request: Text,
    flags: c_int,
    fields: Out<Handle<Fields>>,
) -> Result<()> {
    let (store, request) = (store.get("store")?, request_of(&request)?);
    if flags & !REPLACED != 0 {
        return Err(Failure::invalid(format!("flags {flags}: expected 0 or ISOTACH_REPLACED")));
    }
    let options = ListOptions { duplicates: flags & REPLACED != 0 };
    fields.fill("fields", || Ok(Fields::new(Source::Listing(store.list(&request, options)?.into()))))
}

/// A request in text.
pub(super) fn request_of(request: &Text) -> Result<Request> {
    Ok(request.get("request")?.parse::<Request>()?)
}

/// How many bytes a retrieval gives of a field. An overlay edits the message, which may change its length.
fn length_of(store: &FieldStore, key: &Key) -> Result<Option<usize>> {
    let Some(Inspected { location, .. }) = store.locate(key)? else { return Ok(None) };
    if location.relabel.is_some() {
        return Ok(store.retrieve_shared(key)?.map(|bytes| bytes.len()));
    }
    Ok(Some(usize::try_from(location.length).unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    use isotach_fields::Config;
    use isotach_open::registry;

    use super::*;

    #[test]
    fn the_size_needed_for_a_field_that_an_overlay_edits_is_that_of_its_edited_bytes() {
        let config = Config::single(&"memory:needed".parse().unwrap())
            .with_schema("[ class, expver [ type [ step: Step ]]]");
        let store = FieldStore::create(&config, &registry()).unwrap();
        store.relabel_with(|message, _| Ok([message, b", edited"].concat()));
        let [below, shown] = ["class=od,expver=1", "class=rd,expver=1"];
        let field = |dataset: &str| -> Key { format!("{dataset},type=fc,step=0").parse().unwrap() };
        store.archive(&field(below), b"zero").unwrap();
        store.flush().unwrap();
        store.overlay(&below.parse().unwrap(), &shown.parse().unwrap(), &["class"], false).unwrap();
        assert_eq!(length_of(&store, &field(below)), Ok(Some(4)));
        assert_eq!(length_of(&store, &field(shown)), Ok(Some(12)));
        assert_eq!(length_of(&store, &"class=rd,expver=1,type=fc,step=6".parse().unwrap()), Ok(None));
    }
}
