//! The disk of the system.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    fs::{self, TryLockError},
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::{
            ffi::OsStrExt,
            fs::{FileExt, MetadataExt},
        },
    },
    path::Path,
    sync::{Arc, LazyLock},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use isotach_object::SharedBytes;
use rustix::fs::{self as sys, AtFlags, Mode, OFlags};

use super::{Access, File, Folder, Space, Stat};
use crate::{filesystem::LOCAL, map};

const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);

/// The number that the system chose at random when it was started.
static BOOT: LazyLock<Option<u64>> = LazyLock::new(|| {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    u64::from_str_radix(&digits, 16).ok()
});

/// Bytes that a file takes up, of which the system tells how many blocks of 512 bytes it has.
fn room(length: u64, blocks: u64) -> u64 {
    length.min(blocks.saturating_mul(512))
}

/// The disk: paths are those of the system, relative ones from where this process works.
pub(crate) fn system() -> Arc<dyn Folder> {
    Arc::new(At(sys::CWD))
}

/// A folder by its descriptor.
#[derive(Debug)]
struct At<F>(F);

impl<F: AsFd + fmt::Debug + Send + Sync> Folder for At<F> {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn File>> {
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Append => OFlags::RDWR | OFlags::APPEND,
            Access::New => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
        };
        let file: fs::File = sys::openat(&self.0, path, flags | OFlags::CLOEXEC, FILE_MODE)?.into();
        Ok(Arc::new(file))
    }

    fn folder(&self, path: &Path, follow: bool) -> io::Result<Box<dyn Folder>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let flags = if follow { flags } else { flags | OFlags::NOFOLLOW };
        let folder: OwnedFd = sys::openat(&self.0, path, flags, Mode::empty())?;
        Ok(Box::new(At(folder)))
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        Ok(sys::mkdirat(&self.0, path, FOLDER_MODE)?)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        Ok(sys::linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Ok(sys::renameat(&self.0, from, &self.0, to)?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Ok(sys::unlinkat(&self.0, path, AtFlags::empty())?)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        Ok(sys::unlinkat(&self.0, path, AtFlags::REMOVEDIR)?)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let stat = sys::statat(&self.0, path, AtFlags::empty())?;
        let at = Duration::new(u64::try_from(stat.st_mtime).unwrap_or(0), stat.st_mtime_nsec as u32);
        Ok(Stat {
            length: stat.st_size as u64,
            room: room(stat.st_size as u64, stat.st_blocks as u64),
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

    fn space(&self) -> io::Result<Space> {
        let (kind, room) = (sys::fstatfs(&self.0)?.f_type, sys::fstatvfs(&self.0)?);
        Ok(Space {
            // The number is 32 bits wide and signed on some systems.
            kind: kind as u64 & 0xffff_ffff,
            total: room.f_blocks.saturating_mul(room.f_frsize),
            free: room.f_bavail.saturating_mul(room.f_frsize),
        })
    }

    fn boot(&self) -> io::Result<Option<u64>> {
        let kind = sys::fstatfs(&self.0)?.f_type as u64 & 0xffff_ffff;
        Ok(if LOCAL.contains(&kind) { *BOOT } else { None })
    }

    fn is_shared(&self) -> bool {
        true
    }
}

impl File for fs::File {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, position)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<Option<u64>> {
        match (&*self).write(bytes)? == bytes.len() {
            true => Ok(Some(sys::tell(self)?)),
            false => Ok(None),
        }
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, position)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn stat(&self) -> io::Result<Stat> {
        let metadata = self.metadata()?;
        Ok(Stat {
            length: metadata.len(),
            room: room(metadata.len(), metadata.blocks()),
            identity: (metadata.dev(), metadata.ino()),
            modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            is_folder: metadata.is_dir(),
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn punch(&self, position: u64, length: u64) -> io::Result<()> {
        let flags = sys::FallocateFlags::PUNCH_HOLE | sys::FallocateFlags::KEEP_SIZE;
        Ok(sys::fallocate(self, flags, position, length)?)
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        Self::try_lock(self)
    }

    fn share(&self, position: u64, length: u64) -> io::Result<SharedBytes> {
        map::share(self, position, length)
    }
}
