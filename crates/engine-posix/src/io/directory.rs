//! An open directory: files are opened, created, renamed and removed relative to its descriptor.
//!
//! A container's directory may be removed and another one created under the same name while a handle is open. That handle continues in the
//! directory it opened, never in the new one.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use isotach_object::{Error, Result};

use crate::io::disk::{self, Access, File, FileRights, Files, Folder, NewFileRights, Stat};

/// An open directory, and the path it was opened by, for messages.
#[derive(Debug)]
pub(crate) struct Directory {
    contents: Contents,
    path: PathBuf,
    /// The mode of new files, where the file system does not derive it.
    mode: OnceLock<Option<u32>>,
}

#[derive(Debug)]
enum Contents {
    OnDisk(Box<dyn Folder>),
    InMemory(disk::Scratch),
}

impl Directory {
    /// Opens the directory at `path`. The path may pass through links but not end at one.
    pub(crate) fn open(disk: &dyn Folder, path: &Path) -> Result<Self> {
        let folder = disk.folder(path, false);
        let folder = folder.map_err(|error| disk::failed("open", path, error))?;
        Ok(Self { contents: Contents::OnDisk(folder), path: path.to_owned(), mode: OnceLock::new() })
    }

    /// A directory whose files are in memory and belong to this process.
    pub(crate) fn in_memory() -> Self {
        let path = PathBuf::from("(memory)");
        Self { contents: Contents::InMemory(disk::Scratch::default()), path, mode: OnceLock::new() }
    }

    fn files(&self) -> &dyn Files {
        match &self.contents {
            Contents::OnDisk(folder) => &**folder,
            Contents::InMemory(files) => files,
        }
    }

    /// What only a folder of a disk can do.
    fn on_disk(&self) -> io::Result<&dyn Folder> {
        match &self.contents {
            Contents::OnDisk(folder) => Ok(&**folder),
            Contents::InMemory(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Bytes that may still be written to its disk.
    pub(crate) fn free(&self) -> Result<u64> {
        let space = self.on_disk().and_then(Folder::space);
        Ok(space.map_err(|error| self.failed("statfs", "", error))?.free)
    }

    /// Opens the directory `name` in this one.
    pub(crate) fn folder(&self, name: &str) -> Result<Self> {
        let folder = self.on_disk().and_then(|folder| folder.folder(name.as_ref(), false));
        let folder = folder.map_err(|error| self.failed("open", name, error))?;
        Ok(Self { contents: Contents::OnDisk(folder), path: self.path_of(name), mode: OnceLock::new() })
    }

    /// The path it was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// An error that names the operation and the file.
    pub(crate) fn failed(&self, what: &str, name: &str, error: io::Error) -> Error {
        disk::failed(what, &self.path_of(name), error)
    }

    /// Opens a file for reading.
    pub(crate) fn read(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.files().open(name.as_ref(), Access::Read)
    }

    /// Opens a file for reading and appending.
    pub(crate) fn append(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.files().open(name.as_ref(), Access::Append)
    }

    /// Opens a file for reading, and for writing at positions.
    pub(crate) fn change(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.files().open(name.as_ref(), Access::Change)
    }

    /// Creates a new file for writing.
    pub(crate) fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let Some(rights) = self.on_disk().ok().and_then(Folder::rights) else {
            return self.files().open(name.as_ref(), Access::New);
        };
        // Otherwise the umask of this process would decide who can read what all users are to read.
        let mode = *self.mode.get_or_init(|| rights.mode_of_files().unwrap_or_default());
        rights.create(name.as_ref(), mode)
    }

    /// The first `length_max` bytes of a file.
    pub(crate) fn read_all(&self, name: &str, length_max: usize) -> io::Result<Vec<u8>> {
        self.on_disk()?.read(name.as_ref(), length_max)
    }

    /// The rights of a file in it; `None` on a disk without users.
    pub(crate) fn rights(&self, name: &str) -> Result<Option<FileRights>> {
        let rights = self.on_disk().ok().and_then(Folder::rights);
        let rights = rights.map(|rights| rights.get(name.as_ref())).transpose();
        rights.map_err(|error| self.failed("read the rights of", name, error))
    }

    /// Changes the rights of a file in it.
    pub(crate) fn set_rights(&self, name: &str, new: &NewFileRights) -> Result<()> {
        let rights = self.on_disk().ok().and_then(Folder::rights).ok_or(io::ErrorKind::Unsupported);
        let set = rights.map_err(io::Error::from).and_then(|rights| rights.set(name.as_ref(), new));
        set.map_err(|error| self.failed("change the rights of", name, error))
    }

    /// Gives a file another name, replacing what has it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.files().rename(from.as_ref(), to.as_ref())
    }

    /// Gives a file a second name, which must be free.
    pub(crate) fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.on_disk()?.link(from.as_ref(), to.as_ref())
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.files().remove(name.as_ref())
    }

    /// The metadata of a file in it.
    pub(crate) fn stat(&self, name: &str) -> io::Result<Stat> {
        self.files().stat(name.as_ref())
    }

    /// The names in it that are UTF-8.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let names = self.files().names();
        let names = names.map_err(|error| Error::from_io(error, format!("list {}", self.path.display())))?;
        Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    /// Bytes of the files in it.
    pub(crate) fn size(&self) -> Result<u64> {
        Ok(self.names()?.iter().filter_map(|name| self.stat(name).ok()).map(|stat| stat.length).sum())
    }

    /// The number of this start of the machine, where one machine alone writes to the disk.
    pub(crate) fn boot(&self) -> io::Result<Option<u64>> {
        self.on_disk()?.boot()
    }

    /// Makes the names in it durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.files().sync()
    }
}
