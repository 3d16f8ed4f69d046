//! Hash tables of a program's records. Links in the records form the lists, and the program's functions compare and free records. See
//! `gurt/hash.h`.
//!
//! A table has one lock, which a thread that holds it may take again: functions of the program may call functions of the table.
//!
//! What a program promises, besides what the head of [`super`] says, and the comments name:
//! - TABLE: a table was made by `d_hash_table_create` or `d_hash_table_create_inplace`, and is not destroyed yet or at the same time. Its heads
//!   and functions (`ht_ops`) live as long as it does, and only functions here write to it.
//! - LINK: a link is of a record that lives as long as it is in a table. It is in a list of its table, or alone: then it points to itself.
//! - OPS: the program's functions do with a record what the header says, and leave the links to the functions here.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
};

use super::{export, many};
use crate::{
    abi::{errors::*, hash::*},
    objects::hashes,
};

/// The binary logarithm of the largest number of lists.
const BITS_MAX: u32 = 28;

#[export]
unsafe fn d_hash_string_u32(string: *const c_char, length: c_uint) -> u32 {
    // SAFETY: BYTES for `string`, as many as `length` says.
    unsafe { many(string.cast::<u8>(), length.into()) }.map_or(0, hashes::string_u32)
}

#[export]
unsafe fn d_hash_murmur64(key: *const u8, length: c_uint, seed: c_uint) -> u64 {
    // SAFETY: BYTES for `key`, as many as `length` says.
    unsafe { many(key, length.into()) }.map_or(0, |bytes| hashes::murmur64(bytes, seed))
}

/// A table of the program's (TABLE).
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Table(*mut d_hash_table);

impl Table {
    fn lock(self) -> Locked {
        // SAFETY: TABLE by the type of the parameter. Its lock was initialised when it was made.
        unsafe {
            if (*self.0).ht_feats & D_HASH_FT_NOLOCK == 0 {
                libc::pthread_mutex_lock((&raw mut (*self.0).ht_lock).cast());
            }
        }
        Locked(self.0)
    }
}

/// A table that this thread has locked, until it is dropped.
struct Locked(*mut d_hash_table);

impl Locked {
    /// The program's functions.
    fn ops(&self) -> &d_hash_table_ops_t {
        // SAFETY: TABLE, by the type of what was locked, with its functions. They are read in place; a function that is null is `None`.
        unsafe { &*(*self.0).ht_ops }
    }

    fn has(&self, feature: u32) -> bool {
        // SAFETY: TABLE, by the type of what was locked.
        unsafe { (*self.0).ht_feats & feature != 0 }
    }

    /// The heads of all lists.
    fn heads(&self) -> impl Iterator<Item = *mut d_list_t> + use<> {
        // SAFETY: TABLE, by the type of what was locked.
        let (first, count) = unsafe { ((*self.0).ht_buckets, 1_usize << (*self.0).ht_bits) };
        let count = if first.is_null() { 0 } else { count };
        // SAFETY: `at` is less than the number of heads.
        (0..count).map(move |at| unsafe { first.add(at) })
    }

    /// The head of the list of a key, or `None` for an invalid key.
    fn head(&self, key: *const c_void, size: c_uint) -> Option<*mut d_list_t> {
        if key.is_null() || size == 0 {
            return None;
        }
        // SAFETY: OPS for `hash`, BYTES for `key`, as many as `size` says.
        let hash = unsafe {
            match self.ops().hop_key_hash {
                Some(hash) => hash(self.0, key, size),
                None => d_hash_string_u32(key.cast(), size),
            }
        };
        // SAFETY: TABLE, by the type of what was locked: it has two to the power of `ht_bits` heads, and the number is masked to be less.
        unsafe {
            let (first, bits) = ((*self.0).ht_buckets, (*self.0).ht_bits);
            (!first.is_null()).then(|| first.add((hash & ((1 << bits) - 1)) as usize))
        }
    }

    /// The record of a list with a key.
    fn find(&self, head: *mut d_list_t, key: *const c_void, size: c_uint) -> Option<*mut d_list_t> {
        let is_it = self.ops().hop_key_cmp?;
        // SAFETY: OPS for `is_it`; `link` is in the list, so LINK for it.
        let found = Ring::new(head).find(|link| unsafe { is_it(self.0, *link, key, size) })?;
        if self.has(D_HASH_FT_LRU) {
            // SAFETY: `found` is in the list of `head`, and alone when it is put back.
            unsafe {
                unlink(found);
                link_after(found, head);
            }
        }
        Some(found)
    }

    fn add_reference(&self, link: *mut d_list_t) {
        if let Some(add) = self.ops().hop_rec_addref {
            // SAFETY: OPS for `add`, LINK for `link`.
            unsafe { add(self.0, link) };
        }
    }

    /// Whether no reference to a record is left.
    fn drop_reference(&self, link: *mut d_list_t) -> bool {
        // SAFETY: OPS for `release`, LINK for `link`.
        self.ops().hop_rec_decref.is_some_and(|release| unsafe { release(self.0, link) })
    }

    fn insert(&self, link: *mut d_list_t, head: *mut d_list_t) {
        if !self.has(D_HASH_FT_EPHEMERAL) {
            self.add_reference(link);
        }
        // SAFETY: LINK for `link`, which the program puts into one table at a time; `head` is of this one.
        unsafe { link_after(link, head) };
    }

    /// Removes a record. It is freed after the lock, if no other reference is left.
    fn remove(self, link: *mut d_list_t) {
        // SAFETY: LINK for `link`, and this thread has the lock of its table.
        unsafe { unlink(link) };
        let is_last = !self.has(D_HASH_FT_EPHEMERAL) && self.drop_reference(link);
        self.free(link, is_last);
    }

    /// Releases the lock, and then frees a record.
    fn free(self, link: *mut d_list_t, is_last: bool) {
        let (table, free) = (self.0, self.ops().hop_rec_free);
        drop(self);
        if let Some(free) = free.filter(|_| is_last) {
            // SAFETY: OPS for `free`; the record is in no list any more, and nobody refers to it.
            unsafe { free(table, link) };
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if !self.has(D_HASH_FT_NOLOCK) {
            // SAFETY: TABLE, by the type of what was locked; this thread has the lock since then.
            unsafe { libc::pthread_mutex_unlock((&raw mut (*self.0).ht_lock).cast()) };
        }
    }
}

/// The links of a list. The last returned one may be removed.
struct Ring {
    head: *mut d_list_t,
    next: *mut d_list_t,
}

impl Ring {
    fn new(head: *mut d_list_t) -> Self {
        // SAFETY: `head` is one of a table's, which begin as lists of themselves and stay linked.
        Self { head, next: unsafe { (*head).next } }
    }
}

impl Iterator for Ring {
    type Item = *mut d_list_t;

    fn next(&mut self) -> Option<*mut d_list_t> {
        let link = self.next;
        (link != self.head).then(|| {
            // SAFETY: LINK for `link`, which the list led to; what was given before may be out of it by now, this one not.
            self.next = unsafe { (*link).next };
            link
        })
    }
}

/// Inserts a link behind another.
///
/// # Safety
/// LINK for both: the first is alone, the other in a list, whose lock this thread has.
unsafe fn link_after(link: *mut d_list_t, before: *mut d_list_t) {
    // SAFETY: `before` is in a list, so what it points to is, too; `link` is in none.
    unsafe {
        let behind = (*before).next;
        *link = d_list_t { next: behind, prev: before };
        (*behind).prev = link;
        (*before).next = link;
    }
}

/// Removes a link from its list, after which it is alone.
///
/// # Safety
/// LINK: it is in a list, whose lock this thread has, or alone.
unsafe fn unlink(link: *mut d_list_t) {
    // SAFETY: both neighbours are in the same list, or are the link itself.
    unsafe {
        let d_list_t { next, prev } = *link;
        (*next).prev = prev;
        (*prev).next = next;
        *link = d_list_t { next: link, prev: link };
    }
}

#[export]
unsafe fn d_hash_table_create_inplace(
    features: u32,
    bits: u32,
    own: *mut c_void,
    ops: *mut d_hash_table_ops_t,
    table: *mut d_hash_table,
) -> c_int {
    // SAFETY: STRUCT for `ops`; functions that are null are `None`, so the program has written what is there.
    let has_compare = unsafe { ops.as_ref() }.is_some_and(|ops| ops.hop_key_cmp.is_some());
    if !has_compare || bits > BITS_MAX || table.is_null() {
        return -DER_INVAL;
    }
    let count = 1_usize << bits;
    // SAFETY: `heads` is allocated for `count` of them, and OUT for `table`, which is not null; `kind` is of this function.
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

#[export]
unsafe fn d_hash_table_create(
    features: u32,
    bits: u32,
    own: *mut c_void,
    ops: *mut d_hash_table_ops_t,
    place: *mut *mut d_hash_table,
) -> c_int {
    if place.is_null() {
        return -DER_INVAL;
    }
    // SAFETY: OUT for `place`, which is not null; `table` is null or allocated here, and freed where nobody has it.
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

#[export]
unsafe fn d_hash_table_destroy_inplace(table: Table, force: bool) -> c_int {
    if !force && !d_hash_table_is_empty(table) {
        return -DER_BUSY;
    }
    // The lock is released while records are freed.
    let heads = table.lock().heads();
    // SAFETY: TABLE for `table`, which nobody uses after this; its heads were allocated when it was made. LINK for what is in them.
    unsafe {
        for head in heads {
            while let Some(link) = Ring::new(head).next() {
                d_hash_rec_delete_at(table, link);
            }
        }
        libc::pthread_mutex_destroy((&raw mut (*table.0).ht_lock).cast());
        libc::free((*table.0).ht_buckets.cast());
        table.0.write_bytes(0, 1);
    }
    0
}

#[export]
unsafe fn d_hash_table_destroy(table: Table, force: bool) -> c_int {
    // SAFETY: TABLE for `table`, which `d_hash_table_create` has allocated.
    unsafe {
        let number = d_hash_table_destroy_inplace(table, force);
        if number == 0 {
            libc::free(table.0.cast());
        }
        number
    }
}

#[export]
unsafe fn d_hash_table_traverse(table: Table, each: d_hash_traverse_cb_t, argument: *mut c_void) -> c_int {
    // SAFETY: TABLE for `table`, or it is zeros; other threads may have it, so nothing refers to the whole.
    if table.0.is_null() || unsafe { (*table.0).ht_buckets }.is_null() {
        return -DER_UNINIT;
    }
    let Some(each) = each else { return -DER_INVAL };
    let locked = table.lock();
    let mut links = locked.heads().flat_map(Ring::new);
    // SAFETY: CALLBACK for `each`, LINK for `link`, which is in the table.
    links.find_map(|link| Some(unsafe { each(link, argument) }).filter(|number| *number != 0)).unwrap_or(0)
}

#[export]
fn d_hash_rec_first(table: Table) -> *mut d_list_t {
    table.lock().heads().flat_map(Ring::new).next().unwrap_or(ptr::null_mut())
}

#[export]
fn d_hash_table_is_empty(table: Table) -> bool {
    d_hash_rec_first(table).is_null()
}

#[export]
unsafe fn d_hash_rec_find(table: Table, key: *const c_void, size: c_uint) -> *mut d_list_t {
    let locked = table.lock();
    let found = locked.head(key, size).and_then(|head| locked.find(head, key, size));
    found.inspect(|link| locked.add_reference(*link)).unwrap_or(ptr::null_mut())
}

#[export]
unsafe fn d_hash_rec_find_insert(
    table: Table,
    key: *const c_void,
    size: c_uint,
    link: *mut d_list_t,
) -> *mut d_list_t {
    let locked = table.lock();
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

#[export]
unsafe fn d_hash_rec_insert(
    table: Table,
    key: *const c_void,
    size: c_uint,
    link: *mut d_list_t,
    exclusive: bool,
) -> c_int {
    let locked = table.lock();
    match locked.head(key, size) {
        None => -DER_INVAL,
        Some(head) if exclusive && locked.find(head, key, size).is_some() => -DER_EXIST,
        Some(head) => {
            locked.insert(link, head);
            0
        }
    }
}

#[export]
unsafe fn d_hash_rec_delete(table: Table, key: *const c_void, size: c_uint) -> bool {
    let locked = table.lock();
    let found = locked.head(key, size).and_then(|head| locked.find(head, key, size));
    found.map(|link| locked.remove(link)).is_some()
}

#[export]
unsafe fn d_hash_rec_delete_at(table: Table, link: *mut d_list_t) -> bool {
    let locked = table.lock();
    // SAFETY: LINK for `link`.
    let is_alone = unsafe { d_hash_rec_unlinked(link) };
    if !is_alone {
        locked.remove(link);
    }
    !is_alone
}

#[export]
unsafe fn d_hash_rec_addref(table: Table, link: *mut d_list_t) {
    table.lock().add_reference(link);
}

#[export]
unsafe fn d_hash_rec_decref(table: Table, link: *mut d_list_t) {
    // SAFETY: LINK for `link`.
    unsafe { d_hash_rec_ndecref(table, 1, link) };
}

#[export]
unsafe fn d_hash_rec_ndecref(table: Table, count: c_int, link: *mut d_list_t) -> c_int {
    let locked = table.lock();
    let mut left = count;
    let mut is_last = false;
    match locked.ops().hop_rec_ndecref.filter(|_| count != 1) {
        Some(release) => {
            // SAFETY: OPS for `release`, LINK for `link`.
            let number = unsafe { release(table.0, link, count) };
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
        // SAFETY: LINK for `link`, and this thread has the lock of its table.
        unsafe { unlink(link) };
    }
    locked.free(link, is_last);
    if left == 0 { 0 } else { -DER_INVAL }
}

#[export]
unsafe fn d_hash_rec_unlinked(link: *mut d_list_t) -> bool {
    // SAFETY: LINK for `link`.
    unsafe { (*link).next == link }
}

const _: () = assert!(size_of::<libc::pthread_mutex_t>() <= 7 * size_of::<u64>());
