//! Archiving.

use std::ffi::c_void;

use isotach_capi_kit::archive_messages;
use isotach_fields::FieldStore;
use isotach_mars::Key;

use super::{Failure, Handle, Out, Result, Text, bytes, export, texts};

#[export]
unsafe fn isotach_archive(
    store: Handle<FieldStore>,
    key: Text,
    data: *const c_void,
    length: usize,
) -> Result<()> {
    let (store, key) = (store.get("store")?, key_of(&key)?);
    // SAFETY: BYTES for `data`, of `length`.
    Ok(store.archive(&key, unsafe { bytes("data", data.cast(), length) }?)?)
}

#[export]
unsafe fn isotach_archive_pairs(
    store: Handle<FieldStore>,
    names: *const Text,
    values: *const Text,
    count: usize,
    data: *const c_void,
    length: usize,
) -> Result<()> {
    let store = store.get("store")?;
    // SAFETY: lists of `count` TEXTs.
    let (names, values) = unsafe { (texts("names", names, count)?, texts("values", values, count)?) };
    let mut key = Key::new();
    for (name, value) in names.into_iter().zip(values) {
        if key.contains(name) {
            return Err(Failure { code: "key", text: format!("the key {name} twice: expected each once") });
        }
        key.set(name, value);
    }
    // SAFETY: BYTES for `data`, of `length`.
    Ok(store.archive(&key, unsafe { bytes("data", data.cast(), length) }?)?)
}

#[export]
unsafe fn isotach_archive_messages(
    store: Handle<FieldStore>,
    data: *const c_void,
    length: usize,
    count: Out<usize>,
) -> Result<()> {
    let store = store.get("store")?;
    // SAFETY: BYTES for `data`, of `length`.
    let data = unsafe { bytes("data", data.cast(), length) }?;
    count.put_if_any(archive_messages(data, |key, message| Ok(store.archive(key, message)?))?);
    Ok(())
}

#[export]
fn isotach_flush(store: Handle<FieldStore>) -> Result<()> {
    Ok(store.get("store")?.flush()?)
}

/// A key in text.
pub(super) fn key_of(key: &Text) -> Result<Key> {
    Ok(key.get("key")?.parse::<Key>()?)
}
