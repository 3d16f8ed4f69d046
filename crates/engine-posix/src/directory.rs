//! An open directory: files are opened, made, renamed and removed relative to its descriptor.
//!
//! A container's directory may be removed, and another made under the same name, while a handle is open.
//! Whatever that handle still does happens in the directory it opened, never in the newcomer.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use isotach_object::{Error, Result};
use rustix::fs::{self as sys, AtFlags, Mode, OFlags};

/// An open directory, and the path it was opened by, for messages.
#[derive(Debug)]
pub(crate) struct Directory {
    fd: OwnedFd,
    path: PathBuf,
}

const FILE_MODE: Mode = Mode::from_raw_mode(0o666);

impl Directory {
    /// Opens the directory at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let fd = sys::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let fd = fd.map_err(|errno| Error::from_io(errno.into(), format!("open {}", path.display())))?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// Opens the directory `name` in this one.
    pub(crate) fn folder(&self, name: &str) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = self.at(name, flags).map_err(|error| self.failed("open", name, error))?;
        Ok(Self { fd, path: self.path_of(name) })
    }

    /// The path it was opened by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn at(&self, name: &str, flags: OFlags) -> io::Result<OwnedFd> {
        Ok(sys::openat(&self.fd, name, flags | OFlags::CLOEXEC, FILE_MODE)?)
    }

    /// An error that says what was done to which file.
    pub(crate) fn failed(&self, what: &str, name: &str, error: io::Error) -> Error {
        Error::from_io(error, format!("{what} {}", self.path_of(name).display()))
    }

    /// Opens a file for reading.
    pub(crate) fn read(&self, name: &str) -> io::Result<File> {
        Ok(self.at(name, OFlags::RDONLY)?.into())
    }

    /// Opens a file for reading and appending.
    pub(crate) fn append(&self, name: &str) -> io::Result<File> {
        Ok(self.at(name, OFlags::RDWR | OFlags::APPEND)?.into())
    }

    /// Makes a file that is not there yet, for writing.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        Ok(self.at(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?.into())
    }

    /// Gives a file another name, replacing what has it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(sys::renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(sys::unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// What the system says of a file.
    pub(crate) fn stat(&self, name: &str) -> io::Result<sys::Stat> {
        Ok(sys::statat(&self.fd, name, AtFlags::empty())?)
    }

    /// The names in it that are UTF-8.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let list = || -> io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in sys::Dir::read_from(&self.fd)? {
                names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
            }
            Ok(names)
        };
        list().map_err(|error| Error::from_io(error, format!("list {}", self.path.display())))
    }

    /// Makes the names in it durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(sys::fsync(&self.fd)?)
    }
}
