//! Archiving, listing and retrieving through a handle.

use std::ffi::{c_char, c_int};

use isotach_capi_kit::Failure;
use isotach_mars::{Key, Request};

use super::{Bool, Handle, In, Out, Result, bytes, export};
use crate::{handle::Fdb, listing::Listing, reader::Reader};

#[export]
unsafe fn fdb_archive(fdb: Handle<Fdb>, key: Handle<Key>, data: *const c_char, length: usize) -> Result<()> {
    let (fdb, key) = (fdb.get("fdb")?, key.get("key")?);
    // SAFETY: BYTES for `data`, of `length`.
    fdb.archive(key, unsafe { data_of(data, length) }?)
}

#[export]
unsafe fn fdb_archive_multiple(
    fdb: Handle<Fdb>,
    request: In<Request>,
    data: *const c_char,
    length: usize,
) -> Result<()> {
    let fdb = fdb.get("fdb")?;
    // SAFETY: BYTES for `data`, of `length`.
    fdb.archive_messages(request.or_none(), unsafe { data_of(data, length) }?)
}

/// `duplicates` says the opposite of its name, as in FDB: true leaves replaced fields out. A caller built for the interface without `depth`
/// leaves any number there, which the handle takes for 3.
#[export]
fn fdb_list(
    fdb: Handle<Fdb>,
    request: In<Request>,
    it: Out<Handle<Listing>>,
    duplicates: Bool,
    depth: c_int,
) -> Result<()> {
    let fdb = fdb.get("fdb")?;
    it.fill("it", || fdb.list(request.or_none(), duplicates == 0, depth))
}

#[export]
fn fdb_retrieve(fdb: Handle<Fdb>, request: Handle<Request>, mut dr: Handle<Reader>) -> Result<()> {
    let (fdb, request, reader) = (fdb.get("fdb")?, request.get("req")?, dr.get_mut("dr")?);
    reader.set(fdb.retrieve(request)?);
    Ok(())
}

/// # Safety
/// BYTES for `data`, of `length`.
unsafe fn data_of<'a>(data: *const c_char, length: usize) -> Result<&'a [u8]> {
    if data.is_null() {
        return Err(Failure::invalid("data is NULL"));
    }
    // SAFETY: the caller's promise.
    unsafe { bytes("data", data.cast(), length) }
}
