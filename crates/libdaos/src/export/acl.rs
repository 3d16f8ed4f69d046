//! Access control lists, and the functions of containers for them. Lists and entries are in memory of C's allocator: a head, and parts of the
//! sizes in it.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use super::{answer, copied, many, many_mut, out, place, properties, text, value_or_none};
use crate::{
    abi::{acl::*, errors::*, info::*, types::*},
    containers::{
        access,
        acl::{ENTRY_HEAD, Entry, LIST_HEAD, List, has_name},
    },
    runtime::error::{Der, Result, invalid},
};

/// The bytes of a list of the caller's.
///
/// # Safety
/// STRUCT, with the bytes of the entries behind it, as long as the result is used.
pub(super) unsafe fn list_bytes<'a>(list: *const daos_acl) -> Result<&'a [u8]> {
    // SAFETY: STRUCT for `list`.
    match unsafe { value_or_none(list) } {
        None => invalid("a null pointer for an access control list"),
        // SAFETY: STRUCT for `list`: behind its head there are the `dal_len` bytes of its entries.
        Some(head) => unsafe { many(list.cast(), LIST_HEAD as u64 + u64::from(head.dal_len)) },
    }
}

/// The bytes of an entry of the caller's.
///
/// # Safety
/// STRUCT, with the bytes of a name behind it, as long as the result is used.
unsafe fn entry_bytes<'a>(entry: *const daos_ace) -> Result<&'a [u8]> {
    // SAFETY: STRUCT for `entry`.
    match unsafe { value_or_none(entry) } {
        None => invalid("a null pointer for an entry of an access control list"),
        // SAFETY: STRUCT for `entry`: behind its head there are the `dae_principal_len` bytes of a name.
        Some(head) => unsafe { many(entry.cast(), ENTRY_HEAD as u64 + u64::from(head.dae_principal_len)) },
    }
}

/// A list of the caller's.
///
/// # Safety
/// STRUCT for the list.
unsafe fn list_of(list: *const daos_acl) -> Result<List> {
    // SAFETY: STRUCT for `list`.
    List::read(unsafe { list_bytes(list) }?)
}

/// An entry of the caller's.
///
/// # Safety
/// STRUCT for the entry.
unsafe fn entry_of(entry: *const daos_ace) -> Result<Entry> {
    // SAFETY: STRUCT for `entry`.
    Ok(Entry::read(unsafe { entry_bytes(entry) }?)?.0)
}

/// The kind of a principal, and its name, if any.
///
/// # Safety
/// STRING, as long as the result is used.
unsafe fn principal<'a>(kind: c_int, name: *const c_char) -> Result<(u8, &'a str)> {
    match u8::try_from(kind).ok().filter(|_| kind <= DAOS_ACL_EVERYONE) {
        None => invalid("a kind of principals that there is not"),
        // SAFETY: STRING for `name`.
        Some(kind) if has_name(kind) => Ok((kind, unsafe { text(name) }?)),
        Some(kind) => Ok((kind, "")),
    }
}

/// A pointer, or null after a failure.
fn or_null<T>(made: Result<*mut T>) -> *mut T {
    made.unwrap_or(ptr::null_mut())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_create(entries: *mut *mut daos_ace, count: u16) -> *mut daos_acl {
    let read = || {
        // SAFETY: LIST for `entries`, of `count` pointers.
        let entries = unsafe { many(entries, count.into()) }?;
        // SAFETY: STRUCT for each of the entries.
        let entries = entries.iter().map(|entry| unsafe { entry_of(*entry) }).collect::<Result<Vec<_>>>()?;
        copied(&List::new(entries).bytes())
    };
    or_null(read()).cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_dup(list: *mut daos_acl) -> *mut daos_acl {
    // SAFETY: STRUCT for `list`.
    or_null(unsafe { list_bytes(list) }.and_then(copied)).cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_free(list: *mut daos_acl) {
    // SAFETY: HEAP for `list`.
    unsafe { libc::free(list.cast()) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_get_size(list: *mut daos_acl) -> isize {
    // SAFETY: STRUCT for `list`.
    unsafe { list_bytes(list) }.map_or(-DER_INVAL as isize, |bytes| bytes.len() as isize)
}

/// The entry of a list at an offset behind the head.
///
/// # Safety
/// STRUCT for the list.
unsafe fn entry_at(list: *mut daos_acl, offset: usize) -> Option<*mut daos_ace> {
    // SAFETY: STRUCT for `list`.
    let bytes =
        unsafe { list_bytes(list) }.ok()?.get(LIST_HEAD + offset..).filter(|bytes| !bytes.is_empty())?;
    Entry::read(bytes).ok()?;
    // SAFETY: `bytes` begins there and is not empty, so the address is within the list.
    Some(unsafe { list.byte_add(LIST_HEAD + offset) }.cast())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_get_next_ace(list: *mut daos_acl, current: *mut daos_ace) -> *mut daos_ace {
    let offset = match current.is_null() {
        true => Some(0),
        false => {
            let behind_head = current.addr().checked_sub(list.addr().wrapping_add(LIST_HEAD));
            // SAFETY: STRUCT for `list`. Where an entry begins is read from it, whatever `current` is.
            behind_head.filter(|offset| unsafe { entry_at(list, *offset) }.is_some()).and_then(|offset| {
                // SAFETY: `current` is an entry within `list`, with all its bytes: `entry_at` has read it.
                Some(offset + unsafe { entry_bytes(current) }.ok()?.len())
            })
        }
    };
    // SAFETY: STRUCT for `list`.
    offset.and_then(|offset| unsafe { entry_at(list, offset) }).unwrap_or(ptr::null_mut())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_get_ace_for_principal(
    list: *mut daos_acl,
    kind: c_int,
    name: *const c_char,
    entry: *mut *mut daos_ace,
) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: STRING for `name`, OUT for `entry`.
        let ((kind, name), place) = unsafe { (principal(kind, name)?, out(entry)?) };
        // SAFETY: STRUCT for `list`.
        unsafe { list_of(list) }?;
        let mut offset = 0;
        // SAFETY: STRUCT for `list`. Each entry begins where the one before ends.
        while let Some(found) = unsafe { entry_at(list, offset) } {
            // SAFETY: `found` is an entry within `list`, with all its bytes: `entry_at` has read it.
            let (entry, length) = Entry::read(unsafe { entry_bytes(found) }?)?;
            if entry.is_of(kind, name) {
                place.set(found);
                return Ok(());
            }
            offset += length;
        }
        Err(Der(DER_NONEXIST))
    })
}

/// Changes a list of the caller's. Its address changes.
///
/// # Safety
/// STRUCT for `list` and its target, HEAP for the target.
unsafe fn change(list: *mut *mut daos_acl, change: impl FnOnce(&mut List) -> Result<()>) -> Result<()> {
    // SAFETY: STRUCT for `list`.
    let list = unsafe { place(list) }?;
    // SAFETY: STRUCT for what `list` points to.
    let mut changed = unsafe { list_of(*list) }?;
    change(&mut changed)?;
    let new = copied(&changed.bytes())?;
    // SAFETY: HEAP for what `list` points to, which is put in its place below.
    unsafe { libc::free((*list).cast()) };
    *list = new.cast();
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_add_ace(list: *mut *mut daos_acl, entry: *mut daos_ace) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: STRUCT for `entry`.
        let entry = unsafe { entry_of(entry) }?;
        // SAFETY: STRUCT for `list` and its target, HEAP for the target.
        unsafe {
            change(list, |list| {
                list.put(entry);
                Ok(())
            })
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_remove_ace(
    list: *mut *mut daos_acl,
    kind: c_int,
    name: *const c_char,
) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: STRING for `name`; STRUCT for `list` and its target, HEAP for the target.
        unsafe {
            let (kind, name) = principal(kind, name)?;
            change(list, |list| list.remove(kind, name))
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_validate(list: *mut daos_acl) -> c_int {
    // SAFETY: STRUCT for `list`.
    answer(ptr::null_mut(), || unsafe { list_of(list) }?.check(crate::containers::acl::ALL))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_pool_validate(list: *mut daos_acl) -> c_int {
    // SAFETY: STRUCT for `list`.
    answer(ptr::null_mut(), || unsafe { list_of(list) }?.check(DAOS_ACL_PERM_POOL_ALL))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_cont_validate(list: *mut daos_acl) -> c_int {
    // SAFETY: STRUCT for `list`.
    answer(ptr::null_mut(), || unsafe { list_of(list) }?.check(DAOS_ACL_PERM_CONT_ALL))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_from_strs(
    texts: *const *const c_char,
    count: usize,
    list: *mut *mut daos_acl,
) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: LIST for `texts`, of `count` pointers, and OUT for `list`.
        let (texts, place) = unsafe { (many(texts, count as u64)?, out(list)?) };
        if texts.is_empty() {
            return invalid("an access control list without entries");
        }
        // SAFETY: STRING for each of `texts`.
        let entries = texts.iter().map(|entry| Entry::parse(unsafe { text(*entry) }?));
        let made = List::new(entries.collect::<Result<Vec<_>>>()?);
        made.check(crate::containers::acl::ALL)?;
        place.set(copied(&made.bytes())?.cast());
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_to_strs(
    list: *mut daos_acl,
    texts: *mut *mut *mut c_char,
    count: *mut usize,
) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: STRUCT for `list`, OUT for `texts` and `count`.
        let (list, place, count) = unsafe { (list_of(list)?, out(texts)?, out(count)?) };
        list.check(crate::containers::acl::ALL)?;
        let said = list.entries().iter().map(Entry::text).collect::<Result<Vec<_>>>()?;
        // SAFETY: `calloc` takes any numbers; zeros are strings that are not there.
        let made: *mut *mut c_char =
            unsafe { libc::calloc(said.len().max(1), size_of::<*mut c_char>()) }.cast();
        // SAFETY: `made` is null or was allocated just now for as many.
        for (place, text) in unsafe { many_mut(made, said.len() as u64) }?.iter_mut().zip(&said) {
            *place = copied(&[text.as_bytes(), &[0]].concat())?.cast();
        }
        place.set(made);
        count.set(said.len());
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_ace_create(kind: c_int, name: *const c_char) -> *mut daos_ace {
    // SAFETY: STRING for `name`.
    let made = unsafe { principal(kind, name) }.and_then(|(kind, name)| match has_name(kind) {
        true if !(1..=DAOS_ACL_MAX_PRINCIPAL_LEN).contains(&name.len()) => {
            invalid("the name of a user or group: 1 to 255 bytes are expected")
        }
        _ => copied(&Entry::new(kind, name).bytes()),
    });
    or_null(made).cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_ace_free(entry: *mut daos_ace) {
    // SAFETY: HEAP for `entry`.
    unsafe { libc::free(entry.cast()) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_ace_get_size(entry: *mut daos_ace) -> isize {
    // SAFETY: STRUCT for `entry`.
    unsafe { entry_bytes(entry) }.map_or(-DER_INVAL as isize, |bytes| bytes.len() as isize)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_ace_is_valid(entry: *mut daos_ace) -> bool {
    // SAFETY: STRUCT for `entry`.
    unsafe { entry_of(entry) }.is_ok_and(|entry| entry.is_valid())
}

/// The principal of an entry in text form: empty for a user or group without a name, null for an invalid entry.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_ace_get_principal_str(entry: *mut daos_ace) -> *const c_char {
    // SAFETY: STRUCT for `entry`.
    let Ok(read) = (unsafe { entry_of(entry) }) else { return ptr::null() };
    match c_int::from(read.kind) {
        DAOS_ACL_OWNER => c"OWNER@".as_ptr(),
        DAOS_ACL_OWNER_GROUP => c"GROUP@".as_ptr(),
        DAOS_ACL_EVERYONE => c"EVERYONE@".as_ptr(),
        _ if read.name.is_empty() => c"".as_ptr(),
        // SAFETY: STRUCT for `entry`, which has a name: `Entry::read` found its bytes behind the head, with a zero at their end.
        _ => unsafe { entry.byte_add(ENTRY_HEAD) }.cast(),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_ace_from_str(string: *const c_char, entry: *mut *mut daos_ace) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: STRING for `string`, OUT for `entry`.
        let (string, place) = unsafe { (text(string)?, out(entry)?) };
        place.set(copied(&Entry::parse(string)?.bytes())?.cast());
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_ace_to_str(entry: *mut daos_ace, buffer: *mut c_char, size: usize) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: STRUCT for `entry`, BUFFER for `buffer`.
        let (entry, buffer) = unsafe { (entry_of(entry)?, many_mut(buffer.cast::<u8>(), size as u64)?) };
        if buffer.is_empty() {
            return invalid("no buffer for the text of an entry");
        }
        let said = [entry.text()?.as_bytes(), &[0]].concat();
        buffer.get_mut(..said.len()).ok_or(Der(DER_TRUNC))?.copy_from_slice(&said);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_get_acl(
    container: daos_handle_t,
    list: *mut *mut daos_prop_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: OUT for `list`.
        let place = unsafe { out(list) }?;
        let found = access::get(container.cookie)?;
        let made = properties::of_numbers(&access::PROPERTIES)?;
        // SAFETY: `made` was allocated just now.
        unsafe { properties::fill(made, &found) }?;
        place.set(made);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_overwrite_acl(
    container: daos_handle_t,
    list: *mut daos_acl,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: STRUCT for `list`.
    answer(event, || access::overwrite(container.cookie, &unsafe { list_of(list) }?))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_update_acl(
    container: daos_handle_t,
    list: *mut daos_acl,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: STRUCT for `list`.
    answer(event, || access::update(container.cookie, &unsafe { list_of(list) }?))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_delete_acl(
    container: daos_handle_t,
    kind: c_int,
    name: *mut c_char,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: STRING for `name`.
        let (kind, name) = unsafe { principal(kind, name) }?;
        access::delete(container.cookie, kind, name)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_set_owner(
    container: daos_handle_t,
    user: *mut c_char,
    group: *mut c_char,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let given = |name: *mut c_char| match name.is_null() {
            true => Ok(None),
            // SAFETY: STRING for `name`.
            false => unsafe { text(name) }.map(Some),
        };
        access::set_owner(container.cookie, given(user)?, given(group)?)
    })
}

const _: () = assert!(size_of::<daos_acl>() == LIST_HEAD && size_of::<daos_ace>() == ENTRY_HEAD);
