//! Files in memory, for runs that no other process needs and that must not be written to the disk.
//!
//! A file exists as long as it has a name or is open.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::Path,
    sync::{Arc, PoisonError},
};

use rustix::fs::{MemfdFlags, memfd_create};

use super::{Access, File, Files, Stat, open_file::OpenFile};
use crate::sync::{Mutex, MutexGuard};

/// A folder of such files.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Mutex<BTreeMap<OsString, Arc<OpenFile>>>);

impl Scratch {
    fn files(&self) -> MutexGuard<'_, BTreeMap<OsString, Arc<OpenFile>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for Scratch {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn File>> {
        let mut files = self.files();
        match (files.get(path.as_os_str()), access) {
            (Some(_), Access::New) => Err(io::ErrorKind::AlreadyExists.into()),
            (Some(file), _) => Ok(Arc::<OpenFile>::clone(file)),
            (None, Access::New) => {
                let file = Arc::new(OpenFile::new(memfd_create("isotach", MemfdFlags::CLOEXEC)?));
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
