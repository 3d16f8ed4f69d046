//! Writing a run.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::fs::FileExt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use isotach_object::{Error, Result};

use super::{BLOCK, ENTRY_HEAD, HEADER, MAGIC, Span};
use crate::{
    bytes::{Put, crc32c},
    directory::Directory,
    entry::{Entry, Versioned},
    random,
};

/// A temporary file that nobody has touched for this long belongs to a process that died.
const ABANDONED: Duration = Duration::from_secs(30);

/// A run being written. Dropping it unfinished removes the temporary file.
#[derive(Debug)]
pub(crate) struct RunWriter {
    directory: Arc<Directory>,
    temporary: String,
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
    finished: bool,
}

impl RunWriter {
    /// Begins a run, or gives `None` when another process is writing one that begins at the same epoch:
    /// its temporary file tells. That saves work and nothing depends on it.
    pub(crate) fn create(directory: &Arc<Directory>, uuid: [u8; 16], span: Span) -> Result<Option<Self>> {
        if is_being_written(directory, span)? {
            return Ok(None);
        }
        // The name is this writer's alone: one that was taken for dead can never give its name to another's file.
        let temporary = format!("{}{:016x}", temporary_prefix(span), random::number()?);
        let file =
            directory.create(&temporary).map_err(|error| directory.failed("create", &temporary, error))?;
        let mut writer = Self {
            directory: Arc::clone(directory),
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
            finished: false,
        };
        writer.put(&[0; HEADER])?;
        Ok(Some(writer))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| self.directory.failed("write", &self.temporary, error))
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
        let longest = self.payload.len().max(path.len()).max(self.index.len() + path.len());
        if u32::try_from(longest).is_err() {
            let what = format!("a run with {longest} bytes in one place");
            return Err(Error::invalid(what, "less than 4 GiB (FORMAT.md section 10)"));
        }
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
    ///
    /// `log_sum` is the checksum of the log's last bytes before the run's end.
    pub(crate) fn finish(mut self, log_sum: u32) -> Result<()> {
        self.close_block()?;
        let mut index = Vec::with_capacity(4 + self.last.len() + self.index.len());
        index.put_u32(self.last.len() as u32);
        index.extend_from_slice(&self.last);
        index.append(&mut self.index);
        self.put(&index)?;
        let header = self.header(&index, log_sum);
        let finish = |file: &mut io::BufWriter<File>| {
            file.flush()?;
            file.get_ref().write_all_at(&header, 0)?;
            file.get_ref().sync_data()?;
            self.directory.rename(&self.temporary, &self.span.file_name())?;
            // The name must last before anyone relies on the run instead of the log.
            self.directory.sync()
        };
        finish(&mut self.file).map_err(|error| self.directory.failed("write", &self.temporary, error))?;
        self.finished = true;
        Ok(())
    }

    fn header(&self, index: &[u8], log_sum: u32) -> Vec<u8> {
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
        header.put_u32(log_sum);
        header.resize(HEADER - 4, 0);
        header.put_u32(crc32c(&header));
        header
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        if !self.finished {
            let _ = self.directory.remove(&self.temporary);
        }
    }
}

fn temporary_prefix(span: Span) -> String {
    format!("tmp.{:016x}.", span.from)
}

/// Whether a living process writes a run that begins where `span` does. What dead ones left is removed.
fn is_being_written(directory: &Directory, span: Span) -> Result<bool> {
    let prefix = temporary_prefix(span);
    let mut found = false;
    for name in directory.names()?.iter().filter(|name| name.starts_with("tmp.")) {
        if is_abandoned(directory, name) {
            let _ = directory.remove(name);
        } else {
            found |= name.starts_with(&prefix);
        }
    }
    Ok(found)
}

/// Whether a file was not touched for long. One from the future has a wrong clock behind it and counts as old.
fn is_abandoned(directory: &Directory, name: &str) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let touched = directory.stat(name).ok().and_then(|stat| u64::try_from(stat.st_mtime).ok());
    touched.is_some_and(|at| now.abs_diff(Duration::from_secs(at)) > ABANDONED)
}
