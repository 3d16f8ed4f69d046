//! Hash tables of records that the program holds: links in its records make the lists, and its functions say the rest. See
//! `gurt/hash.h`.
//!
//! What callers promise is that a table was made by `d_hash_table_create` or `d_hash_table_create_inplace` and not destroyed yet, that links
//! are of records that live as long as they are in it, and that their own functions do with records what is theirs. A table has one lock,
//! which a thread that holds it may take again: functions of the program may call functions of the table.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
};

use super::many;
use crate::{
    abi::{errors::*, hash::*},
    hashes,
};

/// Two to the power of this many lists are the most.
const MOST_BITS: u32 = 28;

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_string_u32(string: *const c_char, length: c_uint) -> u32 {
    // SAFETY: so many bytes of the caller's.
    unsafe { many(string.cast::<u8>(), length.into()) }.map_or(0, hashes::string_u32)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_murmur64(key: *const u8, length: c_uint, seed: c_uint) -> u64 {
    // SAFETY: so many bytes of the caller's.
    unsafe { many(key, length.into()) }.map_or(0, |bytes| hashes::murmur64(bytes, seed))
}

/// A table while this thread has its lock, which ends with it.
struct Locked(*mut d_hash_table);

impl Locked {
    /// # Safety
    /// As callers of this module promise.
    unsafe fn new(table: *mut d_hash_table) -> Self {
        // SAFETY: as the caller says; a table with a lock was made with one.
        unsafe {
            if (*table).ht_feats & D_HASH_FT_NOLOCK == 0 {
                libc::pthread_mutex_lock((&raw mut (*table).ht_lock).cast());
            }
        }
        Self(table)
    }

    /// The program's functions.
    fn ops(&self) -> &d_hash_table_ops_t {
        // SAFETY: a table has them from its beginning to its end.
        unsafe { &*(*self.0).ht_ops }
    }

    fn has(&self, feature: u32) -> bool {
        // SAFETY: a table, as `new` was promised.
        unsafe { (*self.0).ht_feats & feature != 0 }
    }

    /// The heads of all lists.
    fn heads(&self) -> impl Iterator<Item = *mut d_list_t> + use<> {
        // SAFETY: a table, as `new` was promised, with so many heads.
        let (first, count) = unsafe { ((*self.0).ht_buckets, 1_usize << (*self.0).ht_bits) };
        let count = if first.is_null() { 0 } else { count };
        // SAFETY: within the heads.
        (0..count).map(move |at| unsafe { first.add(at) })
    }

    /// The head of the list of a key; `None` for what is no key.
    fn head(&self, key: *const c_void, size: c_uint) -> Option<*mut d_list_t> {
        if key.is_null() || size == 0 {
            return None;
        }
        // SAFETY: the caller's function and key, or so many bytes.
        let hash = unsafe {
            match self.ops().hop_key_hash {
                Some(hash) => hash(self.0, key, size),
                None => d_hash_string_u32(key.cast(), size),
            }
        };
        // SAFETY: a table, as `new` was promised, with as many heads as the bits say.
        unsafe {
            let (first, bits) = ((*self.0).ht_buckets, (*self.0).ht_bits);
            (!first.is_null()).then(|| first.add((hash & ((1 << bits) - 1)) as usize))
        }
    }

    /// The record of a list that has a key.
    fn find(&self, head: *mut d_list_t, key: *const c_void, size: c_uint) -> Option<*mut d_list_t> {
        let is_it = self.ops().hop_key_cmp?;
        // SAFETY: links of the list, and the program's function.
        let found = Ring::new(head).find(|link| unsafe { is_it(self.0, *link, key, size) })?;
        if self.has(D_HASH_FT_LRU) {
            // SAFETY: a link of the list.
            unsafe {
                unlink(found);
                link_after(found, head);
            }
        }
        Some(found)
    }

    fn add_reference(&self, link: *mut d_list_t) {
        if let Some(add) = self.ops().hop_rec_addref {
            // SAFETY: the program's function, and a link of its record.
            unsafe { add(self.0, link) };
        }
    }

    /// Whether nobody refers to a record any more.
    fn drop_reference(&self, link: *mut d_list_t) -> bool {
        // SAFETY: the program's function, and a link of its record.
        self.ops().hop_rec_decref.is_some_and(|release| unsafe { release(self.0, link) })
    }

    fn insert(&self, link: *mut d_list_t, head: *mut d_list_t) {
        if !self.has(D_HASH_FT_EPHEMERAL) {
            self.add_reference(link);
        }
        // SAFETY: a link that is in no list, and the head of one.
        unsafe { link_after(link, head) };
    }

    /// Takes out a record, which is freed when the lock is free if nobody else refers to it.
    fn remove(self, link: *mut d_list_t) {
        // SAFETY: a link of a list of the table.
        unsafe { unlink(link) };
        let is_last = !self.has(D_HASH_FT_EPHEMERAL) && self.drop_reference(link);
        self.free(link, is_last);
    }

    /// Frees the lock, and then a record.
    fn free(self, link: *mut d_list_t, is_last: bool) {
        let (table, free) = (self.0, self.ops().hop_rec_free);
        drop(self);
        if let Some(free) = free.filter(|_| is_last) {
            // SAFETY: the program's function, and a record that is in no list.
            unsafe { free(table, link) };
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if !self.has(D_HASH_FT_NOLOCK) {
            // SAFETY: this thread has the lock.
            unsafe { libc::pthread_mutex_unlock((&raw mut (*self.0).ht_lock).cast()) };
        }
    }
}

/// The links of a list; the one that was given last may be taken out.
struct Ring {
    head: *mut d_list_t,
    next: *mut d_list_t,
}

impl Ring {
    fn new(head: *mut d_list_t) -> Self {
        // SAFETY: the head of a list of a table.
        Self { head, next: unsafe { (*head).next } }
    }
}

impl Iterator for Ring {
    type Item = *mut d_list_t;

    fn next(&mut self) -> Option<*mut d_list_t> {
        let link = self.next;
        (link != self.head).then(|| {
            // SAFETY: a link of the list.
            self.next = unsafe { (*link).next };
            link
        })
    }
}

/// Puts a link behind another.
///
/// # Safety
/// The first is in no list, the other in one.
unsafe fn link_after(link: *mut d_list_t, before: *mut d_list_t) {
    // SAFETY: as the caller says.
    unsafe {
        let behind = (*before).next;
        *link = d_list_t { next: behind, prev: before };
        (*behind).prev = link;
        (*before).next = link;
    }
}

/// Takes a link out of its list; then it is alone.
///
/// # Safety
/// It is in a list, or alone.
unsafe fn unlink(link: *mut d_list_t) {
    // SAFETY: as the caller says.
    unsafe {
        let d_list_t { next, prev } = *link;
        (*next).prev = prev;
        (*prev).next = next;
        *link = d_list_t { next: link, prev: link };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_table_create_inplace(
    features: u32,
    bits: u32,
    own: *mut c_void,
    ops: *mut d_hash_table_ops_t,
    table: *mut d_hash_table,
) -> c_int {
    // SAFETY: functions of the program's, if they are there.
    let has_compare = unsafe { ops.as_ref() }.is_some_and(|ops| ops.hop_key_cmp.is_some());
    if !has_compare || bits > MOST_BITS || table.is_null() {
        return -DER_INVAL;
    }
    let count = 1_usize << bits;
    // SAFETY: memory for so many heads, and a table of the caller's that nobody uses yet.
    unsafe {
        let heads: *mut d_list_t = libc::calloc(count, size_of::<d_list_t>()).cast();
        if heads.is_null() {
            return -DER_NOMEM;
        }
        for head in (0..count).map(|at| heads.add(at)) {
            *head = d_list_t { next: head, prev: head };
        }
        table.write(d_hash_table {
            ht_lock: [0; 7],
            ht_bits: bits,
            ht_feats: features,
            ht_priv: own,
            ht_ops: ops,
            ht_buckets: heads,
            ht_locks: ptr::null_mut(),
        });
        let mut kind: libc::pthread_mutexattr_t = std::mem::zeroed();
        libc::pthread_mutexattr_init(&raw mut kind);
        libc::pthread_mutexattr_settype(&raw mut kind, libc::PTHREAD_MUTEX_RECURSIVE);
        libc::pthread_mutex_init((&raw mut (*table).ht_lock).cast(), &raw const kind);
        libc::pthread_mutexattr_destroy(&raw mut kind);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_table_create(
    features: u32,
    bits: u32,
    own: *mut c_void,
    ops: *mut d_hash_table_ops_t,
    place: *mut *mut d_hash_table,
) -> c_int {
    if place.is_null() {
        return -DER_INVAL;
    }
    // SAFETY: memory for a table, and a place of the caller's.
    unsafe {
        let table: *mut d_hash_table = libc::calloc(1, size_of::<d_hash_table>()).cast();
        let number = if table.is_null() {
            -DER_NOMEM
        } else {
            d_hash_table_create_inplace(features, bits, own, ops, table)
        };
        *place = if number == 0 { table } else { ptr::null_mut() };
        if number != 0 {
            libc::free(table.cast());
        }
        number
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_table_destroy_inplace(table: *mut d_hash_table, force: bool) -> c_int {
    // SAFETY: a table of the caller's.
    unsafe {
        if !force && !d_hash_table_is_empty(table) {
            return -DER_BUSY;
        }
        // The lock is free again while records are freed.
        let heads = Locked::new(table).heads();
        for head in heads {
            while let Some(link) = Ring::new(head).next() {
                d_hash_rec_delete_at(table, link);
            }
        }
        libc::pthread_mutex_destroy((&raw mut (*table).ht_lock).cast());
        libc::free((*table).ht_buckets.cast());
        table.write_bytes(0, 1);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_table_destroy(table: *mut d_hash_table, force: bool) -> c_int {
    // SAFETY: a table of `d_hash_table_create`.
    unsafe {
        let number = d_hash_table_destroy_inplace(table, force);
        if number == 0 {
            libc::free(table.cast());
        }
        number
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_table_traverse(
    table: *mut d_hash_table,
    each: d_hash_traverse_cb_t,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: a table of the caller's, or zeros.
    if unsafe { table.as_ref() }.is_none_or(|table| table.ht_buckets.is_null()) {
        return -DER_UNINIT;
    }
    let Some(each) = each else { return -DER_INVAL };
    // SAFETY: a table of the caller's.
    let locked = unsafe { Locked::new(table) };
    let mut links = locked.heads().flat_map(Ring::new);
    // SAFETY: the program's function, and links of its records.
    links.find_map(|link| Some(unsafe { each(link, argument) }).filter(|number| *number != 0)).unwrap_or(0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_first(table: *mut d_hash_table) -> *mut d_list_t {
    // SAFETY: a table of the caller's.
    unsafe { Locked::new(table) }.heads().flat_map(Ring::new).next().unwrap_or(ptr::null_mut())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_table_is_empty(table: *mut d_hash_table) -> bool {
    // SAFETY: a table of the caller's.
    unsafe { d_hash_rec_first(table) }.is_null()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_find(
    table: *mut d_hash_table,
    key: *const c_void,
    size: c_uint,
) -> *mut d_list_t {
    // SAFETY: a table of the caller's.
    let locked = unsafe { Locked::new(table) };
    let found = locked.head(key, size).and_then(|head| locked.find(head, key, size));
    found.inspect(|link| locked.add_reference(*link)).unwrap_or(ptr::null_mut())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_find_insert(
    table: *mut d_hash_table,
    key: *const c_void,
    size: c_uint,
    link: *mut d_list_t,
) -> *mut d_list_t {
    // SAFETY: a table of the caller's.
    let locked = unsafe { Locked::new(table) };
    let Some(head) = locked.head(key, size) else { return ptr::null_mut() };
    match locked.find(head, key, size) {
        Some(found) => {
            locked.add_reference(found);
            found
        }
        None => {
            locked.insert(link, head);
            link
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_insert(
    table: *mut d_hash_table,
    key: *const c_void,
    size: c_uint,
    link: *mut d_list_t,
    exclusive: bool,
) -> c_int {
    // SAFETY: a table of the caller's.
    let locked = unsafe { Locked::new(table) };
    match locked.head(key, size) {
        None => -DER_INVAL,
        Some(head) if exclusive && locked.find(head, key, size).is_some() => -DER_EXIST,
        Some(head) => {
            locked.insert(link, head);
            0
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_delete(table: *mut d_hash_table, key: *const c_void, size: c_uint) -> bool {
    // SAFETY: a table of the caller's.
    let locked = unsafe { Locked::new(table) };
    let found = locked.head(key, size).and_then(|head| locked.find(head, key, size));
    found.map(|link| locked.remove(link)).is_some()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_delete_at(table: *mut d_hash_table, link: *mut d_list_t) -> bool {
    // SAFETY: a table and a link of the caller's.
    let (locked, is_alone) = unsafe { (Locked::new(table), d_hash_rec_unlinked(link)) };
    if !is_alone {
        locked.remove(link);
    }
    !is_alone
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_addref(table: *mut d_hash_table, link: *mut d_list_t) {
    // SAFETY: a table of the caller's.
    unsafe { Locked::new(table) }.add_reference(link);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_decref(table: *mut d_hash_table, link: *mut d_list_t) {
    // SAFETY: a table and a link of the caller's.
    unsafe { d_hash_rec_ndecref(table, 1, link) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_ndecref(
    table: *mut d_hash_table,
    count: c_int,
    link: *mut d_list_t,
) -> c_int {
    // SAFETY: a table of the caller's.
    let locked = unsafe { Locked::new(table) };
    let mut left = count;
    let mut is_last = false;
    match locked.ops().hop_rec_ndecref.filter(|_| count != 1) {
        Some(release) => {
            // SAFETY: the program's function, and a link of its record.
            let number = unsafe { release(table, link, count) };
            if number < 0 {
                return number;
            }
            (left, is_last) = (0, number > 0);
        }
        None => {
            while left > 0 && !is_last {
                is_last = locked.drop_reference(link);
                left -= 1;
            }
        }
    }
    if is_last {
        // SAFETY: a link of a record, which is in a list of the table or alone.
        unsafe { unlink(link) };
    }
    locked.free(link, is_last);
    if left == 0 { 0 } else { -DER_INVAL }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn d_hash_rec_unlinked(link: *mut d_list_t) -> bool {
    // SAFETY: a link of the caller's.
    unsafe { (*link).next == link }
}

const _: () = assert!(size_of::<libc::pthread_mutex_t>() <= 7 * size_of::<u64>());
