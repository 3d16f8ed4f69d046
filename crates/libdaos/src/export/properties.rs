//! Lists of properties. Their memory is of C's allocator, since programs put texts of their own into them.

use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
};

use super::{
    acl::list_bytes,
    answer, copied, many, many_mut, place,
    property_values::{has_pointer, has_text},
    ranks::d_rank_list_free,
};
use crate::{
    abi::{errors::*, info::*, properties::*, types::*},
    error::{Result, invalid, refuse},
    handles,
    properties::{self, Kind, Properties, Value},
};

#[unsafe(no_mangle)]
pub(super) extern "C" fn daos_prop_alloc(count: u32) -> *mut daos_prop_t {
    if count > DAOS_PROP_ENTRIES_MAX_NR {
        return ptr::null_mut();
    }
    // SAFETY: both are zeroed memory, which is a list of properties that are not set.
    unsafe {
        let list: *mut daos_prop_t = libc::calloc(1, size_of::<daos_prop_t>()).cast();
        if list.is_null() || count == 0 {
            return list;
        }
        let entries: *mut daos_prop_entry = libc::calloc(count as usize, size_of::<daos_prop_entry>()).cast();
        if entries.is_null() {
            libc::free(list.cast());
            return ptr::null_mut();
        }
        ((*list).dpp_nr, (*list).dpp_entries) = (count, entries);
        list
    }
}

/// A list of properties without values, which the program frees.
pub(super) fn of_numbers(numbers: &[u32]) -> Result<*mut daos_prop_t> {
    let list = daos_prop_alloc(numbers.len() as u32);
    if list.is_null() {
        return refuse(DER_NOMEM, "no memory for properties");
    }
    // SAFETY: a list that was made just now, with so many entries.
    let entries = unsafe { entries(list) }?;
    entries.iter_mut().zip(numbers).for_each(|(entry, number)| entry.dpe_type = *number);
    Ok(list)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn daos_prop_free(list: *mut daos_prop_t) {
    // SAFETY: a list of `daos_prop_alloc`, or null.
    unsafe {
        daos_prop_fini(list);
        libc::free(list.cast());
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_prop_fini(list: *mut daos_prop_t) {
    // SAFETY: a list of the caller's with entries of `daos_prop_alloc`.
    let Some(head) = (unsafe { list.as_mut() }) else { return };
    // SAFETY: as above.
    for entry in unsafe { entries(list) }.into_iter().flatten() {
        // SAFETY: values are of C's allocator.
        unsafe { clear(entry) };
    }
    // SAFETY: as above; freeing what is null does nothing.
    unsafe { libc::free(head.dpp_entries.cast()) };
    (head.dpp_nr, head.dpp_entries) = (0, ptr::null_mut());
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn daos_prop_entry_get(
    list: *mut daos_prop_t,
    number: u32,
) -> *mut daos_prop_entry {
    // SAFETY: a list of the caller's.
    let found =
        unsafe { entries(list) }.ok().and_then(|all| all.iter_mut().find(|entry| entry.dpe_type == number));
    found.map_or(ptr::null_mut(), ptr::from_mut)
}

/// The entries of a list.
///
/// # Safety
/// As [`place`], for the list and its entries.
pub(super) unsafe fn entries<'a>(list: *mut daos_prop_t) -> Result<&'a mut [daos_prop_entry]> {
    // SAFETY: as the caller says.
    let list = unsafe { place(list) }?;
    // SAFETY: as the caller says.
    unsafe { many_mut(list.dpp_entries, list.dpp_nr.into()) }
}

/// Frees the value of an entry where it is a pointer.
///
/// # Safety
/// Such a value is null or of C's allocator, and nobody uses it any more.
pub(super) unsafe fn clear(entry: &mut daos_prop_entry) {
    if has_text(entry.dpe_type) || has_pointer(entry.dpe_type) {
        // SAFETY: as the caller says.
        unsafe { libc::free(entry.value()) };
        entry.set_value(ptr::null_mut());
    } else if entry.dpe_type == DAOS_PROP_PO_SVC_LIST {
        // SAFETY: as the caller says; it is a list of servers.
        unsafe { d_rank_list_free(entry.value().cast()) };
        entry.set_value(ptr::null_mut());
    }
}

/// What a list of the caller's says.
///
/// # Safety
/// As [`place`], for a list that is not null, its entries and their texts.
pub(super) unsafe fn taken(list: *mut daos_prop_t) -> Result<Properties> {
    let mut taken = Properties::new();
    if list.is_null() {
        return Ok(taken);
    }
    // SAFETY: as the caller says.
    for entry in unsafe { entries(list) }? {
        let Some(kind) = properties::kind(entry.dpe_type) else {
            return invalid(&format!("property {:#x}, which containers do not have", entry.dpe_type));
        };
        if kind != Kind::Number && entry.value().is_null() {
            return invalid("a property without its value");
        }
        // SAFETY: as the caller says; what is no number is a pointer to what the property is.
        let value = unsafe {
            match kind {
                Kind::Number => Value::Number(entry.number()),
                Kind::Text => {
                    Value::Text(CStr::from_ptr(entry.value().cast()).to_string_lossy().into_owned())
                }
                Kind::List => Value::Bytes(list_bytes(entry.value().cast())?.to_vec()),
                Kind::Roots => {
                    Value::Bytes(many(entry.value().cast(), size_of::<daos_prop_co_roots>() as u64)?.to_vec())
                }
            }
        };
        taken.insert(entry.dpe_type, value);
    }
    properties::check(&taken)?;
    Ok(taken)
}

/// Fills a list of the caller's: the entries that it names, or all that there are where it has none.
///
/// # Safety
/// As [`taken`].
pub(super) unsafe fn fill(list: *mut daos_prop_t, found: &Properties) -> Result<()> {
    // SAFETY: as the caller says.
    let head = unsafe { place(list) }?;
    if head.dpp_nr == 0 && head.dpp_entries.is_null() {
        // SAFETY: zeroed memory, which is entries that are not set; the caller frees it with the list.
        head.dpp_entries = unsafe { libc::calloc(found.len().max(1), size_of::<daos_prop_entry>()) }.cast();
        if head.dpp_entries.is_null() {
            return refuse(DER_NOMEM, "no memory for properties");
        }
        head.dpp_nr = found.len() as u32;
        // SAFETY: as many entries as were made.
        let entries = unsafe { many_mut(head.dpp_entries, head.dpp_nr.into()) }?;
        entries.iter_mut().zip(found.keys()).for_each(|(entry, number)| entry.dpe_type = *number);
    }
    // SAFETY: as the caller says.
    for entry in unsafe { many_mut(head.dpp_entries, head.dpp_nr.into()) }? {
        match found.get(&entry.dpe_type) {
            Some(Value::Number(number)) => entry.set_number(*number),
            Some(Value::Text(text)) => entry.set_value(copied(&[text.as_bytes(), &[0]].concat())?.cast()),
            Some(Value::Bytes(bytes)) => entry.set_value(copied(bytes)?.cast()),
            None => entry.dpe_flags |= DAOS_PROP_ENTRY_NOT_SET,
        }
    }
    Ok(())
}

/// The numbers of the properties that a list of the caller's asks for.
///
/// # Safety
/// As [`taken`].
pub(super) unsafe fn asked(list: *mut daos_prop_t) -> Result<Vec<u32>> {
    // SAFETY: as the caller says.
    let asked: Vec<u32> = unsafe { entries(list) }?.iter().map(|entry| entry.dpe_type).collect();
    Ok(if asked.is_empty() { (DAOS_PROP_CO_MIN + 1..DAOS_PROP_CO_MAX).collect() } else { asked })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_set_prop(
    container: daos_handle_t,
    list: *mut daos_prop_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: a list of the caller's.
        let given = unsafe { taken(list) }?;
        properties::check_changeable(&given)?;
        let container = handles::container(container.cookie)?;
        if given.is_empty() || given.contains_key(&DAOS_PROP_CO_LABEL) {
            return invalid("properties to be set: one at least, and no label, which stays");
        }
        properties::keep(&container, &given)
    })
}

/// The value of a property, read as what it is.
pub(super) trait Union {
    fn number(&self) -> u64;
    fn value(&self) -> *mut c_void;
    fn set_number(&mut self, number: u64);
    fn set_value(&mut self, value: *mut c_void);
}

impl Union for daos_prop_entry {
    fn number(&self) -> u64 {
        // SAFETY: whatever was put there is eight bytes, which are a number.
        unsafe { self.dpe_value.dpe_val }
    }

    fn value(&self) -> *mut c_void {
        // SAFETY: whatever was put there is eight bytes, which may be taken for a pointer that is not followed.
        unsafe { self.dpe_value.dpe_val_ptr }
    }

    fn set_number(&mut self, number: u64) {
        self.dpe_value.dpe_val = number;
    }

    fn set_value(&mut self, value: *mut c_void) {
        self.dpe_value.dpe_val_ptr = value;
    }
}
