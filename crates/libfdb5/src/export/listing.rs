//! Listings, and the keys of their elements.

use std::ffi::c_char;

use super::{Handle, Next, Out, Result, export};
use crate::listing::{Listing, SplitKey};

#[export]
fn fdb_listiterator_next(mut it: Handle<Listing>) -> Result<Next> {
    Ok(if it.get_mut("it")?.advance()? { Next::There } else { Next::End })
}

#[export]
fn fdb_listiterator_attrs(
    it: Handle<Listing>,
    uri: Out<*const c_char>,
    offset: Out<usize>,
    length: Out<usize>,
) -> Result<()> {
    let (place, first, count) = it.get("it")?.current()?.place()?;
    uri.check("uri")?;
    offset.check("off")?;
    length.put("len", count)?;
    offset.put("off", first)?;
    uri.put("uri", place.as_ptr())
}

#[export]
fn fdb_listiterator_splitkey(it: Handle<Listing>, mut key: Handle<SplitKey>) -> Result<()> {
    key.get_mut("key")?.set(it.get("it")?.current()?);
    Ok(())
}

#[export]
fn fdb_delete_listiterator(it: Handle<Listing>) -> Result<()> {
    it.take("it").map(drop)
}

#[export]
fn fdb_new_splitkey(key: Out<Handle<SplitKey>>) -> Result<()> {
    key.fill("key", || Ok(SplitKey::default()))
}

#[export]
fn fdb_splitkey_next_metadata(
    mut it: Handle<SplitKey>,
    key: Out<*const c_char>,
    value: Out<*const c_char>,
    level: Out<usize>,
) -> Result<Next> {
    let split = it.get_mut("it")?;
    key.check("key")?;
    value.check("value")?;
    let Some(pair) = split.advance()? else { return Ok(Next::End) };
    key.put("key", pair.name.as_ptr())?;
    value.put("value", pair.value.as_ptr())?;
    level.put_if_any(pair.level);
    Ok(Next::There)
}

#[export]
fn fdb_delete_splitkey(key: Handle<SplitKey>) -> Result<()> {
    key.take("key").map(drop)
}
