//! The handles that a program holds: the numbers of what it has open.
//!
//! The low four bits of a number are its kind, as in DAOS's library. The rest counts up, so a closed handle is never mistaken for a later
//! one. Handles belong to the process that opened them: in a child process they are invalid.

use std::{
    any::Any,
    collections::HashMap,
    mem, process,
    sync::{Arc, LazyLock, Mutex, MutexGuard},
};

use crate::{
    abi::errors::DER_NO_HDL,
    runtime::{
        error::{Der, Result},
        locked,
    },
};

/// The kinds of what libdfs opens. DAOS hands out pointers for these, so the numbers are this library's own.
pub(crate) const MOUNT: u64 = 14;
pub(crate) const NODE: u64 = 15;

/// A value of any type that is open.
type Shared = Arc<dyn Any + Send + Sync>;

/// What is open under one handle.
struct Open {
    value: Shared,
    /// The container that it is, or in which it is.
    container: Option<Shared>,
}

impl Open {
    fn is<T: Any>(&self, wanted: impl Fn(&T) -> bool) -> bool {
        self.value.downcast_ref().is_some_and(wanted)
    }
}

#[derive(Default)]
struct Table {
    /// The process that opened all of it.
    process: u32,
    last: u64,
    open: HashMap<u64, Open>,
}

impl Table {
    fn add(&mut self, kind: u64, open: Open) -> u64 {
        self.last += 1;
        let handle = self.last << 4 | kind;
        self.open.insert(handle, open);
        handle
    }

    fn has<T: Any>(&self, wanted: impl Fn(&T) -> bool) -> bool {
        self.open.values().any(|open| open.is(&wanted))
    }
}

fn table() -> MutexGuard<'static, Table> {
    static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);
    let mut table = locked(&TABLE);
    if table.process != process::id() {
        // Not dropped: a child must not close what its parent has open.
        mem::forget(mem::take(&mut table.open));
        table.process = process::id();
    }
    table
}

/// Hands out a handle for an open value.
pub(crate) fn add(kind: u64, value: Shared, container: Option<Shared>) -> u64 {
    table().add(kind, Open { value, container })
}

/// As [`add`], unless an open value of type `T` blocks it.
pub(crate) fn add_unless<T: Any>(
    kind: u64,
    value: Shared,
    container: Option<Shared>,
    blocks: impl Fn(&T) -> bool,
) -> Option<u64> {
    let mut table = table();
    (!table.has(blocks)).then(|| table.add(kind, Open { value, container }))
}

/// The value behind a handle of this kind.
///
/// # Errors
/// `DER_NO_HDL`.
pub(crate) fn get<T: Any + Send + Sync>(handle: u64, kind: u64) -> Result<Arc<T>> {
    let value =
        table().open.get(&handle).filter(|_| handle & 0xf == kind).map(|open| Arc::clone(&open.value));
    value.and_then(|value| value.downcast().ok()).ok_or(Der(DER_NO_HDL))
}

/// Whether a handle is of an open value of type `T`.
pub(crate) fn is<T: Any>(handle: u64) -> bool {
    table().open.get(&handle).is_some_and(|open| open.is::<T>(|_| true))
}

/// Closes a handle.
///
/// # Errors
/// `DER_NO_HDL`.
pub(crate) fn remove(handle: u64) -> Result<()> {
    let removed = table().open.remove(&handle);
    // The value is dropped here, when the table is unlocked.
    removed.map(drop).ok_or(Der(DER_NO_HDL))
}

/// Closes a handle, unless an open value of type `T` blocks it. Returns whether it was closed.
///
/// # Errors
/// `DER_NO_HDL`.
pub(crate) fn remove_unless<T: Any>(handle: u64, blocks: impl Fn(&T) -> bool) -> Result<bool> {
    let mut table = table();
    if table.has(blocks) {
        return Ok(false);
    }
    let removed = table.open.remove(&handle);
    drop(table);
    removed.map(|_| true).ok_or(Der(DER_NO_HDL))
}

/// Closes everything.
pub(crate) fn clear() {
    // The values are dropped at the end, when the table is unlocked.
    let _open = mem::take(&mut table().open);
}

/// Whether an open value of type `T` is as wanted.
pub(crate) fn has<T: Any>(wanted: impl Fn(&T) -> bool) -> bool {
    table().has(wanted)
}

/// All open values of type `T`, in the order in which they were opened.
pub(crate) fn all<T: Any + Send + Sync>() -> Vec<Arc<T>> {
    let table = table();
    let mut all: Vec<_> = table.open.iter().filter(|(_, open)| open.is::<T>(|_| true)).collect();
    all.sort_unstable_by_key(|(handle, _)| **handle >> 4);
    all.into_iter().filter_map(|(_, open)| Arc::clone(&open.value).downcast().ok()).collect()
}

/// The containers that are open, or in which something is open. A container may come more than once.
pub(crate) fn containers<C: Any + Send + Sync>() -> Vec<Arc<C>> {
    let table = table();
    let containers = table.open.values().filter_map(|open| open.container.clone());
    containers.filter_map(|container| container.downcast().ok()).collect()
}
