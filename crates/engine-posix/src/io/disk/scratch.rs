//! A folder in memory, for runs that nobody else needs: what must not be written to the disk stands there.
//!
//! It has what a run needs to be written and read, and refuses everything else. A file lives as long as it has a name or is
//! open.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::TryLockError,
    io,
    path::Path,
    sync::{Arc, PoisonError},
    time::SystemTime,
};

use isotach_object::SharedBytes;

use super::{Access, File, Folder, Guard, Naming, NewGuard, Space, Stat};
use crate::sync::{Mutex, MutexGuard};

type Files = BTreeMap<OsString, Arc<ScratchFile>>;

/// The folder.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Mutex<Files>);

/// A file in it.
#[derive(Debug, Default)]
struct ScratchFile(Mutex<Vec<u8>>);

fn unsupported<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Scratch {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScratchFile {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Folder for Scratch {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn File>> {
        let mut files = self.files();
        match (files.get(path.as_os_str()), access) {
            (Some(_), Access::New) => Err(io::ErrorKind::AlreadyExists.into()),
            (Some(file), _) => Ok(Arc::<ScratchFile>::clone(file)),
            (None, Access::New) => {
                let file = Arc::<ScratchFile>::default();
                files.insert(path.as_os_str().to_owned(), Arc::clone(&file));
                Ok(file)
            }
            (None, _) => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn folder(&self, _: &Path, _: bool) -> io::Result<Box<dyn Folder>> {
        unsupported()
    }

    fn make_folder(&self, _: &Path, _: Naming) -> io::Result<()> {
        unsupported()
    }

    fn link(&self, _: &Path, _: &Path) -> io::Result<()> {
        unsupported()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = self.files();
        let file = files.remove(from.as_os_str()).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.as_os_str().to_owned(), file);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files().remove(path.as_os_str()).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn remove_folder(&self, _: &Path) -> io::Result<()> {
        unsupported()
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.open(path, Access::Read)?.stat()
    }

    fn guard(&self, _: &Path) -> io::Result<Option<Guard>> {
        Ok(None)
    }

    fn set_guard(&self, _: &Path, _: &NewGuard) -> io::Result<()> {
        unsupported()
    }

    fn mode_of_files(&self) -> io::Result<Option<u32>> {
        Ok(None)
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        Ok(self.files().keys().cloned().collect())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn space(&self) -> io::Result<Space> {
        unsupported()
    }

    fn boot(&self) -> io::Result<Option<u64>> {
        Ok(None)
    }

    fn is_shared(&self) -> bool {
        false
    }
}

impl File for ScratchFile {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let bytes = self.bytes();
        let there = bytes.get(position as usize..).unwrap_or_default();
        let count = there.len().min(buffer.len());
        buffer[..count].copy_from_slice(&there[..count]);
        Ok(count)
    }

    fn append(&self, _: &[u8]) -> io::Result<Option<u64>> {
        unsupported()
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let mut file = self.bytes();
        let (start, end) = (position as usize, position as usize + bytes.len());
        let length = file.len().max(end);
        file.resize(length, 0);
        file[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.bytes().resize(length as usize, 0);
        Ok(())
    }

    fn stat(&self) -> io::Result<Stat> {
        let length = self.bytes().len() as u64;
        let identity = (0, std::ptr::from_ref(self) as u64);
        Ok(Stat { length, room: length, identity, modified: SystemTime::UNIX_EPOCH, is_folder: false })
    }

    fn set_mode(&self, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn punch(&self, _: u64, _: u64) -> io::Result<()> {
        unsupported()
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        Ok(())
    }

    fn share(&self, _: u64, _: u64) -> io::Result<SharedBytes> {
        unsupported()
    }
}
