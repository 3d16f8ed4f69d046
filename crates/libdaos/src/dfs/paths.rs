//! Entries by whole paths, for `dfs_sys_*`: the directory above is opened for one call. Nothing is kept between two calls, so no path is stale.

use super::{
    create::{self, Wanted},
    error::{Errno, Result},
    lookup,
    mount::{FileSystem, MOST_PATH},
    nodes,
};

/// Something open, which is released when it goes out of scope.
#[derive(Debug)]
pub(crate) struct Held(u64);

impl Held {
    pub(crate) fn handle(&self) -> u64 {
        self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A directory that was opened for a look has nothing to store.
        let _ = nodes::release(self.0);
    }
}

/// Where a path leads: a directory, and a name in it. The root has no name, and is the directory itself.
#[derive(Debug)]
pub(crate) struct At<'p> {
    pub(crate) directory: Held,
    pub(crate) name: Option<&'p [u8]>,
}

/// What of a path is inside the mount.
///
/// # Errors
/// `EINVAL` for a path that does not begin at the root, `ENAMETOOLONG`.
fn inside<'p>(system: &FileSystem, path: &'p [u8]) -> Result<&'p [u8]> {
    match path {
        [b'/', ..] if path.len() < MOST_PATH => system.without_prefix(path),
        [b'/', ..] => Err(Errno(libc::ENAMETOOLONG)),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// Opens the directory in which a path ends. Symbolic links on the way are followed.
///
/// # Errors
/// `EINVAL` for a path that does not begin at the root, `ENAMETOOLONG`, `ENOENT`, `ENOTDIR`.
pub(crate) fn find<'p>(system: &FileSystem, path: &'p [u8]) -> Result<At<'p>> {
    let path = inside(system, path)?;
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
    let path = &path[..end];
    let (above, name) = match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], Some(&path[slash + 1..])),
        None => (path, None),
    };
    Ok(At { directory: Held(lookup::directory(system, above)?), name })
}

/// See `dfs_sys_mkdir_p`: makes a directory and those above it, as far as they are not there.
///
/// # Errors
/// `EEXIST` where the last name is that of something else, `ENOTDIR` where one before it is.
pub(crate) fn make_directories(system: &FileSystem, path: &[u8], mode: u32, class: u32) -> Result<()> {
    let path = inside(system, path)?;
    let mut directory = Held(lookup::directory(system, b"")?);
    let mut names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.next() {
        let flags = libc::O_RDWR | libc::O_CREAT;
        let wanted = Wanted { mode: libc::S_IFDIR | mode & 0o7777, flags, class, ..Wanted::default() };
        let is_last = names.peek().is_none();
        let (handle, _) =
            create::open(system, directory.handle(), name, &wanted).map_err(|error| match error {
                Errno(libc::ENOTDIR) if is_last => Errno(libc::EEXIST),
                error => error,
            })?;
        directory = Held(handle);
    }
    Ok(())
}
