//! Writing a run.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use isotach_object::{Error, Result};

use super::{BLOCK, ENTRY_HEAD, HEADER, MAGIC, Span};
use crate::{
    bytes::{Put, crc32c},
    entry::{Entry, Versioned},
};

/// A temporary file that nobody has touched for this long belongs to a process that died.
const ABANDONED: Duration = Duration::from_secs(30);

/// A run being written. Dropping it unfinished removes the temporary file.
#[derive(Debug)]
pub(crate) struct RunWriter {
    directory: PathBuf,
    temporary: PathBuf,
    file: io::BufWriter<File>,
    uuid: [u8; 16],
    span: Span,
    position: u64,
    entries: u64,
    has_cuts: bool,
    block: Vec<u8>,
    block_first: Vec<u8>,
    last: Vec<u8>,
    index: Vec<u8>,
    payload: Vec<u8>,
    /// Whether the run must be on disk before it gets its name.
    sync: bool,
    finished: bool,
}

impl RunWriter {
    /// Begins a run, or gives `None` when another process is writing one that begins at the same epoch:
    /// the temporary name tells. That saves work and nothing depends on it.
    pub(crate) fn create(directory: &Path, uuid: [u8; 16], span: Span, sync: bool) -> Result<Option<Self>> {
        let temporary = directory.join(format!("tmp.{:016x}", span.from));
        let create = || OpenOptions::new().write(true).create_new(true).open(&temporary);
        let file = match create() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !is_abandoned(&temporary) {
                    return Ok(None);
                }
                let _ = fs::remove_file(&temporary);
                create()
            }
            other => other,
        };
        let file = match file {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(Error::from_io(error, format!("create {}", temporary.display()))),
        };
        let mut writer = Self {
            directory: directory.to_owned(),
            temporary,
            file: io::BufWriter::with_capacity(1 << 20, file),
            uuid,
            span,
            position: HEADER as u64,
            entries: 0,
            has_cuts: false,
            block: Vec::with_capacity(2 * BLOCK),
            block_first: Vec::new(),
            last: Vec::new(),
            index: Vec::new(),
            payload: Vec::new(),
            sync,
            finished: false,
        };
        writer.put(&[0; HEADER])?;
        Ok(Some(writer))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| failed(error, &self.temporary))
    }

    /// Adds the next entry; paths come in ascending order.
    pub(crate) fn push(&mut self, path: &[u8], entry: &Versioned) -> Result<()> {
        debug_assert!(self.entries == 0 || *self.last < *path, "paths come in ascending order");
        if self.block.len() >= BLOCK {
            self.close_block()?;
        }
        let shared = match self.block.is_empty() {
            true => {
                path.clone_into(&mut self.block_first);
                0
            }
            false => self.last.iter().zip(path).take_while(|(a, b)| a == b).count(),
        };
        self.payload.clear();
        let tag = entry.entry.encode(&mut self.payload);
        self.has_cuts |= entry.entry == Entry::Cut;
        self.block.put_u32(shared as u32);
        self.block.put_u32((path.len() - shared) as u32);
        self.block.put_u32(self.payload.len() as u32);
        self.block.put_u8(tag);
        self.block.extend_from_slice(&[0; 3]);
        self.block.put_u64(entry.epoch);
        debug_assert_eq!(ENTRY_HEAD, 24, "FORMAT.md section 7");
        self.block.extend_from_slice(&path[shared..]);
        self.block.extend_from_slice(&self.payload);
        path.clone_into(&mut self.last);
        self.entries += 1;
        Ok(())
    }

    fn close_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.index.put_u64(self.position);
        self.index.put_u32(self.block.len() as u32);
        self.index.put_u32(crc32c(&self.block));
        self.index.put_u32(self.block_first.len() as u32);
        self.index.extend_from_slice(&self.block_first);
        let block = std::mem::take(&mut self.block);
        self.put(&block)?;
        self.position += block.len() as u64;
        self.block = block;
        self.block.clear();
        Ok(())
    }

    /// Completes the run and gives it its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.close_block()?;
        let mut index = Vec::with_capacity(4 + self.last.len() + self.index.len());
        index.put_u32(self.last.len() as u32);
        index.extend_from_slice(&self.last);
        index.append(&mut self.index);
        self.put(&index)?;
        let header = self.header(&index);
        let named = self.directory.join(self.span.file_name());
        let finish = |file: &mut io::BufWriter<File>| {
            file.flush()?;
            file.get_ref().write_all_at(&header, 0)?;
            if self.sync {
                file.get_ref().sync_data()?;
            }
            fs::rename(&self.temporary, &named)?;
            match self.sync {
                // The name must last before anyone relies on the run instead of the log.
                true => File::open(&self.directory)?.sync_all(),
                false => Ok(()),
            }
        };
        finish(&mut self.file).map_err(|error| failed(error, &self.temporary))?;
        self.finished = true;
        Ok(())
    }

    fn header(&self, index: &[u8]) -> Vec<u8> {
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&self.uuid);
        header.put_u64(self.span.from);
        header.put_u64(self.span.to);
        header.put_u64(self.entries);
        header.put_u64(self.position);
        header.put_u64(index.len() as u64);
        header.put_u32(crc32c(index));
        header.put_u32(self.has_cuts.into());
        header.resize(HEADER - 4, 0);
        header.put_u32(crc32c(&header));
        header
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn failed(error: io::Error, path: &Path) -> Error {
    Error::from_io(error, format!("write {}", path.display()))
}

fn is_abandoned(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    // A clock that went backwards makes the file look new, and then it is left alone for longer.
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > ABANDONED))
}
