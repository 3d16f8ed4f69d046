//! Open files, directories and symbolic links.

use std::sync::{Arc, Mutex};

use isotach_object::ObjectId;

use super::{
    error::{Errno, Result},
    inode::{Inode, Time},
    mount::can_write,
    store::{EntryKey, Store, retry},
    superblock::Attributes,
};
use crate::{
    abi::constants::{DAOS_OO_RO, DAOS_OO_RW},
    containers::Container,
    objects::arrays::{self, Array},
    runtime::{self, handles, locked},
    transactions::scope::Scope,
};

/// The most bytes of a name.
pub(crate) const NAME_MAX: usize = 255;

/// An open file, directory or symbolic link.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) store: Store,
    pub(crate) id: ObjectId,
    /// Kind and permissions, when it was opened.
    pub(crate) mode: u32,
    pub(crate) flags: i32,
    pub(crate) kind: Kind,
    place: Mutex<EntryKey>,
}

/// The kind of a node.
#[derive(Debug)]
pub(crate) enum Kind {
    Directory(Mutex<Defaults>),
    File(File),
    /// With its target.
    Link(Vec<u8>),
}

/// The defaults for new entries of a directory; 0 for those of the file system.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Defaults {
    pub(crate) chunk_size: u64,
    pub(crate) class: u32,
}

/// An open file.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) array: Arc<Array>,
    pub(crate) scope: Scope,
    /// The handle of the array, which programs may ask for.
    pub(crate) handle: u64,
    pub(crate) chunk_size: u64,
    /// The time of the last write, until it is stored.
    written: Mutex<Option<Time>>,
}

/// Checks the name of an entry.
pub(crate) fn name_of(name: &[u8]) -> Result<&[u8]> {
    match name {
        b"." | b".." => Err(Errno(libc::ENOTSUP)),
        _ if name.is_empty() || name.len() > NAME_MAX || name.contains(&b'/') => Err(Errno(libc::EINVAL)),
        _ => Ok(name),
    }
}

/// Opens the object of an inode; empties a file with `O_TRUNC`.
pub(crate) fn open(
    store: &Store,
    attributes: &Attributes,
    place: EntryKey,
    inode: &Inode,
    flags: i32,
) -> Result<Node> {
    let is_for_writing = can_write(flags)?;
    let kind = match inode.kind() {
        libc::S_IFDIR => {
            Kind::Directory(Mutex::new(Defaults { chunk_size: inode.chunk_size, class: inode.class }))
        }
        libc::S_IFREG => {
            let chunk_size = if inode.chunk_size == 0 { attributes.chunk_size } else { inode.chunk_size };
            let file = File::open(store, inode.id, is_for_writing, chunk_size)?;
            if flags & libc::O_TRUNC != 0 {
                file.set_size(0).inspect_err(|_| {
                    let _ = arrays::close(file.handle);
                })?;
            }
            Kind::File(file)
        }
        libc::S_IFLNK => Kind::Link(store.link(&place)?),
        _ => return Err(Errno(libc::EINVAL)),
    };
    Ok(Node { store: store.clone(), id: inode.id, mode: inode.mode, flags, kind, place: Mutex::new(place) })
}

/// Hands out a handle for a node.
pub(crate) fn added(node: Node) -> u64 {
    let container = Arc::clone(&node.store.container);
    handles::add(handles::NODE, Arc::new(node), Some(container))
}

/// See `dfs_dup`.
pub(crate) fn duplicate(node: &Node, flags: i32) -> Result<u64> {
    if flags & libc::O_APPEND != 0 {
        return Err(Errno(libc::ENOTSUP));
    }
    let kind = match &node.kind {
        Kind::Directory(defaults) => Kind::Directory(Mutex::new(*locked(defaults))),
        Kind::Link(target) => Kind::Link(target.clone()),
        Kind::File(file) => Kind::File(File::open(&node.store, node.id, can_write(flags)?, file.chunk_size)?),
    };
    let (store, place) = (node.store.clone(), Mutex::new(node.place()));
    Ok(added(Node { store, id: node.id, mode: node.mode, flags, kind, place }))
}

/// A file that another process opened.
pub(crate) fn shared(store: &Store, place: EntryKey, inode: &Inode, flags: i32) -> Result<u64> {
    Ok(added(open(store, &Attributes::default(), place, inode, flags)?))
}

/// See `dfs_release`.
pub(crate) fn release(handle: u64) -> Result<()> {
    let node = handles::get::<Node>(handle, handles::NODE)?;
    handles::remove(handle)?;
    // A failure is reported, and the file closed all the same.
    let settled = node.settle();
    let closed = match &node.kind {
        Kind::File(file) => Ok(arrays::close(file.handle)?),
        _ => Ok(()),
    };
    settled.and(closed)
}

impl Node {
    /// What is open behind a handle.
    ///
    /// # Errors
    /// `DER_NO_HDL`, also where this process destroyed its container.
    pub(crate) fn get(handle: u64) -> runtime::error::Result<Arc<Self>> {
        let node: Arc<Self> = handles::get(handle, handles::NODE)?;
        node.store.container.check_exists()?;
        Ok(node)
    }

    pub(crate) fn is_directory(&self) -> bool {
        matches!(self.kind, Kind::Directory(_))
    }

    pub(crate) fn file(&self) -> Result<&File> {
        match &self.kind {
            Kind::File(file) => Ok(file),
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    /// The key of its entry, as this process last knew it.
    pub(crate) fn place(&self) -> EntryKey {
        locked(&self.place).clone()
    }

    /// See `dfs_update_parent`: sets the key of its entry.
    pub(crate) fn set_place(&self, place: EntryKey) {
        *locked(&self.place) = place;
    }

    /// The defaults for new entries of a directory.
    pub(crate) fn defaults(&self) -> Defaults {
        match &self.kind {
            Kind::Directory(defaults) => *locked(defaults),
            _ => Defaults::default(),
        }
    }

    pub(crate) fn set_defaults(&self, new: Defaults) {
        if let Kind::Directory(defaults) = &self.kind {
            *locked(defaults) = new;
        }
    }

    /// Refuses to read a node that is no file, or was opened for writing only.
    pub(crate) fn check_readable(&self) -> Result<()> {
        self.file()?;
        if self.flags & libc::O_ACCMODE == libc::O_WRONLY { Err(Errno(libc::EPERM)) } else { Ok(()) }
    }

    /// Refuses a change through a node that was opened for reading.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if can_write(self.flags)? { Ok(()) } else { Err(Errno(libc::EPERM)) }
    }

    /// The inode, which must still be that of this node.
    pub(crate) fn inode(&self) -> Result<Inode> {
        let inode = self.store.present(&self.place())?;
        if inode.id == self.id { Ok(inode) } else { Err(Errno(libc::ENOENT)) }
    }

    /// Reads values beside the inode, while that is still the inode of this node.
    pub(crate) fn look<T>(&self, look: impl Fn(&EntryKey) -> Result<T>) -> Result<T> {
        retry(|| {
            let before = self.inode()?;
            let found = look(&self.place())?;
            Ok((self.inode()? == before).then_some(found))
        })
    }

    /// Changes the inode, which must still be that of this node.
    pub(crate) fn change_inode(&self, mut change: impl FnMut(&mut Inode) -> Result<()>) -> Result<Inode> {
        self.store.change_inode(&self.place(), |inode| match inode.id == self.id {
            true => change(inode),
            false => Err(Errno(libc::ENOENT)),
        })
    }

    /// The time of the last write, if it is not stored yet.
    pub(crate) fn written(&self) -> Option<Time> {
        self.file().ok().and_then(|file| *locked(&file.written))
    }

    /// Stores the time of the last write. A file that was removed or moved since is left alone.
    pub(crate) fn settle(&self) -> Result<()> {
        let Kind::File(file) = &self.kind else { return Ok(()) };
        let Some(time) = locked(&file.written).take() else { return Ok(()) };
        let noted = self.change_inode(|inode| {
            (inode.modified, inode.changed) = (time, inode.changed.max(time));
            Ok(())
        });
        match noted {
            Err(Errno(libc::ENOENT)) => Ok(()),
            noted => noted.map(drop),
        }
    }
}

/// When this process wrote a file last, where that is not stored yet.
pub(crate) fn written(container: &Container, id: ObjectId) -> Option<Time> {
    let nodes = handles::all::<Node>().into_iter();
    let is_it = |node: &Arc<Node>| node.id == id && node.store.container.uuid == container.uuid;
    nodes.filter(is_it).filter_map(|node| node.written()).max()
}

impl File {
    /// Opens the array of a file.
    fn open(store: &Store, id: ObjectId, can_write: bool, chunk_size: u64) -> Result<Self> {
        let mode = if can_write { DAOS_OO_RW } else { DAOS_OO_RO };
        let handle = arrays::open_with_attributes(store.handle, (id.hi(), id.lo()), mode, 1, chunk_size)?;
        let (array, scope) = (Array::get(handle)?, Scope::present(Arc::clone(&store.container)));
        Ok(Self { array, scope, handle, chunk_size, written: Mutex::default() })
    }

    /// Records a change at the present time.
    pub(crate) fn note_change(&self) {
        *locked(&self.written) = Some(Time::now());
    }

    /// Forgets the last change, because its time is being set.
    pub(crate) fn forget_change(&self) {
        *locked(&self.written) = None;
    }

    /// Truncates or extends it.
    pub(crate) fn set_size(&self, size: u64) -> Result<()> {
        self.array.set_size(&self.scope, size)?;
        self.note_change();
        Ok(())
    }
}
