//! The attributes that `stat` reports, and changes of them.

use super::{
    error::{Errno, Result, refuse},
    inode::{Inode, Time},
    lookup::{self, Resolved},
    mount::FileSystem,
    nodes::{self, Defaults, Node},
    store::Store,
};
use crate::objects::arrays;

/// The size that is reported for a directory: what DAOS's library needs for an entry in memory.
const DIRECTORY_SIZE: u64 = 104;
/// Bytes of a block, in which the space of a file is reported.
const BLOCK: u64 = 512;

/// The attributes of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    pub(crate) mode: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    pub(crate) size: u64,
    pub(crate) blocks: u64,
    pub(crate) block_size: u64,
    pub(crate) modified: Time,
    pub(crate) changed: Time,
}

/// A change of the attributes of an entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AttributeChange {
    pub(crate) mode: Option<u32>,
    pub(crate) modified: Option<Time>,
    pub(crate) user: Option<u32>,
    pub(crate) group: Option<u32>,
    pub(crate) size: Option<u64>,
}

impl Stat {
    /// The attributes of an inode.
    pub(crate) fn of(store: &Store, inode: &Inode) -> Result<Self> {
        let mut stat = Self {
            mode: inode.mode,
            user: inode.user,
            group: inode.group,
            size: inode.link_length,
            blocks: 0,
            block_size: 0,
            modified: inode.modified,
            changed: inode.changed,
        };
        if inode.is_file() {
            stat.size = arrays::size_of(&store.container, inode.id)?;
            stat.blocks = stat.size.div_ceil(BLOCK);
            stat.block_size = inode.chunk_size;
            if let Some(written) = nodes::written(&store.container, inode.id) {
                (stat.modified, stat.changed) = (stat.modified.max(written), stat.changed.max(written));
            }
        } else if inode.is_directory() {
            stat.size = DIRECTORY_SIZE;
            if let Some(mark) = store.mark(inode.id)?.filter(|mark| *mark != inode.mark) {
                stat.modified = Time::of_stamp(mark);
                stat.changed = stat.changed.max(stat.modified);
            }
        }
        Ok(stat)
    }
}

/// See `dfs_stat`. Does not follow a symbolic link.
pub(crate) fn stat(system: &FileSystem, parent: u64, name: Option<&[u8]>) -> Result<Stat> {
    let Resolved { inode, .. } = lookup::entry(system, parent, name, false)?;
    Stat::of(&system.store, &inode)
}

/// See `dfs_ostat`.
pub(crate) fn stat_of(node: &Node) -> Result<Stat> {
    node.settle()?;
    Stat::of(&node.store, &node.inode()?)
}

/// See `dfs_access`. As in libdfs the owner also has the rights of others.
pub(crate) fn access(system: &FileSystem, parent: u64, name: Option<&[u8]>, mask: i32) -> Result<()> {
    if mask & libc::W_OK != 0 {
        system.check_writable()?;
    }
    let Resolved { inode, .. } = lookup::entry(system, parent, name, true)?;
    let mut counts = libc::S_IRWXO;
    if inode.user == rustix::process::getuid().as_raw() {
        counts |= libc::S_IRWXU;
    }
    if inode.group == rustix::process::getgid().as_raw() {
        counts |= libc::S_IRWXG;
    }
    let rights = inode.mode & counts;
    let all = [(libc::R_OK, 0o444), (libc::W_OK, 0o222), (libc::X_OK, 0o111)];
    match all.iter().all(|(asked, bits)| mask & asked == 0 || rights & bits != 0) {
        true => Ok(()),
        false => Err(Errno(libc::EACCES)),
    }
}

fn checked_mode(mode: u32, kind: u32) -> Result<u32> {
    if mode & libc::S_ISVTX != 0 {
        return refuse(libc::ENOTSUP, "the sticky bit");
    }
    match mode & libc::S_IFMT {
        0 => Ok(mode | kind),
        given if given == kind => Ok(mode),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// See `dfs_chmod`. Follows a symbolic link.
pub(crate) fn chmod(system: &FileSystem, parent: u64, name: Option<&[u8]>, mode: u32) -> Result<()> {
    system.check_writable()?;
    let Resolved { place, .. } = lookup::entry(system, parent, name, true)?;
    let change = |inode: &mut Inode| {
        (inode.mode, inode.changed) = (checked_mode(mode, inode.kind())?, Time::now());
        Ok(())
    };
    system.store.change_inode(&place, change).map(drop)
}

/// See `dfs_chown`. A user or group of `None` stays.
pub(crate) fn chown(
    system: &FileSystem,
    parent: u64,
    name: Option<&[u8]>,
    owner: (Option<u32>, Option<u32>),
    flags: i32,
) -> Result<()> {
    system.check_writable()?;
    let Resolved { place, .. } = lookup::entry(system, parent, name, flags & libc::O_NOFOLLOW == 0)?;
    if owner == (None, None) {
        return Ok(());
    }
    let change = |inode: &mut Inode| {
        (inode.user, inode.group) = (owner.0.unwrap_or(inode.user), owner.1.unwrap_or(inode.group));
        inode.changed = Time::now();
        Ok(())
    };
    system.store.change_inode(&place, change).map(drop)
}

/// See `dfs_osetattr`. Returns the new attributes.
pub(crate) fn change(system: &FileSystem, node: &Node, change: &AttributeChange) -> Result<Stat> {
    system.check_writable()?;
    node.check_writable()?;
    let mode = change.mode.map(|mode| match mode & libc::S_IFMT {
        0 => Err(Errno(libc::EINVAL)),
        _ => checked_mode(mode, node.mode & libc::S_IFMT),
    });
    let mode = mode.transpose()?;
    if let Some(size) = change.size {
        let file = node.file().map_err(|_| Errno(libc::EIO))?;
        node.inode()?;
        file.set_size(size)?;
    }
    if let (Some(_), Ok(file)) = (change.modified, node.file()) {
        file.forget_change();
    }
    node.settle()?;
    let is_more =
        mode.is_some() || change.modified.is_some() || change.user.is_some() || change.group.is_some();
    let inode = match is_more {
        false => node.inode()?,
        true => node.change_inode(|inode| {
            inode.mode = mode.unwrap_or(inode.mode);
            inode.user = change.user.unwrap_or(inode.user);
            inode.group = change.group.unwrap_or(inode.group);
            if let Some(modified) = change.modified {
                inode.modified = modified;
                inode.mark = node.store.mark(node.id)?.unwrap_or(0);
            }
            inode.changed = Time::now();
            Ok(())
        })?,
    };
    Stat::of(&node.store, &inode)
}

impl FileSystem {
    /// See `dfs_obj_set_chunk_size` and `dfs_obj_set_oclass`: the defaults for new entries of a directory.
    pub(crate) fn set_defaults(&self, node: &Node, act: impl Fn(&mut Defaults)) -> Result<()> {
        self.check_writable()?;
        if !node.is_directory() {
            return Err(Errno(libc::ENOTSUP));
        }
        let inode = node.change_inode(|inode| {
            let mut defaults = Defaults { chunk_size: inode.chunk_size, class: inode.class };
            act(&mut defaults);
            (inode.chunk_size, inode.class) = (defaults.chunk_size, defaults.class);
            Ok(())
        })?;
        let defaults = Defaults { chunk_size: inode.chunk_size, class: inode.class };
        node.set_defaults(defaults);
        if node.id == self.root.id {
            self.root.set_defaults(defaults);
        }
        Ok(())
    }
}
