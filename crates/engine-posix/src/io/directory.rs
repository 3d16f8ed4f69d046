//! An open directory: files are opened, made, renamed and removed relative to its descriptor.
//!
//! A container's directory may be removed, and another made under the same name, while a handle is open.
//! Whatever that handle still does happens in the directory it opened, never in the newcomer.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use isotach_object::{Error, Result};

use crate::io::disk::{self, Access, File, Folder, Guard, NewGuard, Stat};

/// An open directory, and the path it was opened by, for messages.
#[derive(Debug)]
pub(crate) struct Directory {
    folder: Box<dyn Folder>,
    path: PathBuf,
    /// The mode that files made here are given, where the file system does not see to it.
    mode: OnceLock<Option<u32>>,
}

impl Directory {
    /// Opens the directory at `path`, which may be reached through links but is none.
    pub(crate) fn open(disk: &dyn Folder, path: &Path) -> Result<Self> {
        let folder = disk.folder(path, false);
        let folder = folder.map_err(|error| disk::failed("open", path, error))?;
        Ok(Self { folder, path: path.to_owned(), mode: OnceLock::new() })
    }

    /// A directory of which the files are in memory, and nobody else's.
    pub(crate) fn in_memory() -> Self {
        let path = PathBuf::from("(memory)");
        Self { folder: Box::new(disk::Scratch::default()), path, mode: OnceLock::new() }
    }

    /// Bytes that may still be written to the disk that it is on.
    pub(crate) fn free(&self) -> Result<u64> {
        let space = self.folder.space();
        Ok(space.map_err(|error| self.failed("statfs", "", error))?.free)
    }

    /// Opens the directory `name` in this one.
    pub(crate) fn folder(&self, name: &str) -> Result<Self> {
        let folder = self.folder.folder(name.as_ref(), false);
        let folder = folder.map_err(|error| self.failed("open", name, error))?;
        Ok(Self { folder, path: self.path_of(name), mode: OnceLock::new() })
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
        disk::failed(what, &self.path_of(name), error)
    }

    /// Opens a file for reading.
    pub(crate) fn read(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.folder.open(name.as_ref(), Access::Read)
    }

    /// Opens a file for reading and appending.
    pub(crate) fn append(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.folder.open(name.as_ref(), Access::Append)
    }

    /// Opens a file for reading, and for writing at positions.
    pub(crate) fn change(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.folder.open(name.as_ref(), Access::Change)
    }

    /// Makes a file that is not there yet, for writing.
    pub(crate) fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let file = self.folder.open(name.as_ref(), Access::New)?;
        // Else the umask of this process would say who can read what all are to read.
        let mode = *self.mode.get_or_init(|| self.folder.mode_of_files().unwrap_or_default());
        mode.map_or(Ok(()), |mode| file.set_mode(mode))?;
        Ok(file)
    }

    /// All of a file, the first `length_max` bytes of it.
    pub(crate) fn read_all(&self, name: &str, length_max: usize) -> io::Result<Vec<u8>> {
        self.folder.read(name.as_ref(), length_max)
    }

    /// Whose a file in it is, and who may do what with it; `None` where nobody is told from others.
    pub(crate) fn guard(&self, name: &str) -> Result<Option<Guard>> {
        let guard = self.folder.guard(name.as_ref());
        guard.map_err(|error| self.failed("look at the rights of", name, error))
    }

    /// Changes whose a file in it is, and who may do what with it.
    pub(crate) fn set_guard(&self, name: &str, guard: &NewGuard) -> Result<()> {
        let set = self.folder.set_guard(name.as_ref(), guard);
        set.map_err(|error| self.failed("change the rights of", name, error))
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
