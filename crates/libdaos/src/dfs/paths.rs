//! Entries by whole paths, for `dfs_sys_*`. The parent directory is opened for each call. Nothing is cached between calls, so no path is stale.

use super::{
    create::{self, Wanted},
    error::{Errno, Result},
    lookup,
    mount::{FileSystem, PATH_MAX},
    nodes,
};

/// An open handle that is released when it goes out of scope.
#[derive(Debug)]
pub(crate) struct OpenHandle(u64);

impl OpenHandle {
    pub(crate) fn handle(&self) -> u64 {
        self.0
    }
}

impl Drop for OpenHandle {
    fn drop(&mut self) {
        // A directory has no time of a write to store.
        let _ = nodes::release(self.0);
    }
}

/// The end of a path: a directory, and a name in it. The root is the directory without a name.
#[derive(Debug)]
pub(crate) struct At<'p> {
    pub(crate) directory: OpenHandle,
    pub(crate) name: Option<&'p [u8]>,
}

/// The part of a path inside the mount.
///
/// # Errors
/// `EINVAL` for a path that does not begin at the root, `ENAMETOOLONG`.
fn inside<'p>(system: &FileSystem, path: &'p [u8]) -> Result<&'p [u8]> {
    match path {
        [b'/', ..] if path.len() < PATH_MAX => system.without_prefix(path),
        [b'/', ..] => Err(Errno(libc::ENAMETOOLONG)),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// Opens the directory in which a path ends. Follows symbolic links on the way.
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
    Ok(At { directory: OpenHandle(lookup::directory(system, above)?), name })
}

/// See `dfs_sys_mkdir_p`: creates a directory and its absent ancestors.
///
/// # Errors
/// `EEXIST` where the last name is that of something else, `ENOTDIR` where one before it is.
pub(crate) fn make_directories(system: &FileSystem, path: &[u8], mode: u32, class: u32) -> Result<()> {
    let path = inside(system, path)?;
    let mut directory = OpenHandle(lookup::directory(system, b"")?);
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
        directory = OpenHandle(handle);
    }
    Ok(())
}
