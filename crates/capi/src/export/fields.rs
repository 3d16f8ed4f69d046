//! The fields of an iteration.

use std::ffi::{c_char, c_int, c_void};

use super::{Found, Handle, Out, Result, Text, export};
use crate::fields::Fields;

#[export]
fn isotach_fields_next(mut fields: Handle<Fields>) -> Result<Found> {
    Ok(fields.get_mut("fields")?.advance()?.into())
}

#[export]
fn isotach_fields_key(mut fields: Handle<Fields>, key: Out<*const c_char>) -> Result<()> {
    key.put("key", fields.get_mut("fields")?.current()?.key_text().as_ptr())
}

#[export]
fn isotach_fields_value(mut fields: Handle<Fields>, name: Text, value: Out<*const c_char>) -> Result<Found> {
    let current = fields.get_mut("fields")?.current()?;
    value.check("value")?;
    let Some(found) = current.value(name.get("name")?) else { return Ok(Found::No) };
    value.put("value", found.as_ptr())?;
    Ok(Found::Yes)
}

#[export]
fn isotach_fields_data(
    mut fields: Handle<Fields>,
    data: Out<*const c_void>,
    length: Out<usize>,
) -> Result<()> {
    let bytes = fields.get_mut("fields")?.current()?.bytes()?;
    data.check("data")?;
    length.put("length", bytes.len())?;
    data.put("data", bytes.as_ptr().cast())
}

#[export]
fn isotach_fields_place(
    mut fields: Handle<Fields>,
    uri: Out<*const c_char>,
    offset: Out<u64>,
    length: Out<u64>,
    checksum: Out<u32>,
) -> Result<()> {
    let current = fields.get_mut("fields")?.current()?;
    offset.put_if_any(current.location.offset);
    length.put_if_any(current.location.length);
    checksum.put_if_any(current.location.checksum);
    uri.put_if_any(current.place_text().as_ptr());
    Ok(())
}

#[export]
fn isotach_fields_is_replaced(mut fields: Handle<Fields>, is_replaced: Out<c_int>) -> Result<()> {
    is_replaced.put("is_replaced", fields.get_mut("fields")?.current()?.is_replaced.into())
}

#[export]
fn isotach_fields_missing(mut fields: Handle<Fields>, count: Out<u64>) -> Result<Found> {
    let missing = fields.get_mut("fields")?.missing()?;
    count.check("count")?;
    let Some((missing, _)) = missing else { return Ok(Found::No) };
    count.put("count", missing)?;
    Ok(Found::Yes)
}

#[export]
fn isotach_fields_missing_key(
    mut fields: Handle<Fields>,
    at: usize,
    key: Out<*const c_char>,
) -> Result<Found> {
    let missing = fields.get_mut("fields")?.missing()?;
    key.check("key")?;
    let Some(text) = missing.and_then(|(_, keys)| keys.get(at)) else { return Ok(Found::No) };
    key.put("key", text.as_ptr())?;
    Ok(Found::Yes)
}

#[export]
fn isotach_fields_free(fields: Handle<Fields>) {
    fields.free();
}
