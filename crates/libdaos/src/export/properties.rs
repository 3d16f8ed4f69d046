//! Lists of properties. Their memory is of C's allocator, since programs store their own texts in them.

use std::{
    ffi::{CStr, c_void},
    ptr,
};

use super::{
    Event, Handle, In, InOut, copied, export,
    gurt::d_rank_list_free,
    many, many_mut,
    property_values::{has_pointer, has_text},
};
use crate::{
    abi::{errors::*, info::*, properties::*},
    containers::{
        Container,
        properties::{self, Kind, Properties, Value},
    },
    runtime::error::{Result, invalid, refuse},
};

#[export]
pub(super) fn daos_prop_alloc(count: u32) -> *mut daos_prop_t {
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

/// A list without values, which the program frees.
pub(super) fn allocated(count: usize) -> Result<*mut daos_prop_t> {
    let list = daos_prop_alloc(count as u32);
    if list.is_null() { refuse(DER_NOMEM, "no memory for properties") } else { Ok(list) }
}

/// A list of some of the properties, which the program frees.
pub(super) fn list_of(numbers: &[u32], found: &Properties) -> Result<*mut daos_prop_t> {
    let made = allocated(numbers.len())?;
    // SAFETY: `made` was allocated just now, with as many entries, and is used by nobody else.
    let mut list = unsafe { InOut::new(made) };
    let entries = list.reborrow().entries()?;
    entries.iter_mut().zip(numbers).for_each(|(entry, number)| entry.dpe_type = *number);
    list.fill(found)?;
    Ok(made)
}

#[export]
pub(super) unsafe fn daos_prop_free(list: *mut daos_prop_t) {
    // SAFETY: STRUCT and HEAP for `list`.
    unsafe {
        daos_prop_fini(InOut::new(list));
        libc::free(list.cast());
    }
}

#[export]
unsafe fn daos_prop_fini(mut list: InOut<daos_prop_t>) {
    // Without a list there is nothing to free, and nothing to log.
    if list.is_null() {
        return;
    }
    for entry in list.reborrow().entries().into_iter().flatten() {
        // SAFETY: HEAP for the value.
        unsafe { clear(entry) };
    }
    let Some(head) = list.or_none() else { return };
    // SAFETY: HEAP for the entries; nothing borrows them any more.
    unsafe { libc::free(head.dpp_entries.cast()) };
    (head.dpp_nr, head.dpp_entries) = (0, ptr::null_mut());
}

#[export]
pub(super) fn daos_prop_entry_get(list: InOut<daos_prop_t>, number: u32) -> *mut daos_prop_entry {
    let mut all = list.entries().into_iter().flatten();
    all.find(|entry| entry.dpe_type == number).map_or(ptr::null_mut(), ptr::from_mut)
}

/// Frees the value of an entry where it is a pointer.
///
/// # Safety
/// HEAP for such a value.
pub(super) unsafe fn clear(entry: &mut daos_prop_entry) {
    // SAFETY: HEAP for the value, which is a pointer, or one to a list of servers, by its number.
    unsafe {
        match entry.dpe_type {
            number if has_text(number) || has_pointer(number) => libc::free(value(entry)),
            DAOS_PROP_PO_SVC_LIST => d_rank_list_free(value(entry).cast()),
            _ => return,
        }
    }
    entry.dpe_value.dpe_val_ptr = ptr::null_mut();
}

impl<'a> InOut<'a, daos_prop_t> {
    /// The entries of a list.
    pub(super) fn entries(self) -> Result<&'a mut [daos_prop_entry]> {
        let list = self.get()?;
        // SAFETY: STRUCT for the list by the type of the parameter, so LIST for `dpp_entries`, of `dpp_nr`.
        unsafe { many_mut(list.dpp_entries, list.dpp_nr.into()) }
    }

    /// The properties in a list.
    pub(super) fn taken(self) -> Result<Properties> {
        let mut taken = Properties::new();
        if self.is_null() {
            return Ok(taken);
        }
        for entry in self.entries()? {
            let (Some(kind), given) = (properties::kind(entry.dpe_type), value(entry)) else {
                return invalid(&format!("property {:#x}, which containers do not have", entry.dpe_type));
            };
            if kind != Kind::Number && given.is_null() {
                return invalid("a property without its value");
            }
            // SAFETY: a value that is no number is a pointer that is not null: a STRING, a STRUCT, or BYTES of the roots, by its number.
            let value = unsafe {
                match kind {
                    Kind::Number => Value::Number(number(entry)),
                    Kind::Text => Value::Text(CStr::from_ptr(given.cast()).to_string_lossy().into_owned()),
                    Kind::List => Value::Bytes(In::<daos_acl>::new(given.cast()).bytes()?.to_vec()),
                    Kind::Roots => {
                        Value::Bytes(many(given.cast(), size_of::<daos_prop_co_roots>() as u64)?.to_vec())
                    }
                }
            };
            taken.insert(entry.dpe_type, value);
        }
        properties::check(&taken)?;
        Ok(taken)
    }

    /// Fills a list: the entries that it names, or all properties if it has none.
    pub(super) fn fill(mut self, found: &Properties) -> Result<()> {
        let head = self.reborrow().get()?;
        if head.dpp_nr == 0 && head.dpp_entries.is_null() {
            // SAFETY: `calloc` takes any numbers. Zeros are entries that are not set; the program frees them with the list.
            head.dpp_entries =
                unsafe { libc::calloc(found.len().max(1), size_of::<daos_prop_entry>()) }.cast();
            if head.dpp_entries.is_null() {
                return refuse(DER_NOMEM, "no memory for properties");
            }
            head.dpp_nr = found.len() as u32;
            let entries = self.reborrow().entries()?;
            entries.iter_mut().zip(found.keys()).for_each(|(entry, number)| entry.dpe_type = *number);
        }
        for entry in self.entries()? {
            let value = &mut entry.dpe_value;
            match found.get(&entry.dpe_type) {
                Some(Value::Number(number)) => value.dpe_val = *number,
                Some(Value::Text(text)) => {
                    value.dpe_val_ptr = copied(&[text.as_bytes(), &[0]].concat())?.cast();
                }
                Some(Value::Bytes(bytes)) => value.dpe_val_ptr = copied(bytes)?.cast(),
                None => entry.dpe_flags |= DAOS_PROP_ENTRY_NOT_SET,
            }
        }
        Ok(())
    }

    /// The numbers of the properties in a request.
    pub(super) fn asked(self) -> Result<Vec<u32>> {
        let asked: Vec<u32> = self.entries()?.iter().map(|entry| entry.dpe_type).collect();
        Ok(if asked.is_empty() { (DAOS_PROP_CO_MIN + 1..DAOS_PROP_CO_MAX).collect() } else { asked })
    }
}

#[export]
fn daos_cont_set_prop(container: Handle, list: InOut<daos_prop_t>, event: Event) -> Result<()> {
    let mut given = list.taken()?;
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
}

/// The value of a property that is a number.
fn number(entry: &daos_prop_entry) -> u64 {
    // SAFETY: whatever was put there is eight bytes, which are a number.
    unsafe { entry.dpe_value.dpe_val }
}

/// The value of a property that is a pointer.
pub(super) fn value(entry: &daos_prop_entry) -> *mut c_void {
    // SAFETY: whatever was put there is eight bytes, which may be taken for a pointer that is not followed.
    unsafe { entry.dpe_value.dpe_val_ptr }
}
