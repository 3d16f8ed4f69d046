//! Opening and creating entries.

use isotach_object::Precondition;

use super::{
    error::{Errno, Result},
    inode::{Inode, Time},
    mount::{FileSystem, PATH_MAX, can_write},
    nodes::{self, Defaults, Node, name_of},
    store::{About, EntryKey, retry},
};

/// How an entry is opened or created.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted<'w> {
    /// Kind and permissions.
    pub(crate) mode: u32,
    pub(crate) flags: i32,
    /// The class of the object, or 0 for the default of the directory or the file system.
    pub(crate) class: u32,
    /// The chunk size of a file, or 0 for the default.
    pub(crate) chunk_size: u64,
    /// The target of a symbolic link.
    pub(crate) target: Option<&'w [u8]>,
    /// The user and group of a new entry, or those of the process.
    pub(crate) owner: Option<(u32, u32)>,
}

/// See `dfs_open` and `dfs_open_stat`: the handle, and the inode.
pub(crate) fn open(
    system: &FileSystem,
    parent: u64,
    name: &[u8],
    wanted: &Wanted<'_>,
) -> Result<(u64, Inode)> {
    let is_new_wanted = wanted.flags & libc::O_CREAT != 0;
    if wanted.flags & libc::O_APPEND != 0 {
        return Err(Errno(libc::ENOTSUP));
    }
    if is_new_wanted {
        system.check_writable()?;
    }
    system.check_flags(wanted.flags)?;
    let kind = wanted.mode & libc::S_IFMT;
    if kind == libc::S_IFLNK && wanted.target.is_none() {
        return Err(Errno(libc::EINVAL));
    }
    can_write(wanted.flags)?;
    let parent = system.directory(parent)?;
    let place = EntryKey::new(parent.id, name_of(name)?);
    match kind {
        libc::S_IFREG | libc::S_IFDIR => {}
        libc::S_IFLNK if is_new_wanted => {}
        libc::S_IFLNK => return Err(Errno(libc::ENOTSUP)),
        _ => return Err(Errno(libc::EINVAL)),
    }
    // A link is always created exclusively: an existing one may have another target.
    let is_alone_wanted = wanted.flags & libc::O_EXCL != 0 || kind == libc::S_IFLNK;
    let inode = retry(|| match is_new_wanted && is_alone_wanted {
        true => made(system, &parent, &place, wanted)?.ok_or(Errno(libc::EEXIST)).map(Some),
        false => match system.store.inode(&place)? {
            Some(inode) => fitting(inode, kind).map(Some),
            None if is_new_wanted => made(system, &parent, &place, wanted),
            None => Err(Errno(libc::ENOENT)),
        },
    })?;
    let node = nodes::open(&system.store, &system.attributes, place, &inode, wanted.flags)?;
    Ok((nodes::added(node), inode))
}

/// An existing inode, if it is of the wanted kind.
fn fitting(inode: Inode, kind: u32) -> Result<Inode> {
    match inode.kind() == kind {
        true => Ok(inode),
        false if kind == libc::S_IFDIR => Err(Errno(libc::ENOTDIR)),
        false => Err(Errno(libc::EINVAL)),
    }
}

/// See `dfs_mkdir`.
pub(crate) fn make_directory(
    system: &FileSystem,
    parent: u64,
    name: &[u8],
    mode: u32,
    class: u32,
) -> Result<()> {
    system.check_writable()?;
    let parent = system.directory(parent)?;
    let place = EntryKey::new(parent.id, name_of(name)?);
    let wanted = Wanted { mode: libc::S_IFDIR | mode & 0o7777, class, ..Wanted::default() };
    made(system, &parent, &place, &wanted)?.map(drop).ok_or(Errno(libc::EEXIST))
}

/// Creates an entry. Returns its inode, or `None` if the entry exists.
fn made(system: &FileSystem, parent: &Node, place: &EntryKey, wanted: &Wanted<'_>) -> Result<Option<Inode>> {
    let inode = new_inode(system, parent.defaults(), wanted)?;
    Ok(insert(parent, place, &inode, wanted.target)?.then_some(inode))
}

fn new_inode(system: &FileSystem, defaults: Defaults, wanted: &Wanted<'_>) -> Result<Inode> {
    let attributes = &system.attributes;
    let kind = wanted.mode & libc::S_IFMT;
    let of_system = match kind {
        libc::S_IFREG => attributes.file_class,
        libc::S_IFDIR => attributes.directory_class,
        _ => attributes.class,
    };
    let first = |given: &[u64]| given.iter().copied().find(|number| *number != 0).unwrap_or(0);
    let class = first(&[wanted.class.into(), defaults.class.into(), of_system.into()]) as u32;
    let id = system.new_id(kind == libc::S_IFREG, class)?;
    let mut inode = Inode::new(wanted.mode, id, Time::now());
    if let Some((user, group)) = wanted.owner {
        (inode.user, inode.group) = (user, group);
    }
    match (kind, wanted.target) {
        (libc::S_IFREG, _) => {
            inode.chunk_size = first(&[wanted.chunk_size, defaults.chunk_size, attributes.chunk_size]);
        }
        (libc::S_IFDIR, _) => (inode.chunk_size, inode.class) = (defaults.chunk_size, defaults.class),
        (_, Some(target)) if !target.is_empty() && target.len() < PATH_MAX => {
            inode.mode |= 0o777;
            inode.link_length = target.len() as u64;
        }
        _ => return Err(Errno(libc::EINVAL)),
    }
    Ok(inode)
}

/// Inserts an entry, a directory together with its mark. Returns whether there was none.
fn insert(parent: &Node, place: &EntryKey, inode: &Inode, target: Option<&[u8]>) -> Result<bool> {
    let (store, bytes) = (&parent.store, inode.bytes());
    let (of_parent, own) = (About::mark(parent.id, inode.changed)?, About::mark(inode.id, inode.changed)?);
    let above = About::parent(inode.id, parent.id)?;
    let mut updates = Vec::with_capacity(4);
    if inode.is_directory() {
        updates.extend([own.set(), above.set()]);
    }
    updates.push(place.put_inode(&bytes));
    if let Some(target) = target.filter(|_| inode.is_link()) {
        updates.push(place.put_link(target));
    }
    updates.push(of_parent.set());
    let conditions: [Precondition<'_>; 2] = [place.is_free(), of_parent.exists()];
    store.clear(place)?;
    retry(|| match store.commit(&conditions, &updates)? {
        true => Ok(Some(true)),
        false if store.inode(place)?.is_some() => Ok(Some(false)),
        // The directory was removed while it was open.
        false if store.mark(place.directory)?.is_none() => Err(Errno(libc::ENOENT)),
        false => Ok(None),
    })
}
