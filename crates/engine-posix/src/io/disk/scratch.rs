//! Files in memory, for runs that no other process needs and that must not be written to the disk, and for small runs.
//!
//! A file exists as long as it has a name or is open. It is none of the files that the process may open.

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

use super::{Access, File, Files, Stat};
use crate::sync::{Mutex, MutexGuard, RwLock};

/// A folder of such files.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Mutex<BTreeMap<OsString, Arc<InMemory>>>);

impl Scratch {
    fn files(&self) -> MutexGuard<'_, BTreeMap<OsString, Arc<InMemory>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for Scratch {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn File>> {
        let mut files = self.files();
        match (files.get(path.as_os_str()), access) {
            (Some(_), Access::New) => Err(io::ErrorKind::AlreadyExists.into()),
            (Some(file), _) => Ok(Arc::<InMemory>::clone(file)),
            (None, Access::New) => {
                let file = Arc::new(InMemory::new(Vec::new()));
                files.insert(path.as_os_str().to_owned(), Arc::clone(&file));
                Ok(file)
            }
            (None, _) => Err(io::ErrorKind::NotFound.into()),
        }
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

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.open(path, Access::Read)?.stat()
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        Ok(self.files().keys().cloned().collect())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A file in memory. It can be read, and written at positions.
#[derive(Debug)]
pub(crate) struct InMemory(RwLock<Vec<u8>>);

impl InMemory {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(RwLock::new(bytes))
    }
}

impl File for InMemory {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let bytes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let rest = bytes.get(position as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn read_cached(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.read_at(buffer, position)
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let mut held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let (start, end) = (position as usize, position as usize + bytes.len());
        if held.len() < end {
            held.resize(end, 0);
        }
        held[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.read().unwrap_or_else(PoisonError::into_inner).len() as u64)
    }

    fn stat(&self) -> io::Result<Stat> {
        let length = self.length()?;
        let (identity, modified) = ((0, 0), SystemTime::UNIX_EPOCH);
        Ok(Stat { length, allocated: length, identity, modified, is_folder: false })
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn append(&self, _: &[u8]) -> io::Result<Option<u64>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set_length(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn punch(&self, _: u64, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
    }

    fn share(&self, _: u64, _: u64) -> io::Result<SharedBytes> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
