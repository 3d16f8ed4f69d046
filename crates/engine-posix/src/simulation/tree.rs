//! The files and folders of a simulated disk, and its changes.
//!
//! Files and folders have numbers that are never reused. A name leads to a number. So the change of a name and the change of its file are
//! separate, and a power failure may take either.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

/// The number of the folder from which all paths lead.
pub(super) const ROOT: u64 = 0;

/// One change of a disk.
#[derive(Debug, Clone)]
pub(super) enum DiskChange {
    /// A file or folder is created without a name. This costs nothing and is never lost.
    Make { inode: u64, folder: bool },
    /// Names in folders are set or removed, all at once.
    Name(Vec<(u64, OsString, Option<u64>)>),
    /// Bytes are written at a position.
    Write { inode: u64, position: u64, bytes: Arc<[u8]> },
    /// A file is truncated or extended.
    SetLength { inode: u64, length: u64 },
    /// The bytes of a file, or the names of a folder, become durable.
    Sync { inode: u64 },
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    File(Vec<u8>),
    Folder(BTreeMap<OsString, u64>),
}

/// All files and folders.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: BTreeMap<u64, (Node, SystemTime)>,
    /// How far the clock of the disk is ahead of the system's.
    pub(super) clock_ahead: Duration,
}

impl Default for Tree {
    fn default() -> Self {
        let root = (Node::Folder(BTreeMap::new()), SystemTime::now());
        Self { nodes: BTreeMap::from([(ROOT, root)]), clock_ahead: Duration::ZERO }
    }
}

impl Tree {
    /// The time by the clock of the disk, which dates files and folders.
    fn now(&self) -> SystemTime {
        SystemTime::now() + self.clock_ahead
    }

    pub(super) fn apply(&mut self, change: &DiskChange) {
        let now = self.now();
        match change {
            DiskChange::Make { inode, folder } => {
                let node = if *folder { Node::Folder(BTreeMap::new()) } else { Node::File(Vec::new()) };
                self.nodes.insert(*inode, (node, now));
            }
            DiskChange::Name(names) => {
                for (folder, name, target) in names {
                    let Some((Node::Folder(entries), modified)) = self.nodes.get_mut(folder) else {
                        continue;
                    };
                    *modified = now;
                    match target {
                        Some(inode) => entries.insert(name.clone(), *inode),
                        None => entries.remove(name),
                    };
                }
            }
            DiskChange::Write { inode, position, bytes } => {
                let Some(file) = self.bytes_mut(*inode) else { return };
                let start = *position as usize;
                let end = start + bytes.len();
                file.resize(file.len().max(end), 0);
                file[start..end].copy_from_slice(bytes);
            }
            DiskChange::SetLength { inode, length } => {
                if let Some(file) = self.bytes_mut(*inode) {
                    file.resize(*length as usize, 0);
                }
            }
            DiskChange::Sync { .. } => {}
        }
    }

    /// An unused number.
    pub(super) fn next(&self) -> u64 {
        self.nodes.keys().next_back().map_or(ROOT, |last| last + 1)
    }

    pub(super) fn node(&self, inode: u64) -> io::Result<&(Node, SystemTime)> {
        self.nodes.get(&inode).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn bytes(&self, inode: u64) -> io::Result<&[u8]> {
        match self.node(inode)? {
            (Node::File(bytes), _) => Ok(bytes),
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    pub(super) fn bytes_mut(&mut self, inode: u64) -> Option<&mut Vec<u8>> {
        let now = self.now();
        match self.nodes.get_mut(&inode) {
            Some((Node::File(bytes), modified)) => {
                *modified = now;
                Some(bytes)
            }
            _ => None,
        }
    }

    pub(super) fn names(&self, inode: u64) -> io::Result<&BTreeMap<OsString, u64>> {
        match self.node(inode)? {
            (Node::Folder(names), _) => Ok(names),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// The number at a path, which begins at a folder.
    pub(super) fn find(&self, from: u64, path: &Path) -> io::Result<u64> {
        let mut at = from;
        for component in path.components() {
            at = match component {
                Component::RootDir => ROOT,
                Component::Normal(name) => *self.names(at)?.get(name).ok_or(io::ErrorKind::NotFound)?,
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            };
        }
        Ok(at)
    }

    /// The folder and the last name of a path. Nothing can be created in a folder that was removed.
    pub(super) fn find_parent<'p>(&self, from: u64, path: &'p Path) -> io::Result<(u64, &'p OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = self.find(from, path.parent().unwrap_or(Path::new("")))?;
        self.names(folder)?;
        match folder == ROOT || self.is_named(folder) {
            true => Ok((folder, name)),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn is_named(&self, inode: u64) -> bool {
        let mut folders = self.nodes.values().filter_map(|(node, _)| match node {
            Node::Folder(names) => Some(names),
            Node::File(_) => None,
        });
        folders.any(|names| names.values().any(|named| *named == inode))
    }

    /// The lengths of all files that have a name. A file with two names counts once.
    pub(super) fn lengths(&self) -> impl Iterator<Item = u64> {
        let files = self.nodes.iter().filter_map(|(inode, (node, _))| match node {
            Node::File(bytes) => Some((*inode, bytes.len() as u64)),
            Node::Folder(_) => None,
        });
        files.filter(|(inode, _)| self.is_named(*inode)).map(|(_, length)| length)
    }

    /// All files that have a name, with their lengths.
    pub(super) fn files(&self) -> Vec<(PathBuf, u64)> {
        let mut files = Vec::new();
        self.files_in(ROOT, Path::new("/"), &mut files);
        files
    }

    fn files_in(&self, folder: u64, path: &Path, files: &mut Vec<(PathBuf, u64)>) {
        for (name, inode) in self.names(folder).into_iter().flatten() {
            match self.nodes.get(inode) {
                Some((Node::File(bytes), _)) => files.push((path.join(name), bytes.len() as u64)),
                _ => self.files_in(*inode, &path.join(name), files),
            }
        }
    }
}
