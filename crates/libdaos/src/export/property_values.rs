//! Values of properties: storing them in lists, copying them, reading them from text.

use std::{
    ffi::{CStr, c_char, c_void},
    ptr, slice,
};

use super::{
    In, InOut, Out, copied, export, many,
    properties::{allocated, clear, daos_prop_entry_get, daos_prop_free, list_of, value},
};
use crate::{
    abi::{errors::*, info::*, properties::*},
    containers::property_text,
    runtime::error::{Der, Result, invalid, refuse},
};

/// Whether the value of a property is a string.
pub(super) fn has_text(number: u32) -> bool {
    [
        DAOS_PROP_PO_LABEL,
        DAOS_PROP_PO_OWNER,
        DAOS_PROP_PO_OWNER_GROUP,
        DAOS_PROP_CO_LABEL,
        DAOS_PROP_CO_OWNER,
        DAOS_PROP_CO_OWNER_GROUP,
    ]
    .contains(&number)
}

/// Whether the value of a property is a pointer to one contiguous block.
pub(super) fn has_pointer(number: u32) -> bool {
    [DAOS_PROP_PO_ACL, DAOS_PROP_CO_ACL, DAOS_PROP_CO_ROOTS].contains(&number)
}

/// A copy of an entry with a value of its own.
///
/// # Safety
/// STRUCT for the entry: its value is of the kind of its number.
unsafe fn copy(entry: &daos_prop_entry) -> Result<daos_prop_entry> {
    let mut made = *entry;
    let value = value(entry);
    // SAFETY: the value is not null, and by its number a STRING, a STRUCT, or BYTES of the roots.
    let bytes = unsafe {
        match entry.dpe_type {
            _ if value.is_null() => return Ok(made),
            number if has_text(number) => CStr::from_ptr(value.cast()).to_bytes_with_nul(),
            DAOS_PROP_PO_ACL | DAOS_PROP_CO_ACL => In::<daos_acl>::new(value.cast()).bytes()?,
            DAOS_PROP_CO_ROOTS => many(value.cast(), size_of::<daos_prop_co_roots>() as u64)?,
            DAOS_PROP_PO_SVC_LIST => return refuse(DER_NOSYS, "a copy of the list of a pool's servers"),
            _ => return Ok(made),
        }
    };
    made.dpe_value.dpe_val_ptr = copied(bytes)?.cast();
    Ok(made)
}

/// Copies entries into a list of at least as many. Each replaces the entry with its number.
///
/// # Safety
/// As [`copy`], for all.
unsafe fn copy_all(from: &[daos_prop_entry], into: &mut [daos_prop_entry]) -> Result<()> {
    for entry in from {
        // SAFETY: STRUCT for each of `from`, with its value.
        let made = unsafe { copy(entry) }?;
        let same = into.iter().position(|old| old.dpe_type == entry.dpe_type);
        let Some(at) = same.or_else(|| into.iter().position(|old| old.dpe_type == 0)) else {
            return invalid("more properties than the list has space for");
        };
        // SAFETY: HEAP for the value, which is a copy made here before, or none.
        unsafe { clear(&mut into[at]) };
        into[at] = made;
    }
    Ok(())
}

/// A new list of `count` entries with copies of the entries of lists. Later ones replace earlier ones.
///
/// # Safety
/// As [`copy`], for all.
unsafe fn merged(count: usize, lists: &[&[daos_prop_entry]]) -> Result<*mut daos_prop_t> {
    let made = allocated(count)?;
    // SAFETY: `made` was allocated just now, with `count` entries; STRUCT for each of the others, with its value.
    let outcome = unsafe {
        InOut::new(made).entries().and_then(|into| lists.iter().try_for_each(|list| copy_all(list, into)))
    };
    // SAFETY: HEAP for `made`, which nobody else has.
    outcome.inspect_err(|_| unsafe { daos_prop_free(made) })?;
    Ok(made)
}

/// Copies a list of properties, of pools (`for_pool`) or of containers.
#[export]
fn daos_prop_dup(list: InOut<daos_prop_t>, for_pool: bool, _input: bool) -> *mut daos_prop_t {
    let range = match for_pool {
        true => DAOS_PROP_PO_MIN + 1..DAOS_PROP_PO_MAX,
        false => DAOS_PROP_CO_MIN + 1..DAOS_PROP_CO_MAX,
    };
    let Ok(all) = list.entries() else { return ptr::null_mut() };
    if !all.iter().all(|entry| range.contains(&entry.dpe_type)) {
        return ptr::null_mut();
    }
    // SAFETY: STRUCT for `list`, whose entries these are, with their values.
    unsafe { merged(all.len(), &[all]) }.unwrap_or(ptr::null_mut())
}

#[export]
fn daos_prop_merge2(
    old: InOut<daos_prop_t>,
    new: InOut<daos_prop_t>,
    result: Out<*mut daos_prop_t>,
) -> Result<()> {
    let (old, new, place) = (&*old.entries()?, &*new.entries()?, result.place()?);
    let is_new = |entry: &&daos_prop_entry| old.iter().all(|other| other.dpe_type != entry.dpe_type);
    let count = old.len() + new.iter().filter(is_new).count();
    // SAFETY: STRUCT for both lists, whose entries these are, with their values.
    place.set(unsafe { merged(count, &[old, new]) }?);
    Ok(())
}

#[export]
fn daos_prop_merge(old: InOut<daos_prop_t>, new: InOut<daos_prop_t>) -> *mut daos_prop_t {
    let mut result = ptr::null_mut();
    daos_prop_merge2(old, new, Out::from(&mut result));
    result
}

#[export]
fn daos_prop_has_str(entry: In<daos_prop_entry>) -> bool {
    entry.or_none().is_some_and(|entry| has_text(entry.dpe_type))
}

#[export]
fn daos_prop_has_ptr(entry: In<daos_prop_entry>) -> bool {
    entry.or_none().is_some_and(|entry| has_pointer(entry.dpe_type))
}

/// Replaces the value of an entry of the right kind by a copy of bytes.
///
/// # Safety
/// HEAP for the value of the entry.
unsafe fn put(entry: InOut<daos_prop_entry>, is_right: impl Fn(u32) -> bool, bytes: &[u8]) -> Result<()> {
    let entry = entry.get()?;
    if !is_right(entry.dpe_type) {
        return invalid(&format!("a value of another kind than property {:#x} has", entry.dpe_type));
    }
    let value = copied(bytes)?;
    // SAFETY: HEAP for the value of `entry`.
    unsafe { clear(entry) };
    entry.dpe_value.dpe_val_ptr = value.cast();
    Ok(())
}

#[export]
unsafe fn daos_prop_entry_set_str(
    entry: InOut<daos_prop_entry>,
    text: *const c_char,
    length: u64,
) -> Result<()> {
    // SAFETY: BYTES for `text`, up to the first NUL or `length`; HEAP for the value of `entry`.
    unsafe { put(entry, has_text, &[bounded(text, length)?, &[0]].concat()) }
}

#[export]
unsafe fn daos_prop_entry_set_ptr(
    entry: InOut<daos_prop_entry>,
    value: *const c_void,
    size: u64,
) -> Result<()> {
    // SAFETY: BYTES for `value`, as many as `size` says; HEAP for the value of `entry`.
    unsafe { put(entry, has_pointer, many(value.cast(), size)?) }
}

/// The entry of a list with a number.
fn entry_of<'a>(list: InOut<'a, daos_prop_t>, number: u32) -> Result<InOut<'a, daos_prop_entry>> {
    match daos_prop_entry_get(list, number) {
        entry if entry.is_null() => Err(Der(DER_NONEXIST)),
        // SAFETY: `entry` is in the list.
        entry => Ok(unsafe { InOut::new(entry) }),
    }
}

#[export]
unsafe fn daos_prop_set_str(
    list: InOut<daos_prop_t>,
    number: u32,
    text: *const c_char,
    length: u64,
) -> Result<()> {
    let entry = entry_of(list, number)?;
    // SAFETY: BYTES for `text`, up to the first NUL or `length`; HEAP for the value of `entry`.
    unsafe { put(entry, has_text, &[bounded(text, length)?, &[0]].concat()) }
}

#[export]
unsafe fn daos_prop_set_ptr(
    list: InOut<daos_prop_t>,
    number: u32,
    value: *const c_void,
    size: u64,
) -> Result<()> {
    let entry = entry_of(list, number)?;
    // SAFETY: BYTES for `value`, as many as `size` says; HEAP for the value of `entry`.
    unsafe { put(entry, has_pointer, many(value.cast(), size)?) }
}

/// The bytes of a string, which ends at a NUL or after a number of bytes.
///
/// # Safety
/// BYTES, up to the first NUL or that number, as long as the result is used.
unsafe fn bounded<'a>(text: *const c_char, length: u64) -> Result<&'a [u8]> {
    if text.is_null() {
        return invalid("a null pointer for a string");
    }
    let most = usize::try_from(length).map_err(|_| Der(DER_INVAL))?;
    // SAFETY: BYTES for `text`, which is not null: none behind the first NUL is read.
    let length = unsafe { libc::strnlen(text, most) };
    // SAFETY: `strnlen` has read so many bytes there.
    Ok(unsafe { slice::from_raw_parts(text.cast(), length) })
}

#[export]
unsafe fn daos_prop_from_str(text: *const c_char, length: u64, list: Out<*mut daos_prop_t>) -> Result<()> {
    // SAFETY: BYTES for `text`, up to the first NUL or `length`.
    let (text, place) = (unsafe { bounded(text, length) }?, list.place()?);
    let Ok(text) = std::str::from_utf8(text) else { return invalid("properties that are not UTF-8") };
    let found = property_text::parse(text)?;
    let numbers: Vec<u32> = found.keys().copied().collect();
    place.set(list_of(&numbers, &found)?);
    Ok(())
}
