//! What is open of a file system: files, directories and symbolic links.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_object::ObjectId;

use super::{
    bytes::Bytes,
    error::{Errno, Result},
    inode::{Inode, Time},
    mount::can_write,
    store::{Place, Store, until_done},
    superblock::Attributes,
};
use crate::runtime::handles::{self, Open};

/// Bytes of a name at most.
pub(crate) const MOST_NAME: usize = 255;

/// An open file, directory or symbolic link.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) store: Store,
    pub(crate) id: ObjectId,
    /// Kind and permissions, when it was opened.
    pub(crate) mode: u32,
    pub(crate) flags: i32,
    pub(crate) kind: Kind,
    place: Mutex<Place>,
}

/// What is open.
#[derive(Debug)]
pub(crate) enum Kind {
    Directory(Mutex<Defaults>),
    File(File),
    /// With where it leads.
    Link(Vec<u8>),
}

/// What new entries of a directory get, or 0 for what the file system says.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Defaults {
    pub(crate) chunk_size: u64,
    pub(crate) class: u32,
}

/// An open file.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) bytes: Bytes,
    pub(crate) chunk_size: u64,
    /// When it was written last, until that is stored.
    written: Mutex<Option<Time>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is done while it is held that could leave it half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of an entry, which must be one.
pub(crate) fn name_of(name: &[u8]) -> Result<&[u8]> {
    match name {
        b"." | b".." => Err(Errno(libc::ENOTSUP)),
        _ if name.is_empty() || name.len() > MOST_NAME || name.contains(&b'/') => Err(Errno(libc::EINVAL)),
        _ => Ok(name),
    }
}

/// Opens what an entry says; empties a file with `O_TRUNC`.
pub(crate) fn open(
    store: &Store,
    attributes: &Attributes,
    place: Place,
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
            let bytes = Bytes::open(store, inode.id, is_for_writing, chunk_size)?;
            let file = File { bytes, chunk_size, written: Mutex::default() };
            if flags & libc::O_TRUNC != 0 {
                file.set_size(0).inspect_err(|_| {
                    let _ = file.bytes.close();
                })?;
            }
            Kind::File(file)
        }
        libc::S_IFLNK => Kind::Link(store.link(&place)?),
        _ => return Err(Errno(libc::EINVAL)),
    };
    Ok(Node { store: store.clone(), id: inode.id, mode: inode.mode, flags, kind, place: Mutex::new(place) })
}

/// Gives a handle for what was opened.
pub(crate) fn added(node: Node) -> u64 {
    handles::add(Open::Node(Arc::new(node)))
}

/// See `dfs_dup`.
pub(crate) fn duplicate(node: &Node, flags: i32) -> Result<u64> {
    if flags & libc::O_APPEND != 0 {
        return Err(Errno(libc::ENOTSUP));
    }
    let kind = match &node.kind {
        Kind::Directory(defaults) => Kind::Directory(Mutex::new(*locked(defaults))),
        Kind::Link(target) => Kind::Link(target.clone()),
        Kind::File(file) => {
            let bytes = Bytes::open(&node.store, node.id, can_write(flags)?, file.chunk_size)?;
            Kind::File(File { bytes, chunk_size: file.chunk_size, written: Mutex::default() })
        }
    };
    let (store, place) = (node.store.clone(), Mutex::new(node.place()));
    Ok(added(Node { store, id: node.id, mode: node.mode, flags, kind, place }))
}

/// A file that another process opened.
pub(crate) fn shared(store: &Store, place: Place, inode: &Inode, flags: i32) -> Result<u64> {
    Ok(added(open(store, &Attributes::default(), place, inode, flags)?))
}

/// See `dfs_release`.
pub(crate) fn release(handle: u64) -> Result<()> {
    let node = handles::node_to_close(handle)?;
    handles::remove(handle)?;
    // What fails is told, and closed all the same.
    let settled = node.settle();
    let closed = match &node.kind {
        Kind::File(file) => file.bytes.close(),
        _ => Ok(()),
    };
    settled.and(closed)
}

impl Node {
    pub(crate) fn is_directory(&self) -> bool {
        matches!(self.kind, Kind::Directory(_))
    }

    pub(crate) fn file(&self) -> Result<&File> {
        match &self.kind {
            Kind::File(file) => Ok(file),
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    /// Where its entry is, as far as this process knows.
    pub(crate) fn place(&self) -> Place {
        locked(&self.place).clone()
    }

    /// See `dfs_update_parent`: the entry is elsewhere.
    pub(crate) fn set_place(&self, place: Place) {
        *locked(&self.place) = place;
    }

    /// What new entries of a directory get.
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

    /// Refuses to read what is no file, or was opened for writing alone.
    pub(crate) fn check_readable(&self) -> Result<()> {
        self.file()?;
        if self.flags & libc::O_ACCMODE == libc::O_WRONLY { Err(Errno(libc::EPERM)) } else { Ok(()) }
    }

    /// Refuses a change through what was opened for reading.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if can_write(self.flags)? { Ok(()) } else { Err(Errno(libc::EPERM)) }
    }

    /// The inode, which must be that of this node still.
    pub(crate) fn inode(&self) -> Result<Inode> {
        let inode = self.store.present(&self.place())?;
        if inode.id == self.id { Ok(inode) } else { Err(Errno(libc::ENOENT)) }
    }

    /// What is found beside the inode, while that is this node's: under the same name there may be another one.
    pub(crate) fn look<T>(&self, look: impl Fn(&Place) -> Result<T>) -> Result<T> {
        until_done(|| {
            let before = self.inode()?;
            let found = look(&self.place())?;
            Ok((self.inode()? == before).then_some(found))
        })
    }

    /// Changes the inode, if it is that of this node still.
    pub(crate) fn change_inode(&self, mut change: impl FnMut(&mut Inode) -> Result<()>) -> Result<Inode> {
        let place = self.place();
        until_done(|| {
            let epoch = self.store.epoch()?;
            let mut inode = self.inode()?;
            change(&mut inode)?;
            let conditions = [place.is_as_at(epoch), place.is_there()];
            let done = self.store.commit(&conditions, &[place.put_inode(&inode.bytes())])?;
            Ok(done.then_some(inode))
        })
    }

    /// When the file was written last, as far as that is not stored yet.
    pub(crate) fn written(&self) -> Option<Time> {
        self.file().ok().and_then(|file| *locked(&file.written))
    }

    /// Stores when the file was written last. One that was removed or moved meanwhile is left alone.
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

impl File {
    /// Notes that it was changed just now.
    pub(crate) fn note_change(&self) {
        *locked(&self.written) = Some(Time::now());
    }

    /// Forgets that it was changed: somebody says when it was.
    pub(crate) fn forget_change(&self) {
        *locked(&self.written) = None;
    }

    /// Makes it shorter or longer.
    pub(crate) fn set_size(&self, size: u64) -> Result<()> {
        self.bytes.set_size(size)?;
        self.note_change();
        Ok(())
    }
}
