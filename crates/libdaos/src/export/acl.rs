//! Access control lists, and the functions of containers for them. Lists and entries are in memory of C's allocator: a head, and parts of the
//! sizes in it.

use std::{
    ffi::{CString, c_char, c_int},
    ptr,
};

use super::{Event, Handle, In, InOut, Out, Text, copied, export, many, many_mut, properties};
use crate::{
    abi::{acl::*, errors::*, info::*},
    containers::{
        access,
        acl::{ALL, ENTRY_HEAD, Entry, LIST_HEAD, List, has_name},
    },
    runtime::error::{Der, Result, invalid},
};

impl<'a> In<'a, daos_acl> {
    /// The bytes of a list.
    pub(super) fn bytes(self) -> Result<&'a [u8]> {
        match self.or_none() {
            None => invalid("a null pointer for an access control list"),
            // SAFETY: STRUCT for the list: behind its head there are the `dal_len` bytes of its entries.
            Some(head) => unsafe { many(self.as_ptr().cast(), LIST_HEAD as u64 + u64::from(head.dal_len)) },
        }
    }

    fn list(self) -> Result<List> {
        List::read(self.bytes()?)
    }

    /// The entry at an offset behind the head.
    fn entry_at(self, offset: usize) -> Option<In<'a, daos_ace>> {
        let bytes = self.bytes().ok()?.get(LIST_HEAD + offset..).filter(|bytes| !bytes.is_empty())?;
        Entry::read(bytes).ok()?;
        // SAFETY: `bytes` begins there and is not empty, so the address is within the list; an entry is there with all its bytes, as was read.
        Some(unsafe { In::new(self.as_ptr().byte_add(LIST_HEAD + offset).cast()) })
    }
}

impl<'a> In<'a, daos_ace> {
    /// The bytes of an entry.
    pub(super) fn bytes(self) -> Result<&'a [u8]> {
        match self.or_none() {
            None => invalid("a null pointer for an entry of an access control list"),
            // SAFETY: STRUCT for the entry: behind its head there are the `dae_principal_len` bytes of a name.
            Some(head) => unsafe {
                many(self.as_ptr().cast(), ENTRY_HEAD as u64 + u64::from(head.dae_principal_len))
            },
        }
    }

    fn entry(self) -> Result<Entry> {
        Ok(Entry::read(self.bytes()?)?.0)
    }
}

/// The kind of a principal, and its name, if any.
fn principal<'a>(kind: c_int, name: Text<'a>) -> Result<(u8, &'a str)> {
    match u8::try_from(kind).ok().filter(|_| kind <= DAOS_ACL_EVERYONE) {
        None => invalid("a kind of principals that there is not"),
        Some(kind) if has_name(kind) => Ok((kind, name.text()?)),
        Some(kind) => Ok((kind, "")),
    }
}

/// A pointer, or null after a failure.
fn or_null<T>(made: Result<*mut T>) -> *mut T {
    made.unwrap_or(ptr::null_mut())
}

/// The size of what has these bytes.
fn size_of_bytes(bytes: Result<&[u8]>) -> isize {
    bytes.map_or(-DER_INVAL as isize, |bytes| bytes.len() as isize)
}

#[export]
unsafe fn daos_acl_create(entries: *mut *mut daos_ace, count: u16) -> *mut daos_acl {
    let read = || {
        // SAFETY: LIST for `entries`, of `count` pointers.
        let entries = unsafe { many(entries, count.into()) }?;
        // SAFETY: STRUCT for each of the entries.
        let entries = entries.iter().map(|entry| unsafe { In::new(*entry) }.entry());
        copied(&List::new(entries.collect::<Result<_>>()?).bytes())
    };
    or_null(read()).cast()
}

#[export]
fn daos_acl_dup(list: In<daos_acl>) -> *mut daos_acl {
    or_null(list.bytes().and_then(copied)).cast()
}

#[export]
unsafe fn daos_acl_free(list: *mut daos_acl) {
    // SAFETY: HEAP for `list`.
    unsafe { libc::free(list.cast()) };
}

#[export]
fn daos_acl_get_size(list: In<daos_acl>) -> isize {
    size_of_bytes(list.bytes())
}

#[export]
fn daos_acl_get_next_ace(list: In<daos_acl>, current: *mut daos_ace) -> *const daos_ace {
    let offset = match current.is_null() {
        true => Some(0),
        false => {
            let behind_head = current.addr().checked_sub(list.as_ptr().addr().wrapping_add(LIST_HEAD));
            // Where an entry begins is read from the list, whatever `current` is.
            behind_head.and_then(|offset| Some(offset + list.entry_at(offset)?.bytes().ok()?.len()))
        }
    };
    offset.and_then(|offset| list.entry_at(offset)).map_or(ptr::null(), In::as_ptr)
}

#[export]
fn daos_acl_get_ace_for_principal(
    list: In<daos_acl>,
    kind: c_int,
    name: Text,
    entry: Out<*const daos_ace>,
) -> Result<()> {
    let ((kind, name), place) = (principal(kind, name)?, entry.place()?);
    list.list()?;
    let mut offset = 0;
    // Each entry begins where the one before ends.
    while let Some(found) = list.entry_at(offset) {
        let (entry, length) = Entry::read(found.bytes()?)?;
        if entry.is_of(kind, name) {
            place.set(found.as_ptr());
            return Ok(());
        }
        offset += length;
    }
    Err(Der(DER_NONEXIST))
}

/// Changes a list of the caller's. Its address changes.
///
/// # Safety
/// STRUCT and HEAP for the target of `list`.
unsafe fn change(list: InOut<*mut daos_acl>, change: impl FnOnce(&mut List) -> Result<()>) -> Result<()> {
    let list = list.get()?;
    // SAFETY: STRUCT for what `list` points to.
    let mut changed = unsafe { In::new(*list) }.list()?;
    change(&mut changed)?;
    let new = copied(&changed.bytes())?;
    // SAFETY: HEAP for what `list` points to, which is put in its place below.
    unsafe { libc::free((*list).cast()) };
    *list = new.cast();
    Ok(())
}

#[export]
unsafe fn daos_acl_add_ace(list: InOut<*mut daos_acl>, entry: In<daos_ace>) -> Result<()> {
    let entry = entry.entry()?;
    let put = |list: &mut List| {
        list.put(entry);
        Ok(())
    };
    // SAFETY: STRUCT and HEAP for the target of `list`.
    unsafe { change(list, put) }
}

#[export]
unsafe fn daos_acl_remove_ace(list: InOut<*mut daos_acl>, kind: c_int, name: Text) -> Result<()> {
    let (kind, name) = principal(kind, name)?;
    // SAFETY: STRUCT and HEAP for the target of `list`.
    unsafe { change(list, |list| list.remove(kind, name)) }
}

#[export]
fn daos_acl_validate(list: In<daos_acl>) -> Result<()> {
    list.list()?.check(ALL)
}

#[export]
fn daos_acl_pool_validate(list: In<daos_acl>) -> Result<()> {
    list.list()?.check(DAOS_ACL_PERM_POOL_ALL)
}

#[export]
fn daos_acl_cont_validate(list: In<daos_acl>) -> Result<()> {
    list.list()?.check(DAOS_ACL_PERM_CONT_ALL)
}

#[export]
unsafe fn daos_acl_from_strs(
    texts: *const *const c_char,
    count: usize,
    list: Out<*mut daos_acl>,
) -> Result<()> {
    // SAFETY: LIST for `texts`, of `count` pointers.
    let (texts, place) = (unsafe { many(texts, count as u64) }?, list.place()?);
    if texts.is_empty() {
        return invalid("an access control list without entries");
    }
    // SAFETY: STRING for each of `texts`.
    let entries = texts.iter().map(|entry| Entry::parse(unsafe { Text::new(*entry) }.text()?));
    let made = List::new(entries.collect::<Result<_>>()?);
    made.check(ALL)?;
    place.set(copied(&made.bytes())?.cast());
    Ok(())
}

#[export]
fn daos_acl_to_strs(list: In<daos_acl>, texts: Out<*mut *mut c_char>, count: Out<usize>) -> Result<()> {
    let (list, place, count) = (list.list()?, texts.place()?, count.place()?);
    list.check(ALL)?;
    let said = list.entries().iter().map(Entry::text).collect::<Result<Vec<_>>>()?;
    // SAFETY: `calloc` takes any numbers; zeros are strings that are not there.
    let made: *mut *mut c_char = unsafe { libc::calloc(said.len().max(1), size_of::<*mut c_char>()) }.cast();
    // SAFETY: `made` is null or was allocated just now for as many.
    for (place, text) in unsafe { many_mut(made, said.len() as u64) }?.iter_mut().zip(&said) {
        *place = copied(&[text.as_bytes(), &[0]].concat())?.cast();
    }
    place.set(made);
    count.set(said.len());
    Ok(())
}

#[export]
fn daos_ace_create(kind: c_int, name: Text) -> *mut daos_ace {
    let made = principal(kind, name).and_then(|(kind, name)| match has_name(kind) {
        true if !(1..=DAOS_ACL_MAX_PRINCIPAL_LEN).contains(&name.len()) => {
            invalid("the name of a user or group: 1 to 255 bytes are expected")
        }
        _ => copied(&Entry::new(kind, name).bytes()),
    });
    or_null(made).cast()
}

#[export]
unsafe fn daos_ace_free(entry: *mut daos_ace) {
    // SAFETY: HEAP for `entry`.
    unsafe { libc::free(entry.cast()) };
}

#[export]
fn daos_ace_get_size(entry: In<daos_ace>) -> isize {
    size_of_bytes(entry.bytes())
}

#[export]
fn daos_ace_is_valid(entry: In<daos_ace>) -> bool {
    entry.entry().is_ok_and(|entry| entry.is_valid())
}

/// The principal of an entry in text form: empty for a user or group without a name, null for an invalid entry.
#[export]
fn daos_ace_get_principal_str(entry: In<daos_ace>) -> *const c_char {
    let Ok(read) = entry.entry() else { return ptr::null() };
    match c_int::from(read.kind) {
        DAOS_ACL_OWNER => c"OWNER@".as_ptr(),
        DAOS_ACL_OWNER_GROUP => c"GROUP@".as_ptr(),
        DAOS_ACL_EVERYONE => c"EVERYONE@".as_ptr(),
        _ if read.name.is_empty() => c"".as_ptr(),
        // SAFETY: STRUCT for `entry`, which has a name: `Entry::read` found its bytes behind the head, with a zero at their end.
        _ => unsafe { entry.as_ptr().byte_add(ENTRY_HEAD) }.cast(),
    }
}

#[export]
fn daos_ace_from_str(string: Text, entry: Out<*mut daos_ace>) -> Result<()> {
    let (string, place) = (string.text()?, entry.place()?);
    place.set(copied(&Entry::parse(string)?.bytes())?.cast());
    Ok(())
}

#[export]
unsafe fn daos_ace_to_str(entry: In<daos_ace>, buffer: *mut c_char, size: usize) -> Result<()> {
    // SAFETY: BUFFER for `buffer`.
    let (entry, buffer) = (entry.entry()?, unsafe { many_mut(buffer.cast::<u8>(), size as u64) }?);
    if buffer.is_empty() {
        return invalid("no buffer for the text of an entry");
    }
    let said = [entry.text()?.as_bytes(), &[0]].concat();
    buffer.get_mut(..said.len()).ok_or(Der(DER_TRUNC))?.copy_from_slice(&said);
    Ok(())
}

#[export]
fn daos_cont_get_acl(container: Handle, list: Out<*mut daos_prop_t>, event: Event) -> Result<()> {
    list.fill(|| properties::list_of(&access::PROPERTIES, &access::get(container.cookie)?))
}

#[export]
fn daos_cont_overwrite_acl(container: Handle, list: In<daos_acl>, event: Event) -> Result<()> {
    access::overwrite(container.cookie, &list.list()?)
}

#[export]
fn daos_cont_update_acl(container: Handle, list: In<daos_acl>, event: Event) -> Result<()> {
    access::update(container.cookie, &list.list()?)
}

#[export]
fn daos_cont_delete_acl(container: Handle, kind: c_int, name: Text, event: Event) -> Result<()> {
    let (kind, name) = principal(kind, name)?;
    access::delete(container.cookie, kind, name)
}

#[export]
fn daos_cont_set_owner(container: Handle, user: Text, group: Text, event: Event) -> Result<()> {
    access::set_owner(container.cookie, user.text_or_none()?, group.text_or_none()?)
}

/// Prints lines on standard output through C's library, which keeps them in order with the program's own output.
fn print(lines: &[String]) {
    if let Ok(text) = CString::new(lines.join("\n")) {
        // SAFETY: a `CString` ends with a NUL, and lives for the call.
        unsafe { libc::puts(text.as_ptr()) };
    }
}

fn line(entry: &Entry, tabs: usize) -> String {
    // An entry whose alerts differ from its permissions has no text.
    format!("{}{}", "\t".repeat(tabs), entry.text().unwrap_or_else(|_| format!("{entry:?}")))
}

#[export]
fn daos_acl_dump(list: In<daos_acl>) {
    let entries = match list.list() {
        Ok(list) => list.entries().iter().map(|entry| line(entry, 1)).collect(),
        Err(_) => vec!["\tno list".to_owned()],
    };
    print(&[vec!["Access control list:".to_owned()], entries].concat());
}

#[export]
fn daos_ace_dump(entry: In<daos_ace>, tabs: u32) {
    let tabs = tabs as usize;
    print(&[entry
        .entry()
        .map_or_else(|_| format!("{}no entry", "\t".repeat(tabs)), |entry| line(&entry, tabs))]);
}

const _: () = assert!(size_of::<daos_acl>() == LIST_HEAD && size_of::<daos_ace>() == ENTRY_HEAD);
