//! The interfaces of IOR: arrays of the object model, or plain files.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::ValueEnum;
use isotach_object::{
    ArrayRead, Cell, Container, ContainerOptions, Label, ObjectClass, ObjectId, ObjectType, Pool, Update,
};
use serde::{Deserialize, Serialize};

use super::layout::File;
use crate::{Error, Result};

const CONTAINER: &str = "ior";

/// The name of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ApiName {
    /// Arrays of the object model
    Object,
    /// Plain files
    Posix,
}

/// An interface to one file at a time.
pub(super) trait Api {
    /// Opens a file, and creates it if it is to be written.
    fn open(&mut self, file: File, to_write: bool) -> Result<()>;
    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()>;
    /// Fills the buffer and returns the number of bytes.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize>;
    /// Makes all writes durable.
    fn sync(&mut self) -> Result<()>;
    /// Closes the file. Other processes then see all writes.
    fn close(&mut self) -> Result<()>;
    fn remove(&mut self, file: File) -> Result<()>;
}

/// Creates the container of the arrays.
pub(super) fn prepare(pool: &dyn Pool) -> Result<()> {
    Ok(pool.create_container(&CONTAINER.parse::<Label>()?, &ContainerOptions::default())?)
}

/// Arrays, which need no opening: opening one to read checks that it exists.
pub(super) struct Objects {
    container: Arc<dyn Container>,
    class: ObjectClass,
    open: Option<ObjectId>,
    /// Whether there are writes since the last flush.
    is_dirty: bool,
}

impl Objects {
    pub(super) fn new(pool: &dyn Pool, class: ObjectClass) -> Result<Self> {
        let container = pool.open_container(&CONTAINER.parse()?)?;
        Ok(Self { container, class, open: None, is_dirty: false })
    }

    fn object(&self, file: File) -> ObjectId {
        let owner = file.owner.map_or(0, |owner| owner + 1);
        ObjectId::new(ObjectType::Array, self.class, owner, file.number)
    }

    fn cell(&self) -> Result<Cell<'static>> {
        self.open.map(Cell::array).ok_or_else(not_open)
    }
}

fn not_open() -> Error {
    Error::invalid("a transfer without a file", "one that is open")
}

impl Api for Objects {
    fn open(&mut self, file: File, to_write: bool) -> Result<()> {
        let object = self.object(file);
        if !to_write && self.container.size_many(&[Cell::array(object)])?.first().is_none_or(Option::is_none)
        {
            return Err(missing(&format!("object {object} of class {}", self.class)));
        }
        self.open = Some(object);
        Ok(())
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        self.is_dirty = true;
        Ok(self.container.update(&[Update::Write { cell: self.cell()?, offset, data }])?)
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let mut read = [ArrayRead { cell: self.cell()?, offset, buffer, filled: 0 }];
        self.container.read_many(&mut read)?;
        Ok(read[0].filled)
    }

    fn sync(&mut self) -> Result<()> {
        self.container.flush()?;
        self.is_dirty = false;
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.open = None;
        // Other processes are only sure to see flushed writes.
        if self.is_dirty { self.sync() } else { Ok(()) }
    }

    fn remove(&mut self, file: File) -> Result<()> {
        self.container.update(&[Update::Destroy { object: self.object(file) }])?;
        self.sync()
    }
}

pub(super) struct Files {
    folder: PathBuf,
    open: Option<(PathBuf, fs::File)>,
}

impl Files {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), open: None }
    }

    fn current(&self) -> Result<&(PathBuf, fs::File)> {
        self.open.as_ref().ok_or_else(not_open)
    }
}

impl Api for Files {
    fn open(&mut self, file: File, to_write: bool) -> Result<()> {
        let path = self.folder.join(file.name());
        let mut options = fs::OpenOptions::new();
        let opened = options.read(true).write(to_write).create(to_write).open(&path);
        let opened = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound if !to_write => missing(&format!("file {}", path.display())),
            _ => Error::io("open", &path)(error),
        })?;
        self.open = Some((path, opened));
        Ok(())
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let (path, file) = self.current()?;
        file.write_all_at(bytes, offset).map_err(Error::io("write", path))
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let (path, file) = self.current()?;
        let mut filled = 0;
        while filled < buffer.len() {
            match file.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", path)(error)),
            }
        }
        Ok(filled)
    }

    fn sync(&mut self) -> Result<()> {
        let (path, file) = self.current()?;
        file.sync_all().map_err(Error::io("sync", path))
    }

    fn close(&mut self) -> Result<()> {
        self.open = None;
        Ok(())
    }

    fn remove(&mut self, file: File) -> Result<()> {
        let path = self.folder.join(file.name());
        fs::remove_file(&path).map_err(Error::io("remove", &path))
    }
}

fn missing(what: &str) -> Error {
    let expected = "what was written before, by as many processes with the same -a, --class, -F, -m and -i";
    Error::wrong(format!("no {what}"), expected)
}

#[cfg(test)]
mod tests {
    use isotach_object::{Engine, PoolUri, memory::Memory};

    use super::*;

    fn both(folder: &Path) -> [Box<dyn Api>; 2] {
        let (engine, uri) = (Memory::new(), "memory:ior".parse::<PoolUri>().unwrap());
        engine.create_pool(&uri).unwrap();
        let pool = engine.open_pool(&uri).unwrap();
        prepare(&*pool).unwrap();
        [Box::new(Objects::new(&*pool, ObjectClass::S1).unwrap()), Box::new(Files::new(folder))]
    }

    #[test]
    fn both_interfaces_read_what_was_written_and_report_missing_files() {
        let folder = tempfile::tempdir().unwrap();
        for mut api in both(folder.path()) {
            let [one, other] = [Some(3), None].map(|owner| File { number: 1, owner });
            api.open(one, true).unwrap();
            api.write(5, b"bytes").unwrap();
            api.sync().unwrap();
            api.close().unwrap();
            let mut buffer = [9; 8];
            api.open(one, false).unwrap();
            assert_eq!((api.read(5, &mut buffer).unwrap(), &buffer), (5, b"bytes\x09\x09\x09"));
            assert_eq!(api.read(10, &mut buffer).unwrap(), 0, "past the end");
            api.close().unwrap();
            assert!(api.read(0, &mut buffer).is_err(), "not open");
            assert!(api.open(other, false).unwrap_err().to_string().contains("written before"));
            api.remove(one).unwrap();
            assert!(api.open(one, false).is_err());
        }
    }
}
