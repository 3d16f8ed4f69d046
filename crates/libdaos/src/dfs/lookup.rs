//! Resolving paths and symbolic links.

use std::collections::VecDeque;

use isotach_object::ObjectId;

use super::{
    error::{Errno, Result},
    inode::Inode,
    mount::{FileSystem, PATH_MAX, can_write},
    nodes::{self, Node, name_of},
    store::EntryKey,
};

/// The most symbolic links that are followed, so that a cycle of links ends.
const LINKS_MAX: usize = 40;

/// The entry that a path resolves to.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) place: EntryKey,
    pub(crate) inode: Inode,
}

/// A directory on the path. For the parent of the start only the id is known.
#[derive(Debug, Clone)]
struct Step {
    id: ObjectId,
    place: Option<EntryKey>,
}

/// A walk along a path.
struct Walk<'s> {
    system: &'s FileSystem,
    way: Vec<Step>,
    left: VecDeque<Vec<u8>>,
    links: usize,
}

fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = Vec<u8>> + '_ {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".").map(<[u8]>::to_vec)
}

impl<'s> Walk<'s> {
    fn new(system: &'s FileSystem, from: &Node, path: &[u8]) -> Result<Self> {
        let way = vec![Step { id: from.id, place: Some(from.place()) }];
        let mut walk = Self { system, way, left: VecDeque::new(), links: 0 };
        walk.follow(path)?;
        Ok(walk)
    }

    /// Continues along a path from the current directory. An absolute path is only accepted at the root, because the root of the process that
    /// created a link is not known.
    fn follow(&mut self, path: &[u8]) -> Result<()> {
        let is_at_root = self.way.last().is_some_and(|step| step.id == self.system.root.id);
        if path.starts_with(b"/") && !is_at_root {
            return Err(Errno(libc::EINVAL));
        }
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(Errno(libc::ELOOP));
        }
        parts(path).rev().for_each(|part| self.left.push_front(part));
        Ok(())
    }

    fn up(&mut self) -> Result<()> {
        match self.way.pop() {
            // Nothing is above the root.
            Some(step) if step.id == self.system.root.id => Err(Errno(libc::ENOENT)),
            Some(step) if self.way.is_empty() => {
                let place = step.place.ok_or(Errno(libc::ENOTSUP))?;
                self.way.push(Step { id: place.directory, place: None });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Walks to the end.
    fn end(mut self, follow_last: bool) -> Result<Resolved> {
        while let Some(name) = self.left.pop_front() {
            if name == b".." {
                self.up()?;
                continue;
            }
            let Some(step) = self.way.last() else { return Err(Errno(libc::ENOENT)) };
            let place = EntryKey::new(step.id, name_of(&name)?);
            let inode = self.system.store.present(&place)?;
            match (inode.is_link(), self.left.is_empty()) {
                (true, is_last) if follow_last || !is_last => {
                    let target = self.system.store.link(&place)?;
                    self.follow(&target)?;
                }
                (_, true) => return Ok(Resolved { place, inode }),
                _ if inode.is_directory() => self.way.push(Step { id: inode.id, place: Some(place) }),
                _ => return Err(Errno(libc::ENOENT)),
            }
        }
        // The path ends with a directory that was walked before.
        let place = self.way.pop().and_then(|step| step.place).ok_or(Errno(libc::ENOTSUP))?;
        let inode = self.system.store.present(&place)?;
        Ok(Resolved { place, inode })
    }
}

/// The entry with a name in the directory behind a handle, or that of the root without a name. With `follow` a symbolic link resolves to its target.
pub(crate) fn entry(system: &FileSystem, parent: u64, name: Option<&[u8]>, follow: bool) -> Result<Resolved> {
    let parent = system.directory(parent)?;
    let place = match name {
        Some(name) => EntryKey::new(parent.id, name_of(name)?),
        None if parent.id == system.root.id => parent.place(),
        None => return Err(Errno(libc::EINVAL)),
    };
    let inode = system.store.present(&place)?;
    if !follow || !inode.is_link() {
        return Ok(Resolved { place, inode });
    }
    Walk::new(system, &parent, &system.store.link(&place)?)?.end(true)
}

/// See `dfs_lookup`: returns the handle and the inode.
pub(crate) fn lookup(system: &FileSystem, path: &[u8], flags: i32) -> Result<(u64, Inode)> {
    if flags & libc::O_APPEND != 0 {
        return Err(Errno(libc::ENOTSUP));
    }
    if !path.starts_with(b"/") || path.len() >= PATH_MAX {
        return Err(Errno(libc::EINVAL));
    }
    can_write(flags)?;
    let path = system.without_prefix(path)?;
    opened(system, Walk::new(system, &system.root, path)?.end(flags & libc::O_NOFOLLOW == 0)?, flags)
}

/// See `dfs_lookup_rel`.
pub(crate) fn lookup_in(system: &FileSystem, parent: u64, name: &[u8], flags: i32) -> Result<(u64, Inode)> {
    if flags & libc::O_APPEND != 0 {
        return Err(Errno(libc::ENOTSUP));
    }
    can_write(flags)?;
    opened(system, entry(system, parent, Some(name), flags & libc::O_NOFOLLOW == 0)?, flags)
}

/// A directory at a path from the root, opened for reading.
pub(crate) fn directory(system: &FileSystem, path: &[u8]) -> Result<u64> {
    let found = Walk::new(system, &system.root, path)?.end(true)?;
    match found.inode.is_directory() {
        true => opened(system, found, libc::O_RDONLY).map(|(handle, _)| handle),
        false => Err(Errno(libc::ENOTDIR)),
    }
}

fn opened(system: &FileSystem, found: Resolved, flags: i32) -> Result<(u64, Inode)> {
    system.check_flags(flags)?;
    let Resolved { place, inode } = found;
    let node = nodes::open(&system.store, &system.attributes, place, &inode, flags)?;
    Ok((nodes::added(node), inode))
}
