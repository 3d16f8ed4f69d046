//! Folders and files of a simulated disk, as the engine sees them.

use std::{
    ffi::OsString,
    fs::TryLockError,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use isotach_object::SharedBytes;

use super::{
    Fault, SIZE, SimulatedDisk, World,
    tree::{DiskChange, Node},
};
use crate::io::disk::{Access, File, Files, Folder, FolderRights, Naming, Space, Stat};

/// An open folder.
#[derive(Debug)]
pub(super) struct SimulatedFolder {
    disk: SimulatedDisk,
    inode: u64,
}

impl SimulatedFolder {
    pub(super) fn new(disk: &SimulatedDisk, inode: u64) -> Self {
        Self { disk: disk.clone(), inode }
    }

    /// Creates a file or folder under a free name.
    fn make(&self, world: &mut World, path: &Path, folder: bool) -> io::Result<u64> {
        world.call_for_space()?;
        let (parent, name) = world.tree.find_parent(self.inode, path)?;
        if world.tree.names(parent)?.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = world.tree.next();
        world.change(DiskChange::Make { inode, folder });
        world.change(DiskChange::Name(vec![(parent, name.to_owned(), Some(inode))]));
        Ok(inode)
    }

    fn unname(&self, path: &Path, check: impl FnOnce(&Node) -> io::Result<()>) -> io::Result<()> {
        let mut world = self.disk.call()?;
        let inode = world.tree.find(self.inode, path)?;
        check(&world.tree.node(inode)?.0)?;
        let (parent, name) = world.tree.find_parent(self.inode, path)?;
        world.change(DiskChange::Name(vec![(parent, name.to_owned(), None)]));
        Ok(())
    }
}

impl Files for SimulatedFolder {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn File>> {
        let mut world = self.disk.world();
        let inode = if access == Access::New {
            self.make(&mut world, path, false)?
        } else {
            world.call()?;
            let inode = world.tree.find(self.inode, path)?;
            world.tree.bytes(inode)?;
            inode
        };
        Ok(Arc::new(SimulatedFile { disk: self.disk.clone(), inode, locked: AtomicBool::new(false) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut world = self.disk.world();
        world.call_for_space()?;
        let inode = world.tree.find(self.inode, from)?;
        let (old, old_name) = world.tree.find_parent(self.inode, from)?;
        let (new, new_name) = world.tree.find_parent(self.inode, to)?;
        if let Some(there) = world.tree.names(new)?.get(new_name) {
            match (&world.tree.node(inode)?.0, &world.tree.node(*there)?.0) {
                (Node::File(_), Node::File(_)) => {}
                (Node::Folder(_), Node::Folder(names)) if names.is_empty() => {}
                (Node::Folder(_), Node::Folder(_)) => return Err(io::ErrorKind::DirectoryNotEmpty.into()),
                (Node::File(_), Node::Folder(_)) => return Err(io::ErrorKind::IsADirectory.into()),
                (Node::Folder(_), Node::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
            }
        }
        let names = vec![(old, old_name.to_owned(), None), (new, new_name.to_owned(), Some(inode))];
        world.change(DiskChange::Name(names));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.unname(path, |node| match node {
            Node::File(_) => Ok(()),
            Node::Folder(_) => Err(io::ErrorKind::IsADirectory.into()),
        })
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let world = self.disk.call()?;
        let inode = world.tree.find(self.inode, path)?;
        stat(&world, inode)
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let world = self.disk.call()?;
        Ok(world.tree.names(self.inode)?.keys().cloned().collect())
    }

    fn sync(&self) -> io::Result<()> {
        sync(&self.disk, self.inode)
    }
}

impl Folder for SimulatedFolder {
    fn folder(&self, path: &Path, _follow: bool) -> io::Result<Box<dyn Folder>> {
        let world = self.disk.call()?;
        let inode = world.tree.find(self.inode, path)?;
        world.tree.names(inode)?;
        Ok(Box::new(Self::new(&self.disk, inode)))
    }

    fn make_folder(&self, path: &Path, _: Naming) -> io::Result<()> {
        self.make(&mut self.disk.world(), path, true).map(|_| ())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut world = self.disk.world();
        world.call_for_space()?;
        let inode = world.tree.find(self.inode, from)?;
        let (parent, name) = world.tree.find_parent(self.inode, to)?;
        if world.tree.names(parent)?.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        world.change(DiskChange::Name(vec![(parent, name.to_owned(), Some(inode))]));
        Ok(())
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.unname(path, |node| match node {
            Node::Folder(names) if names.is_empty() => Ok(()),
            Node::Folder(_) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
            Node::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        })
    }

    /// All files belong to one user.
    fn rights(&self) -> Option<&dyn FolderRights> {
        None
    }

    fn space(&self) -> io::Result<Space> {
        let world = self.disk.call()?;
        let told = world.capacity.filter(|_| !world.is_quota);
        Ok(Space { kind: 0, total: told.unwrap_or(SIZE), free: told.map_or(SIZE, |_| world.free()) })
    }

    fn boot(&self) -> io::Result<Option<u64>> {
        let world = self.disk.call()?;
        Ok(Some(world.boot + 1))
    }

    fn is_shared(&self) -> bool {
        false
    }
}

fn stat(world: &World, inode: u64) -> io::Result<Stat> {
    let (node, modified) = world.tree.node(inode)?;
    let (length, is_folder) = match node {
        Node::File(bytes) => (bytes.len() as u64, false),
        Node::Folder(_) => (0, true),
    };
    Ok(Stat { length, allocated: length, identity: (0, inode), modified: *modified, is_folder })
}

fn sync(disk: &SimulatedDisk, inode: u64) -> io::Result<()> {
    let mut world = disk.call()?;
    world.change(DiskChange::Sync { inode });
    Ok(())
}

/// An open file.
#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    inode: u64,
    /// Whether this open file holds the lock.
    locked: AtomicBool,
}

impl SimulatedFile {
    /// Writes as much as there is space for. Returns the number of bytes.
    fn write(&self, world: &mut World, bytes: &[u8], position: u64) -> io::Result<usize> {
        let written = match world.call_for_space() {
            Ok(()) if world.capacity.is_none() => bytes.len(),
            Ok(()) => {
                let length = world.tree.bytes(self.inode)?.len() as u64;
                match world.space_at(length, position, bytes.len()) {
                    0 if !bytes.is_empty() => return Err(io::ErrorKind::StorageFull.into()),
                    written => written,
                }
            }
            Err(error) if matches!(world.fault, Some(Fault::Full(_))) && !world.cut => {
                world.cut = true;
                if bytes.len() < 2 {
                    return Err(error);
                }
                bytes.len() / 2
            }
            Err(error) => return Err(error),
        };
        let (inode, bytes) = (self.inode, bytes[..written].into());
        world.change(DiskChange::Write { inode, position, bytes });
        Ok(written)
    }
}

impl File for SimulatedFile {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let world = self.disk.call()?;
        let bytes = world.tree.bytes(self.inode)?;
        let there = bytes.get(position as usize..).unwrap_or_default();
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        Ok(count)
    }

    /// Half of the range is in memory, so that every reader has to continue.
    fn read_cached(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let half = buffer.len() / 2;
        self.read_at(&mut buffer[..half], position)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<Option<u64>> {
        let mut world = self.disk.world();
        let end = world.tree.bytes(self.inode)?.len() as u64;
        let written = self.write(&mut world, bytes, end)?;
        Ok((written == bytes.len()).then_some(end + written as u64))
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        match self.write(&mut self.disk.world(), bytes, position)? == bytes.len() {
            true => Ok(()),
            false => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let mut world = self.disk.call()?;
        world.change(DiskChange::SetLength { inode: self.inode, length });
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.stat()?.length)
    }

    fn stat(&self) -> io::Result<Stat> {
        let world = self.disk.call()?;
        stat(&world, self.inode)
    }

    fn sync(&self) -> io::Result<()> {
        sync(&self.disk, self.inode)
    }

    fn punch(&self, position: u64, length: u64) -> io::Result<()> {
        let mut world = self.disk.call()?;
        let there = world.tree.bytes(self.inode)?.len() as u64;
        let end = there.min(position.saturating_add(length));
        let bytes = vec![0; end.saturating_sub(position) as usize].into();
        world.change(DiskChange::Write { inode: self.inode, position, bytes });
        Ok(())
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        let mut world = self.disk.world();
        world.call().map_err(TryLockError::Error)?;
        if world.locked.contains(&self.inode) {
            return Err(TryLockError::WouldBlock);
        }
        world.locked.push(self.inode);
        self.locked.store(true, Ordering::Release);
        Ok(())
    }

    fn share(&self, position: u64, length: u64) -> io::Result<SharedBytes> {
        let mut bytes = vec![0; length as usize];
        let file: &dyn File = self;
        file.read_exact_at(&mut bytes, position)?;
        Ok(bytes.into())
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        if self.locked.load(Ordering::Acquire) {
            self.disk.world().locked.retain(|inode| *inode != self.inode);
        }
    }
}
