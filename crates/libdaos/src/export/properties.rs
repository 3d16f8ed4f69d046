//! Lists of properties. Their memory is of C's allocator, since programs store their own texts in them.

use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
};

use super::{
    acl::list_bytes,
    answer, copied, many, many_mut, place, place_or_none,
    property_values::{has_pointer, has_text},
    ranks::d_rank_list_free,
};
use crate::{
    abi::{errors::*, info::*, properties::*, types::*},
    containers::{
        Container,
        properties::{self, Kind, Properties, Value},
    },
    runtime::error::{Result, invalid, refuse},
};

#[unsafe(no_mangle)]
pub(super) extern "C" fn daos_prop_alloc(count: u32) -> *mut daos_prop_t {
    if count > DAOS_PROP_ENTRIES_MAX_NR {
        return ptr::null_mut();
    }
    // SAFETY: `calloc` takes any numbers. Zeros are a list without entries, and entries that are not set.
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
    // SAFETY: STRUCT for `list`.
    let entries = unsafe { entries(list) }?;
    entries.iter_mut().zip(numbers).for_each(|(entry, number)| entry.dpe_type = *number);
    Ok(list)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn daos_prop_free(list: *mut daos_prop_t) {
    // SAFETY: STRUCT and HEAP for `list`.
    unsafe {
        daos_prop_fini(list);
        libc::free(list.cast());
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_prop_fini(list: *mut daos_prop_t) {
    // SAFETY: STRUCT for `list`.
    let Some(head) = (unsafe { place_or_none(list) }) else { return };
    // SAFETY: STRUCT for `list`; `head` is not used meanwhile.
    for entry in unsafe { entries(list) }.into_iter().flatten() {
        // SAFETY: HEAP for the value.
        unsafe { clear(entry) };
    }
    // SAFETY: HEAP for the entries; nothing borrows them any more.
    unsafe { libc::free(head.dpp_entries.cast()) };
    (head.dpp_nr, head.dpp_entries) = (0, ptr::null_mut());
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn daos_prop_entry_get(
    list: *mut daos_prop_t,
    number: u32,
) -> *mut daos_prop_entry {
    // SAFETY: STRUCT for `list`.
    let found =
        unsafe { entries(list) }.ok().and_then(|all| all.iter_mut().find(|entry| entry.dpe_type == number));
    found.map_or(ptr::null_mut(), ptr::from_mut)
}

/// The entries of a list.
///
/// # Safety
/// STRUCT, with its LIST of entries, as long as the result is used.
pub(super) unsafe fn entries<'a>(list: *mut daos_prop_t) -> Result<&'a mut [daos_prop_entry]> {
    // SAFETY: STRUCT for `list`.
    let list = unsafe { place(list) }?;
    // SAFETY: LIST for `dpp_entries`, of `dpp_nr`.
    unsafe { many_mut(list.dpp_entries, list.dpp_nr.into()) }
}

/// Frees the value of an entry where it is a pointer.
///
/// # Safety
/// HEAP for such a value.
pub(super) unsafe fn clear(entry: &mut daos_prop_entry) {
    if has_text(entry.dpe_type) || has_pointer(entry.dpe_type) {
        // SAFETY: HEAP for the value, which is a pointer by its number.
        unsafe { libc::free(entry.value()) };
        entry.set_value(ptr::null_mut());
    } else if entry.dpe_type == DAOS_PROP_PO_SVC_LIST {
        // SAFETY: HEAP for the value, which is a list of servers by its number.
        unsafe { d_rank_list_free(entry.value().cast()) };
        entry.set_value(ptr::null_mut());
    }
}

/// The properties in a list of the caller's.
///
/// # Safety
/// STRUCT for the list, its entries and their values.
pub(super) unsafe fn taken(list: *mut daos_prop_t) -> Result<Properties> {
    let mut taken = Properties::new();
    if list.is_null() {
        return Ok(taken);
    }
    // SAFETY: STRUCT for `list`.
    for entry in unsafe { entries(list) }? {
        let Some(kind) = properties::kind(entry.dpe_type) else {
            return invalid(&format!("property {:#x}, which containers do not have", entry.dpe_type));
        };
        if kind != Kind::Number && entry.value().is_null() {
            return invalid("a property without its value");
        }
        // SAFETY: a value that is no number is a pointer that is not null: a STRING, a STRUCT, or BYTES of the roots, by its number.
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

/// Fills a list of the caller's: the entries that it names, or all properties if it has none.
///
/// # Safety
/// STRUCT for the list, and its entries.
pub(super) unsafe fn fill(list: *mut daos_prop_t, found: &Properties) -> Result<()> {
    // SAFETY: STRUCT for `list`.
    let head = unsafe { place(list) }?;
    if head.dpp_nr == 0 && head.dpp_entries.is_null() {
        // SAFETY: `calloc` takes any numbers. Zeros are entries that are not set; the program frees them with the list.
        head.dpp_entries = unsafe { libc::calloc(found.len().max(1), size_of::<daos_prop_entry>()) }.cast();
        if head.dpp_entries.is_null() {
            return refuse(DER_NOMEM, "no memory for properties");
        }
        head.dpp_nr = found.len() as u32;
        // SAFETY: allocated just now with `dpp_nr` entries.
        let entries = unsafe { many_mut(head.dpp_entries, head.dpp_nr.into()) }?;
        entries.iter_mut().zip(found.keys()).for_each(|(entry, number)| entry.dpe_type = *number);
    }
    // SAFETY: LIST for `dpp_entries`, of `dpp_nr`.
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

/// The numbers of the properties in a request of the caller's.
///
/// # Safety
/// STRUCT for the list, and its entries.
pub(super) unsafe fn asked(list: *mut daos_prop_t) -> Result<Vec<u32>> {
    // SAFETY: STRUCT for `list`.
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
        // SAFETY: STRUCT for `list`.
        let mut given = unsafe { taken(list) }?;
        properties::check_changeable(&given)?;
        let container = Container::get(container.cookie)?;
        if given.is_empty() {
            return invalid("properties to be set: one at least is expected");
        }
        let label = given.remove(&DAOS_PROP_CO_LABEL);
        if label.is_some_and(|label| label != Value::Text(container.inner.label().to_string())) {
            return invalid("another label for a container, which keeps the one it has");
        }
        properties::keep(&container, &given)
    })
}

/// The value of a property, by its kind.
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
