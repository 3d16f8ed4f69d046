//! Properties, owners and access control lists of containers, as lists that libdaos reads, creates and frees.

use std::{
    ffi::{CStr, CString, c_char},
    ptr,
};

use isotach_daos_abi::{
    errors::{DER_INVAL, DER_MISC, DER_NOMEM},
    info::{daos_acl, daos_prop_co_roots, daos_prop_entry, daos_prop_t, daos_prop_value},
    properties::*,
    types::daos_obj_id_t,
};

use super::{Cont, Der, Roots, api::Functions};

/// The value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u64),
    Text(String),
}

/// The owner, group and permissions of a container, in DAOS's text form.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) owner: String,
    pub(crate) group: String,
    pub(crate) entries: Vec<String>,
}

pub(super) fn c_string(text: &str) -> Result<CString, Der> {
    CString::new(text).map_err(|_| Der(DER_INVAL))
}

/// A text of libdaos.
///
/// # Safety
/// Null, or a string that ends with a NUL and lives for the call.
unsafe fn text_at(place: *const c_char) -> Option<String> {
    // SAFETY: it is not null, so it is a string that ends with a NUL, which is copied at once.
    (!place.is_null()).then(|| unsafe { CStr::from_ptr(place) }.to_string_lossy().into_owned())
}

fn entry(number: u32, value: daos_prop_value) -> daos_prop_entry {
    daos_prop_entry { dpe_type: number, dpe_flags: 0, dpe_reserv: 0, dpe_value: value }
}

/// Calls a function with a list of these entries.
fn with_list<T>(entries: &mut [daos_prop_entry], call: impl FnOnce(*mut daos_prop_t) -> T) -> T {
    let count = entries.len() as u32;
    call(&mut daos_prop_t { dpp_nr: count, dpp_reserv: 0, dpp_entries: entries.as_mut_ptr() })
}

/// A list of properties that libdaos allocated and frees.
struct Made {
    functions: &'static Functions,
    list: *mut daos_prop_t,
}

impl Made {
    fn entries(&self) -> &[daos_prop_entry] {
        // SAFETY: a list of libdaos's, alive as long as this.
        let list = unsafe { &*self.list };
        match list.dpp_entries.is_null() {
            true => &[],
            // SAFETY: as many entries as the list says.
            false => unsafe { std::slice::from_raw_parts(list.dpp_entries, list.dpp_nr as usize) },
        }
    }

    fn set(&self) -> impl Iterator<Item = &daos_prop_entry> {
        self.entries().iter().filter(|entry| entry.dpe_flags & DAOS_PROP_ENTRY_NOT_SET == 0)
    }

    fn text(&self, number: u32) -> Option<String> {
        let entry = self.set().find(|entry| entry.dpe_type == number)?;
        // SAFETY: only properties whose value is a string reach this.
        unsafe { text_at(entry.dpe_value.dpe_str) }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // SAFETY: a list of libdaos's, with what its entries point to; not used any more.
        unsafe { (self.functions.prop_free)(self.list) };
    }
}

/// An access control list of libdaos's.
struct AccessList {
    functions: &'static Functions,
    list: *mut daos_acl,
}

impl AccessList {
    fn of(functions: &'static Functions, entries: &[String]) -> Result<Self, Der> {
        let entries = entries.iter().map(|entry| c_string(entry)).collect::<Result<Vec<_>, Der>>()?;
        let mut texts: Vec<*const c_char> = entries.iter().map(|entry| entry.as_ptr()).collect();
        let mut list = ptr::null_mut();
        // SAFETY: as many strings as the number says and a place for the list, alive for the call.
        Der::check(unsafe { (functions.acl_from_strs)(texts.as_mut_ptr(), texts.len(), &mut list) })?;
        Ok(Self { functions, list })
    }
}

impl Drop for AccessList {
    fn drop(&mut self) {
        // SAFETY: a list of libdaos's, not used any more.
        unsafe { (self.functions.acl_free)(self.list) };
    }
}

/// The texts of a list's entries.
///
/// # Safety
/// A whole list, alive for the call.
unsafe fn texts(functions: &Functions, list: *mut daos_acl) -> Result<Vec<String>, Der> {
    let (mut texts, mut count) = (ptr::null_mut::<*mut c_char>(), 0);
    // SAFETY: `list` is whole and alive for the call, which only reads it; both places are of this function.
    Der::check(unsafe { (functions.acl_to_strs)(list, &mut texts, &mut count) })?;
    let take = |at| {
        // SAFETY: as many places as the number says, each with a string of C's allocator.
        unsafe {
            let place = *texts.add(at);
            let text = text_at(place).unwrap_or_default();
            libc::free(place.cast());
            text
        }
    };
    let taken = (0..count).map(take).collect();
    // SAFETY: of C's allocator, and not used any more.
    unsafe { libc::free(texts.cast()) };
    Ok(taken)
}

/// What a new container is to have from the first moment on.
pub(crate) struct NewContainer<'a> {
    pub(crate) numbers: &'a [(u32, u64)],
    pub(crate) roots: Roots,
    /// The entries of its access control list.
    pub(crate) list: &'a [String],
}

impl NewContainer<'_> {
    /// Calls something with the list of properties that a new container is made with.
    pub(super) fn with_list<T>(
        &self,
        functions: &'static Functions,
        call: impl FnOnce(*mut daos_prop_t) -> T,
    ) -> Result<T, Der> {
        let mut roots = daos_prop_co_roots { cr_oids: self.roots.map(|(hi, lo)| daos_obj_id_t { lo, hi }) };
        let list = AccessList::of(functions, self.list)?;
        let pointers = [
            (DAOS_PROP_CO_ROOTS, daos_prop_value { dpe_val_ptr: (&raw mut roots).cast() }),
            (DAOS_PROP_CO_ACL, daos_prop_value { dpe_val_ptr: list.list.cast() }),
        ];
        let numbers =
            self.numbers.iter().map(|&(number, value)| (number, daos_prop_value { dpe_val: value }));
        let mut entries: Vec<_> =
            numbers.chain(pointers).map(|(number, value)| entry(number, value)).collect();
        Ok(with_list(&mut entries, call))
    }
}

impl Cont {
    /// Its properties but for owner, group, list and roots.
    pub(crate) fn properties(&self) -> Result<Vec<(u32, Value)>, Der> {
        let functions = self.functions();
        // SAFETY: a number. A list without entries is one for all there are.
        let list = unsafe { (functions.prop_alloc)(0) };
        if list.is_null() {
            return Err(Der(DER_NOMEM));
        }
        let made = Made { functions, list };
        // SAFETY: a list to be filled, alive for the call.
        self.check(unsafe {
            (functions.cont_query)(self.handle, ptr::null_mut(), made.list, ptr::null_mut())
        })?;
        let others = [DAOS_PROP_CO_OWNER, DAOS_PROP_CO_OWNER_GROUP, DAOS_PROP_CO_ACL, DAOS_PROP_CO_ROOTS];
        let shown = made.set().filter(|entry| !others.contains(&entry.dpe_type));
        let values = shown.map(|entry| {
            let value = match entry.dpe_type {
                DAOS_PROP_CO_LABEL => Value::Text(made.text(entry.dpe_type).unwrap_or_default()),
                // SAFETY: every other property is a number.
                _ => Value::Number(unsafe { entry.dpe_value.dpe_val }),
            };
            (entry.dpe_type, value)
        });
        Ok(values.collect())
    }

    /// Changes properties that are numbers.
    pub(crate) fn set_properties(&self, properties: &[(u32, u64)]) -> Result<(), Der> {
        let as_entry = |&(number, value): &(u32, u64)| entry(number, daos_prop_value { dpe_val: value });
        let mut entries: Vec<_> = properties.iter().map(as_entry).collect();
        let set = self.functions().cont_set_prop;
        // SAFETY: a list with as many entries as it says, alive for the call.
        with_list(&mut entries, |list| self.check(unsafe { set(self.handle, list, ptr::null_mut()) }))
    }

    /// Whose it is, and who may do what with it.
    pub(crate) fn access(&self) -> Result<Access, Der> {
        let (functions, mut list) = (self.functions(), ptr::null_mut());
        // SAFETY: a place for the list, alive for the call.
        self.check(unsafe { (functions.cont_get_acl)(self.handle, &mut list, ptr::null_mut()) })?;
        let made = Made { functions, list };
        let found = made.set().find(|entry| entry.dpe_type == DAOS_PROP_CO_ACL);
        // SAFETY: the value of a property of this kind is a pointer.
        let list = found.map_or(ptr::null_mut(), |entry| unsafe { entry.dpe_value.dpe_val_ptr });
        let names = (made.text(DAOS_PROP_CO_OWNER), made.text(DAOS_PROP_CO_OWNER_GROUP));
        let (Some(owner), Some(group), false) = (names.0, names.1, list.is_null()) else {
            return Err(Der(DER_MISC));
        };
        // SAFETY: a list of libdaos's, alive as long as what made it.
        let entries = unsafe { texts(functions, list.cast()) }?;
        Ok(Access { owner, group, entries })
    }

    /// Puts another access control list instead of what was there.
    pub(crate) fn set_list(&self, entries: &[String]) -> Result<(), Der> {
        let functions = self.functions();
        let list = AccessList::of(functions, entries)?;
        // SAFETY: a list of libdaos's, alive for the call.
        self.check(unsafe { (functions.cont_overwrite_acl)(self.handle, list.list, ptr::null_mut()) })
    }

    /// Gives it to another user or group, in DAOS's form of a name.
    pub(crate) fn set_owner(&self, owner: Option<&str>, group: Option<&str>) -> Result<(), Der> {
        let names = [owner, group].map(|name| name.map(c_string).transpose());
        let [owner, group] = names;
        let (owner, group) = (owner?, group?);
        let [owner, group] = [&owner, &group]
            .map(|name| name.as_ref().map_or(ptr::null_mut(), |name| name.as_ptr().cast_mut()));
        // SAFETY: strings that end with a NUL, or null; alive for the call, which changes nothing of them.
        self.check(unsafe { (self.functions().cont_set_owner)(self.handle, owner, group, ptr::null_mut()) })
    }
}
