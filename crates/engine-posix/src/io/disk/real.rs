//! The disk of the system.

use std::{
    ffi::{OsStr, OsString},
    fmt, fs, io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
    sync::{Arc, OnceLock},
    time::{Duration, UNIX_EPOCH},
};

use rustix::{
    fs::{self as sys, AtFlags, Gid, Mode, OFlags, Uid, XattrFlags},
    io::Errno,
};

use super::{
    Access, File, FileRights, Files, Folder, FolderRights, LinkRefused, Naming, NewFileRights, Space, Stat,
    may_open_no_more,
    open_file::{OpenFile, allocated},
};
use crate::io::filesystem::LOCAL;

const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);
/// The attributes with access lists (`linux/xattr.h`).
const LIST: &str = "system.posix_acl_access";
const DEFAULT_LIST: &str = "system.posix_acl_default";
/// The longest value of an attribute.
const LIST_MAX: usize = 64 << 10;

/// The random number of this start of the system.
static BOOT: OnceLock<u64> = OnceLock::new();

/// The same, if the system reports it. An error if it cannot be read now.
fn boot() -> io::Result<Option<u64>> {
    if let Some(boot) = BOOT.get() {
        return Ok(Some(*boot));
    }
    let text = match fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        Err(error) if may_open_no_more(&error) => return Err(error),
        text => text.unwrap_or_default(),
    };
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    let boot = u64::from_str_radix(&digits, 16).ok();
    Ok(boot.map(|boot| *BOOT.get_or_init(|| boot)))
}

/// The disk: paths are those of the system, and relative ones begin at the working directory of this process.
pub(crate) fn system() -> Arc<dyn Folder> {
    Arc::new(At(sys::CWD))
}

/// A folder, by its descriptor.
#[derive(Debug)]
struct At<F>(F);

impl<F: AsFd> At<F> {
    fn open_file(&self, path: &Path, access: Access) -> io::Result<OwnedFd> {
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Append => OFlags::RDWR | OFlags::APPEND,
            Access::Change => OFlags::RDWR,
            Access::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
        };
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        sys::openat(&self.0, path, flags, FILE_MODE).map_err(|error| self.unfollowed(path, error))
    }

    /// Opens a path of any kind, without blocking and without following a link.
    fn look_into(&self, path: &Path, how: OFlags) -> Result<OwnedFd, Errno> {
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
        sys::openat(&self.0, path, flags | how, Mode::empty())
    }

    /// The error of an open, which names a link that was not followed.
    fn unfollowed(&self, path: &Path, error: Errno) -> io::Error {
        let is_link = || {
            let stat = sys::statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW);
            stat.is_ok_and(|stat| sys::FileType::from_raw_mode(stat.st_mode).is_symlink())
        };
        match error {
            Errno::LOOP | Errno::NOTDIR if is_link() => io::Error::other(LinkRefused),
            error => error.into(),
        }
    }

    /// As [`FolderRights::get`], through the name of the descriptor: without permission to open the file there is no other way.
    fn rights_unopened(&self, path: &Path) -> io::Result<FileRights> {
        let file = self.look_into(path, OFlags::PATH)?;
        let name = format!("/proc/self/fd/{}", file.as_raw_fd());
        let (has_lists, list) = lists(read_list(|buffer| sys::getxattr(&*name, LIST, buffer)))?;
        Ok(file_rights(&sys::fstat(&file)?, has_lists, list))
    }
}

/// A list of a file, by the attribute's name.
fn list_of(file: impl AsFd, name: &str) -> Result<Vec<u8>, Errno> {
    read_list(|buffer| sys::fgetxattr(&file, name, buffer))
}

fn read_list(read: impl FnOnce(&mut Vec<u8>) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut list = vec![0; LIST_MAX];
    let length = read(&mut list)?;
    list.truncate(length);
    Ok(list)
}

/// Whether the file system has lists, and the list that was found.
fn lists(found: Result<Vec<u8>, Errno>) -> io::Result<(bool, Option<Vec<u8>>)> {
    match found {
        Ok(list) => Ok((true, Some(list))),
        Err(Errno::NODATA) => Ok((true, None)),
        Err(Errno::OPNOTSUPP) => Ok((false, None)),
        Err(error) => Err(error.into()),
    }
}

fn file_rights(stat: &sys::Stat, has_lists: bool, list: Option<Vec<u8>>) -> FileRights {
    FileRights { owner: stat.st_uid, group: stat.st_gid, mode: stat.st_mode & 0o7777, list, has_lists }
}

impl<F: AsFd + fmt::Debug + Send + Sync> Files for At<F> {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(OpenFile::new(self.open_file(path, access)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Ok(sys::renameat(&self.0, from, &self.0, to)?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Ok(sys::unlinkat(&self.0, path, AtFlags::empty())?)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let stat = sys::statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW)?;
        let at = Duration::new(u64::try_from(stat.st_mtime).unwrap_or(0), stat.st_mtime_nsec as u32);
        Ok(Stat {
            length: stat.st_size as u64,
            allocated: allocated(stat.st_size as u64, stat.st_blocks as u64),
            identity: (stat.st_dev, stat.st_ino),
            modified: UNIX_EPOCH + at,
            is_folder: sys::FileType::from_raw_mode(stat.st_mode).is_dir(),
        })
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in sys::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(sys::fsync(&self.0)?)
    }
}

impl<F: AsFd + fmt::Debug + Send + Sync> Folder for At<F> {
    fn folder(&self, path: &Path, follow: bool) -> io::Result<Box<dyn Folder>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let flags = if follow { flags } else { flags | OFlags::NOFOLLOW };
        let folder = sys::openat(&self.0, path, flags, Mode::empty());
        Ok(Box::new(At(folder.map_err(|error| self.unfollowed(path, error))?)))
    }

    fn make_folder(&self, path: &Path, naming: Naming) -> io::Result<()> {
        let mode = if naming == Naming::Owned { FOLDER_MODE | Mode::SVTX } else { FOLDER_MODE };
        Ok(sys::mkdirat(&self.0, path, mode)?)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        Ok(sys::linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        Ok(sys::unlinkat(&self.0, path, AtFlags::REMOVEDIR)?)
    }

    fn rights(&self) -> Option<&dyn FolderRights> {
        Some(self)
    }

    fn space(&self) -> io::Result<Space> {
        let (kind, size) = (sys::fstatfs(&self.0)?.f_type, sys::fstatvfs(&self.0)?);
        Ok(Space {
            // The number is 32 bits wide and signed on some systems.
            kind: kind as u64 & 0xffff_ffff,
            total: size.f_blocks.saturating_mul(size.f_frsize),
            free: size.f_bavail.saturating_mul(size.f_frsize),
        })
    }

    fn boot(&self) -> io::Result<Option<u64>> {
        let kind = sys::fstatfs(&self.0)?.f_type as u64 & 0xffff_ffff;
        if LOCAL.contains(&kind) { boot() } else { Ok(None) }
    }

    fn is_shared(&self) -> bool {
        true
    }
}

impl<F: AsFd> FolderRights for At<F> {
    fn get(&self, path: &Path) -> io::Result<FileRights> {
        let file = match self.look_into(path, OFlags::empty()) {
            // A user who may not open it may still read its owner.
            Err(Errno::ACCESS) => return self.rights_unopened(path),
            file => file.map_err(|error| self.unfollowed(path, error))?,
        };
        let (has_lists, list) = lists(list_of(&file, LIST))?;
        Ok(file_rights(&sys::fstat(&file)?, has_lists, list))
    }

    fn set(&self, path: &Path, rights: &NewFileRights) -> io::Result<()> {
        let file = self.look_into(path, OFlags::empty()).map_err(|error| self.unfollowed(path, error))?;
        let (owner, group) = (rights.owner.map(Uid::from_raw), rights.group.map(Gid::from_raw));
        if owner.is_some() || group.is_some() {
            sys::fchown(&file, owner, group)?;
        }
        sys::fchmod(&file, Mode::from_raw_mode(rights.mode))?;
        for (name, list) in [(LIST, &rights.list), (DEFAULT_LIST, &rights.default)] {
            list.iter().try_for_each(|list| sys::fsetxattr(&file, name, list, XattrFlags::empty()))?;
        }
        Ok(())
    }

    fn mode_of_files(&self) -> io::Result<Option<u32>> {
        Ok(match lists(list_of(&self.0, DEFAULT_LIST))? {
            (_, Some(_)) => None,
            (_, None) => Some(sys::fstat(&self.0)?.st_mode & 0o022 | 0o644),
        })
    }

    fn create(&self, path: &Path, mode: Option<u32>) -> io::Result<Arc<dyn File>> {
        let file = self.open_file(path, Access::New)?;
        mode.map_or(Ok(()), |mode| sys::fchmod(&file, Mode::from_raw_mode(mode)))?;
        Ok(Arc::new(OpenFile::new(file)))
    }
}
