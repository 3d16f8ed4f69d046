//! Mounted file systems.

use std::sync::{Arc, Mutex};

use isotach_object::ObjectId;

use super::{
    error::{Errno, Result, refuse},
    nodes::{self, Node, name_of},
    store::{EntryKey, Store, check_object, id_of},
    superblock::{self, Attributes},
};
use crate::{
    abi::{
        dfs::DFS_BALANCED,
        properties::{DAOS_PROP_CO_LAYOUT_POSIX, DAOS_PROP_CO_LAYOUT_TYPE},
    },
    containers::{
        self, pools,
        properties::{self, Value},
    },
    runtime::{self, handles, locked},
};

/// The most bytes of a path or a prefix, with the byte that ends it.
pub(crate) const PATH_MAX: usize = libc::PATH_MAX as usize;
/// The ids that a mount derives from one allocated id, before it allocates the next.
const HIGH_MAX: u64 = u32::MAX as u64;

/// What is closed together with a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owned {
    Nothing,
    Container,
    /// The container and the connection to the pool: it was mounted by their names.
    All,
}

/// A mounted file system.
#[derive(Debug)]
pub(crate) struct FileSystem {
    pub(crate) store: Store,
    pub(crate) pool: u64,
    pub(crate) can_write: bool,
    pub(crate) attributes: Attributes,
    pub(crate) root: Arc<Node>,
    pub(crate) owned: Owned,
    prefix: Mutex<Option<Vec<u8>>>,
    /// The user's bits of the next id.
    next: Mutex<Option<(u64, u64)>>,
    /// How many times the program got the handles of the pool and the container without returning them.
    held: Mutex<[u32; 2]>,
}

/// Whether open flags allow changes.
///
/// # Errors
/// `EINVAL` for flags that name no access mode.
pub(crate) fn can_write(flags: i32) -> Result<bool> {
    match flags & libc::O_ACCMODE {
        libc::O_RDONLY => Ok(false),
        libc::O_RDWR | libc::O_WRONLY => Ok(true),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// See `dfs_mount`; returns the handle.
pub(crate) fn mount(pool: u64, container: u64, flags: i32, owned: Owned) -> Result<u64> {
    can_write(flags)?;
    let can_write = flags & libc::O_ACCMODE == libc::O_RDWR;
    let store = Store::open(container)?;
    let layout = properties::of(&store.container)?.remove(&DAOS_PROP_CO_LAYOUT_TYPE);
    if layout != Some(Value::Number(DAOS_PROP_CO_LAYOUT_POSIX)) {
        return refuse(libc::EINVAL, "a container whose layout is not that of a file system (POSIX)");
    }
    let attributes = superblock::read(&store)?;
    if attributes.mode == DFS_BALANCED && flags.cast_unsigned() & DFS_BALANCED == 0 {
        return refuse(libc::EPERM, "a mount without DFS_BALANCED of a container that was made with it");
    }
    let place = superblock::place_of_root()?;
    let inode = store.present(&place)?;
    let root = Arc::new(nodes::open(&store, &attributes, place, &inode, flags & libc::O_ACCMODE)?);
    let system = FileSystem {
        store,
        pool,
        can_write,
        attributes,
        root,
        owned,
        prefix: Mutex::default(),
        next: Mutex::default(),
        held: Mutex::default(),
    };
    let container = Arc::clone(&system.store.container);
    Ok(handles::add(handles::MOUNT, Arc::new(system), Some(container)))
}

/// See `dfs_umount`, and `dfs_disconnect` for one that was mounted by names.
pub(crate) fn unmount(handle: u64, by_names: bool) -> Result<()> {
    let system = handles::get::<FileSystem>(handle, handles::MOUNT)?;
    if (system.owned == Owned::All) != by_names {
        return refuse(libc::EINVAL, "dfs_umount undoes dfs_mount, and dfs_disconnect undoes dfs_connect");
    }
    if *locked(&system.held) != [0, 0] {
        return refuse(
            libc::EBUSY,
            "a handle that was asked for was not given back (dfs_pool_put, dfs_cont_put)",
        );
    }
    handles::remove(handle)?;
    // A failure is reported, and the rest closed all the same.
    let is_owned = system.owned != Owned::Nothing;
    let closed = if is_owned { containers::close(system.store.handle) } else { Ok(()) };
    let disconnected = if by_names { pools::disconnect(system.pool) } else { Ok(()) };
    Ok(closed.and(disconnected)?)
}

impl FileSystem {
    /// The mount behind a handle.
    ///
    /// # Errors
    /// `DER_NO_HDL`, also where this process destroyed its container.
    pub(crate) fn get(handle: u64) -> runtime::error::Result<Arc<Self>> {
        let system: Arc<Self> = handles::get(handle, handles::MOUNT)?;
        system.store.container.check_exists()?;
        Ok(system)
    }

    /// Refuses a change through a read-only mount, or one over a read-only container handle. As in DAOS such a mount is itself no error.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if !self.can_write {
            return Err(Errno(libc::EPERM));
        }
        Ok(self.store.container.check_writable()?)
    }

    /// Refuses `O_TRUNC` where nothing may be changed.
    pub(crate) fn check_flags(&self, flags: i32) -> Result<()> {
        if flags & libc::O_TRUNC == 0 { Ok(()) } else { self.check_writable() }
    }

    /// The directory behind a handle, or the root for none.
    pub(crate) fn directory(&self, handle: u64) -> Result<Arc<Node>> {
        if handle == 0 {
            return Ok(Arc::clone(&self.root));
        }
        let node = self.node(handle)?;
        if node.is_directory() { Ok(node) } else { Err(Errno(libc::ENOTDIR)) }
    }

    /// The key of the entry with a name in the directory behind a handle.
    pub(crate) fn place(&self, parent: u64, name: &[u8]) -> Result<EntryKey> {
        Ok(EntryKey::new(self.directory(parent)?.id, name_of(name)?))
    }

    /// The node behind a handle, which must be in this file system: ids of another one mean other objects.
    pub(crate) fn node(&self, handle: u64) -> Result<Arc<Node>> {
        let node = Node::get(handle)?;
        match node.store.container.is_same(&self.store.container) {
            true => Ok(node),
            false => refuse(libc::EINVAL, "a file or directory of another container than the mount's"),
        }
    }

    /// Allocates an id.
    pub(crate) fn new_id(&self, is_file: bool, class: u32) -> Result<ObjectId> {
        // An impossible class is refused before an id is taken.
        check_object(&self.store.container, id_of((0, 0), is_file, class)?)?;
        let mut next = locked(&self.next);
        let (high, low) = match *next {
            Some(next) if next.0 < HIGH_MAX => next,
            _ => {
                let low = self.store.container.allocate_ids(1)?;
                // Below that are the superblock and the root.
                (if low == 0 { 2 } else { 0 }, low)
            }
        };
        *next = Some((high + 1, low));
        id_of((high, low), is_file, class)
    }

    /// See `dfs_set_prefix`.
    pub(crate) fn set_prefix(&self, prefix: Option<&[u8]>) -> Result<()> {
        let prefix = match prefix {
            Some(prefix) if !prefix.starts_with(b"/") || prefix.len() >= PATH_MAX => {
                return Err(Errno(libc::EINVAL));
            }
            Some(prefix) => Some(prefix.strip_suffix(b"/").unwrap_or(prefix).to_vec()),
            None => None,
        };
        *locked(&self.prefix) = prefix;
        Ok(())
    }

    /// A path without the prefix, which it must have, and which must end where a name does.
    pub(crate) fn without_prefix<'p>(&self, path: &'p [u8]) -> Result<&'p [u8]> {
        let prefix = locked(&self.prefix);
        let rest = path.strip_prefix(prefix.as_deref().unwrap_or_default());
        rest.filter(|rest| rest.is_empty() || rest.starts_with(b"/")).ok_or(Errno(libc::EINVAL))
    }

    /// See `dfs_pool_get` (0) and `dfs_cont_get` (1).
    pub(crate) fn hold(&self, which: usize) -> u64 {
        locked(&self.held)[which] += 1;
        [self.pool, self.store.handle][which]
    }

    /// See `dfs_pool_put` (0) and `dfs_cont_put` (1).
    pub(crate) fn give_back(&self, which: usize, handle: u64) -> Result<()> {
        let mut held = locked(&self.held);
        if held[which] == 0 || handle != [self.pool, self.store.handle][which] {
            return Err(Errno(libc::EINVAL));
        }
        held[which] -= 1;
        Ok(())
    }
}
