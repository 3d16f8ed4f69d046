//! What the program has open, by the numbers that it is given for it.
//!
//! The low four bits of a number say of what kind it is, as in DAOS's library; the rest counts up, so that a handle which was closed is
//! never mistaken for a later one. What a process had open when it forked is its own: in the child these numbers are of nothing.

use std::{
    collections::HashMap,
    mem, process,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use isotach_object::ObjectId;

use crate::{
    abi::{constants::*, errors::DER_NO_HDL},
    containers::{Container, pools::Pool},
    dfs::{FileSystem, Node, Time},
    objects::{Object, arrays::Array},
    runtime::error::{Der, Result},
    transactions::{Transaction, snapshots::ObjectTable},
};

/// The kinds of what libdfs opens: DAOS gives pointers for these, so the numbers are this library's own.
const MOUNT: u64 = 14;
const NODE: u64 = 15;

/// What is open.
#[derive(Debug, Clone)]
pub(crate) enum Open {
    Pool(Arc<Pool>),
    Container(Arc<Container>),
    Object(Arc<Object>),
    KeyValue(Arc<Object>),
    Array(Arc<Array>),
    Table(Arc<ObjectTable>),
    Transaction(Arc<Transaction>),
    FileSystem(Arc<FileSystem>),
    Node(Arc<Node>),
}

impl Open {
    fn kind(&self) -> u64 {
        match self {
            Self::Pool(_) => DAOS_HTYPE_POOL,
            Self::Container(_) => DAOS_HTYPE_CO,
            Self::Object(_) | Self::Table(_) => DAOS_HTYPE_OBJ,
            Self::Array(_) => DAOS_HTYPE_ARRAY,
            Self::KeyValue(_) => DAOS_HTYPE_KV,
            Self::Transaction(_) => DAOS_HTYPE_TX,
            Self::FileSystem(_) => MOUNT,
            Self::Node(_) => NODE,
        }
    }

    /// The container in which it is.
    fn container(&self) -> Option<&Arc<Container>> {
        match self {
            Self::Pool(_) | Self::Table(_) => None,
            Self::Container(container) => Some(container),
            Self::Object(object) | Self::KeyValue(object) => Some(&object.container),
            Self::Array(array) => Some(&array.container),
            Self::Transaction(transaction) => Some(&transaction.container),
            Self::FileSystem(system) => Some(&system.store.container),
            Self::Node(node) => Some(&node.store.container),
        }
    }
}

#[derive(Debug, Default)]
struct Table {
    /// Whose it is.
    process: u32,
    last: u64,
    open: HashMap<u64, Open>,
}

impl Table {
    fn add(&mut self, open: Open) -> u64 {
        self.last += 1;
        let number = self.last << 4 | open.kind();
        self.open.insert(number, open);
        number
    }
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

fn table() -> MutexGuard<'static, Table> {
    // Nothing is done while it is held that could leave it half changed.
    let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    if table.process != process::id() {
        // Not dropped: to close what the parent has open is not the child's.
        mem::forget(mem::take(&mut table.open));
        table.process = process::id();
    }
    table
}

/// Gives a number for what was opened.
pub(crate) fn add(open: Open) -> u64 {
    table().add(open)
}

/// As [`add`], unless something that is open hinders it.
pub(crate) fn add_unless(open: Open, hinders: impl Fn(&Open) -> bool) -> Option<u64> {
    let mut table = table();
    (!table.open.values().any(hinders)).then(|| table.add(open))
}

/// What is open under a number.
///
/// # Errors
/// `DER_NO_HDL`.
pub(crate) fn get(number: u64) -> Result<Open> {
    table().open.get(&number).cloned().ok_or(Der(DER_NO_HDL))
}

/// Closes what is open under a number.
///
/// # Errors
/// `DER_NO_HDL`.
pub(crate) fn remove(number: u64) -> Result<Open> {
    table().open.remove(&number).ok_or(Der(DER_NO_HDL))
}

/// Closes what is open under a number, unless something that is open hinders it; whether it did.
///
/// # Errors
/// `DER_NO_HDL`.
pub(crate) fn remove_unless(number: u64, hinders: impl Fn(&Open) -> bool) -> Result<bool> {
    let mut table = table();
    if table.open.values().any(hinders) {
        return Ok(false);
    }
    let removed = table.open.remove(&number).ok_or(Der(DER_NO_HDL))?;
    // Dropped when the table is free again.
    drop(table);
    drop(removed);
    Ok(true)
}

/// Closes everything.
pub(crate) fn clear() {
    // Dropped when the table is free again.
    let _open = mem::take(&mut table().open);
}

/// Whether something of this kind is open.
pub(crate) fn has(is_it: impl Fn(&Open) -> bool) -> bool {
    table().open.values().any(is_it)
}

/// The containers in which something is open.
pub(crate) fn containers_of(is_it: impl Fn(&Container) -> bool) -> Vec<Arc<Container>> {
    let table = table();
    let containers = table.open.values().filter_map(Open::container);
    containers.filter(|container| is_it(container)).cloned().collect()
}

/// How many handles of this process a container has.
pub(crate) fn count_of(is_it: impl Fn(&Container) -> bool) -> usize {
    let table = table();
    let has = |open: &&Open| matches!(open, Open::Container(container) if is_it(container));
    table.open.values().filter(has).count()
}

/// Of the arrays that are open in a container under this id the one that was opened last.
pub(crate) fn array_of(container: &Container, id: ObjectId) -> Option<Arc<Array>> {
    let table = table();
    let is_it = |array: &Array| array.id == id && array.container.uuid == container.uuid;
    let arrays = table.open.iter().filter_map(|(number, open)| match open {
        Open::Array(array) if is_it(array) => Some((number, array)),
        _ => None,
    });
    arrays.max_by_key(|(number, _)| **number).map(|(_, array)| Arc::clone(array))
}

/// When a file was written last through what is open of it, as far as that is not stored yet.
pub(crate) fn written_of(container: &Container, id: ObjectId) -> Option<Time> {
    let table = table();
    let times = table.open.values().filter_map(|open| match open {
        Open::Node(node) if node.id == id && node.store.container.uuid == container.uuid => node.written(),
        _ => None,
    });
    times.max()
}

macro_rules! kinds {
    ($($name:ident: $kind:ident($type:ty);)*) => {
        $(
            /// What is open under a number, if it is of this kind.
            pub(crate) fn $name(number: u64) -> Result<Arc<$type>> {
                match get(number)? {
                    Open::$kind(open) => Ok(open),
                    _ => Err(Der(DER_NO_HDL)),
                }
            }
        )*
    };
}

kinds! {
    pool: Pool(Pool);
    container_to_close: Container(Container);
    object: Object(Object);
    key_value: KeyValue(Object);
    array: Array(Array);
    object_table: Table(ObjectTable);
    transaction: Transaction(Transaction);
    file_system_to_close: FileSystem(FileSystem);
    node_to_close: Node(Node);
}

/// The open container under a number.
///
/// # Errors
/// `DER_NO_HDL`, also where this process destroyed it.
pub(crate) fn container(number: u64) -> Result<Arc<Container>> {
    container_to_close(number).and_then(|container| container.check_there().map(|()| container))
}

/// As [`container`], a mounted file system.
pub(crate) fn file_system(number: u64) -> Result<Arc<FileSystem>> {
    file_system_to_close(number).and_then(|system| system.store.container.check_there().map(|()| system))
}

/// As [`container`], what is open in a file system.
pub(crate) fn node(number: u64) -> Result<Arc<Node>> {
    node_to_close(number).and_then(|node| node.store.container.check_there().map(|()| node))
}
