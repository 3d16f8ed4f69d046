//! Maps: put, get, remove and list.

use std::borrow::Cow;

use isotach_object::{Anchor, Cell, Page, PageBuilder, Precondition, Update};

use crate::{
    abi::{constants::*, errors::*},
    objects::{Object, integer_keys, turned},
    runtime::error::{Der, Result, invalid},
    transactions::scope::Scope,
};

/// See `daos_kv_put`. An empty value is a value: its key exists.
pub(crate) fn put(map: &Object, scope: &Scope, flags: u64, key: &[u8], value: &[u8]) -> Result<()> {
    map.check_writable()?;
    let key = stored(map, key)?;
    let cell = Cell::kv(map.id, &key);
    let update = Update::Put { cell, value };
    match flags {
        0 => scope.update(&[update]),
        DAOS_COND_KEY_INSERT => scope.update_if(&[Precondition::Absent(cell)], &[update]),
        DAOS_COND_KEY_UPDATE => scope.update_if(&[Precondition::Present(cell)], &[update]),
        _ => invalid("flags of daos_kv_put: none, DAOS_COND_KEY_INSERT or DAOS_COND_KEY_UPDATE are expected"),
    }
}

/// See `daos_kv_get`; `None` for an absent key.
pub(crate) fn get(map: &Object, scope: &Scope, flags: u64, key: &[u8]) -> Result<Option<Vec<u8>>> {
    if flags & !DAOS_COND_KEY_GET != 0 {
        return invalid("flags of daos_kv_get: none or DAOS_COND_KEY_GET is expected");
    }
    let value = scope.get(Cell::kv(map.id, &stored(map, key)?))?;
    if value.is_none() && flags == DAOS_COND_KEY_GET {
        return Err(Der(DER_NONEXIST));
    }
    Ok(value)
}

/// See `daos_kv_remove`.
pub(crate) fn remove(map: &Object, scope: &Scope, flags: u64, key: &[u8]) -> Result<()> {
    map.check_writable()?;
    let key = stored(map, key)?;
    let cell = Cell::kv(map.id, &key);
    let update = Update::Remove { cell };
    match flags {
        0 => scope.update(&[update]),
        DAOS_COND_KEY_REMOVE => scope.update_if(&[Precondition::Present(cell)], &[update]),
        _ => invalid("flags of daos_kv_remove: none or DAOS_COND_KEY_REMOVE is expected"),
    }
}

/// See `daos_kv_destroy`.
pub(crate) fn destroy(map: &Object, scope: &Scope) -> Result<()> {
    map.check_writable()?;
    scope.update(&[Update::Destroy { object: map.id }])
}

/// A page of keys.
pub(crate) fn list(map: &Object, scope: &Scope, anchor: &Anchor, limit: usize) -> Result<Page> {
    let page = scope.read(&[], |state| state.list_entries(map.id, anchor, limit, false))?;
    in_program_form(page, integer_keys(map.id).0)
}

fn stored<'k>(map: &Object, key: &'k [u8]) -> Result<Cow<'k, [u8]>> {
    if key.is_empty() {
        return invalid("an empty key");
    }
    turned(key, integer_keys(map.id).0)
}

/// A page of keys in the program's form.
pub(crate) fn in_program_form(page: Page, is_integer: bool) -> Result<Page> {
    if !is_integer {
        return Ok(page);
    }
    let mut turned_page = PageBuilder::new();
    for key in page.keys() {
        turned_page.push(&turned(key, true)?, b"");
    }
    Ok(turned_page.finish(page.next().cloned()))
}
