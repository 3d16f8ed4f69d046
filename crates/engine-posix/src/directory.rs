//! An open directory: files are opened, made, renamed and removed relative to its descriptor.
//!
//! A container's directory may be removed, and another made under the same name, while a handle is open.
//! Whatever that handle still does happens in the directory it opened, never in the newcomer.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_object::{Error, Result};

use crate::disk::{Access, File, Folder, Stat};

/// An open directory, and the path it was opened by, for messages.
#[derive(Debug)]
pub(crate) struct Directory {
    folder: Box<dyn Folder>,
    path: PathBuf,
}

impl Directory {
    /// Opens the directory at `path`.
    pub(crate) fn open(disk: &dyn Folder, path: &Path) -> Result<Self> {
        let folder = disk.folder(path, true);
        let folder = folder.map_err(|error| Error::from_io(error, format!("open {}", path.display())))?;
        Ok(Self { folder, path: path.to_owned() })
    }

    /// Opens the directory `name` in this one.
    pub(crate) fn folder(&self, name: &str) -> Result<Self> {
        let folder = self.folder.folder(name.as_ref(), true);
        let folder = folder.map_err(|error| self.failed("open", name, error))?;
        Ok(Self { folder, path: self.path_of(name) })
    }

    /// The path it was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// An error that says what was done to which file.
    pub(crate) fn failed(&self, what: &str, name: &str, error: io::Error) -> Error {
        Error::from_io(error, format!("{what} {}", self.path_of(name).display()))
    }

    /// Opens a file for reading.
    pub(crate) fn read(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.folder.open(name.as_ref(), Access::Read)
    }

    /// Opens a file for reading and appending.
    pub(crate) fn append(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.folder.open(name.as_ref(), Access::Append)
    }

    /// Makes a file that is not there yet, for writing.
    pub(crate) fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.folder.open(name.as_ref(), Access::New)
    }

    /// Gives a file another name, replacing what has it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.folder.rename(from.as_ref(), to.as_ref())
    }

    /// Gives a file a second name, which must be free.
    pub(crate) fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.folder.link(from.as_ref(), to.as_ref())
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.folder.remove(name.as_ref())
    }

    /// What there is to say of a file.
    pub(crate) fn stat(&self, name: &str) -> io::Result<Stat> {
        self.folder.stat(name.as_ref())
    }

    /// The names in it that are UTF-8.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let names = self.folder.names();
        let names = names.map_err(|error| Error::from_io(error, format!("list {}", self.path.display())))?;
        Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    /// Bytes of the files in it.
    pub(crate) fn size(&self) -> Result<u64> {
        Ok(self.names()?.iter().filter_map(|name| self.stat(name).ok()).map(|stat| stat.length).sum())
    }

    /// The number of this start of the machine, where one machine alone writes to the disk.
    pub(crate) fn boot(&self) -> io::Result<Option<u64>> {
        self.folder.boot()
    }

    /// Makes the names in it durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.folder.sync()
    }
}
