//! Writing a run.

use std::{io, sync::Arc};

use isotach_engine_kit::{bytes::Put, checksum::crc32c};
use isotach_object::{Error, Result};

use super::{BLOCK, ENTRY_HEAD, HEADER, MAGIC, Run, Span, claim};
use crate::{
    format::checked,
    index::{
        entry::{Versioned, tag},
        raw::LazyEntry,
    },
    io::{directory::Directory, disk::File},
};

/// Bytes gathered before they are written.
const GATHER: usize = 1 << 20;

/// A run that is being written. Dropping it unfinished removes the temporary file.
#[derive(Debug)]
pub(crate) struct RunWriter {
    directory: Arc<Directory>,
    temporary: String,
    file: Arc<dyn File>,
    /// The bytes after those written so far.
    gathered: Vec<u8>,
    written: u64,
    uuid: [u8; 16],
    from: u64,
    tag: u64,
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
    /// Claims the run that begins at `from`; `None` if another process has claimed it.
    pub(crate) fn claim(
        directory: &Arc<Directory>,
        uuid: [u8; 16],
        from: u64,
        tag: u64,
    ) -> Result<Option<Self>> {
        let claimed = claim::claim(directory, from)?;
        Ok(claimed.map(|(temporary, file)| Self::of_file(directory, temporary, file, uuid, from, tag)))
    }

    /// Begins a run at `from` without a claim, under a temporary name of the caller's own.
    pub(crate) fn unclaimed(
        directory: &Arc<Directory>,
        temporary: String,
        uuid: [u8; 16],
        from: u64,
        tag: u64,
    ) -> Result<Self> {
        let file =
            directory.create(&temporary).map_err(|error| directory.failed("create", &temporary, error))?;
        Ok(Self::of_file(directory, temporary, file, uuid, from, tag))
    }

    fn of_file(
        directory: &Arc<Directory>,
        temporary: String,
        file: Arc<dyn File>,
        uuid: [u8; 16],
        from: u64,
        tag: u64,
    ) -> Self {
        Self {
            directory: Arc::clone(directory),
            temporary,
            file,
            gathered: Vec::with_capacity(GATHER),
            written: 0,
            uuid,
            from,
            tag,
            position: HEADER as u64,
            entries: 0,
            has_cuts: false,
            block: Vec::with_capacity(2 * BLOCK),
            block_first: Vec::new(),
            last: Vec::new(),
            index: Vec::new(),
            payload: Vec::new(),
            finished: false,
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        self.directory.failed("write", &self.temporary, error)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if self.gathered.len() + bytes.len() > GATHER {
            self.write_out()?;
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    fn write_out(&mut self) -> Result<()> {
        self.file.write_all_at(&self.gathered, self.written).map_err(|error| self.failed(error))?;
        self.written += self.gathered.len() as u64;
        self.gathered.clear();
        Ok(())
    }

    /// Writes the space of the header, which also shows that the claim is alive.
    fn begin(&mut self) -> Result<()> {
        self.put(&[0; HEADER])?;
        self.write_out()
    }

    /// Adds the next entry; paths come in ascending order.
    pub(crate) fn push(&mut self, path: &[u8], entry: &LazyEntry<'_>) -> Result<()> {
        match entry {
            LazyEntry::Encoded(raw) => self.push_encoded(path, raw.epoch, raw.tag, raw.payload),
            LazyEntry::Decoded(Versioned { epoch, entry }) => {
                let mut payload = std::mem::take(&mut self.payload);
                payload.clear();
                let tag = entry.encode(&mut payload);
                let outcome = self.push_encoded(path, *epoch, tag, &payload);
                self.payload = payload;
                outcome
            }
        }
    }

    fn push_encoded(&mut self, path: &[u8], epoch: u64, tag: u8, payload: &[u8]) -> Result<()> {
        if self.entries == 0 {
            self.begin()?;
        }
        debug_assert!(self.entries == 0 || *self.last < *path, "paths come in ascending order");
        if self.block.len() >= BLOCK {
            self.close_block()?;
        }
        let shared = match self.block.is_empty() {
            true => {
                path.clone_into(&mut self.block_first);
                0
            }
            false => common(&self.last, path),
        };
        self.has_cuts |= tag == tag::CUT;
        let longest = payload.len().max(path.len()).max(self.index.len() + path.len());
        if u32::try_from(longest).is_err() {
            let what = format!("a run with {longest} bytes in one place");
            return Err(Error::invalid(what, "less than 4 GiB (FORMAT.md section 10)"));
        }
        self.block.put_u32(shared as u32);
        self.block.put_u32((path.len() - shared) as u32);
        self.block.put_u32(payload.len() as u32);
        self.block.put_u8(tag);
        self.block.extend_from_slice(&[0; 3]);
        self.block.put_u64(epoch);
        debug_assert_eq!(ENTRY_HEAD, 24, "FORMAT.md section 7");
        self.block.extend_from_slice(&path[shared..]);
        self.block.extend_from_slice(payload);
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

    /// Completes the run up to epoch `to` and gives it its name. The run is opened first: as soon as it has its name, others may merge and
    /// remove it.
    ///
    /// `log_sum` is the checksum of the log's last bytes before the run's end.
    pub(crate) fn finish(mut self, to: u64, log_sum: u32) -> Result<Run> {
        let span = Span { from: self.from, to, tag: self.tag };
        if self.entries == 0 {
            self.begin()?;
        }
        self.close_block()?;
        let mut index = Vec::with_capacity(4 + self.last.len() + self.index.len());
        index.put_u32(self.last.len() as u32);
        index.extend_from_slice(&self.last);
        index.append(&mut self.index);
        self.put(&index)?;
        let header = self.header(span, &index, log_sum);
        self.write_out()?;
        let finish = || {
            self.file.write_all_at(&header, 0)?;
            self.file.sync()?;
            let readable = self.directory.read(&self.temporary)?;
            self.directory.rename(&self.temporary, &span.file_name())?;
            // The name must be durable before anyone relies on the run instead of the log.
            self.directory.sync()?;
            Ok(readable)
        };
        let readable = finish().map_err(|error| self.failed(error))?;
        self.finished = true;
        let place = self.directory.path_of(&span.file_name()).display().to_string();
        Run::of_file(readable, place, self.uuid, span)
    }

    fn header(&self, span: Span, index: &[u8], log_sum: u32) -> Vec<u8> {
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&self.uuid);
        header.put_u64(span.from);
        header.put_u64(span.to);
        header.put_u64(self.entries);
        header.put_u64(self.position);
        header.put_u64(index.len() as u64);
        header.put_u32(crc32c(index));
        header.put_u32(self.has_cuts.into());
        header.put_u32(log_sum);
        header.put_u64(span.tag);
        checked(header, HEADER)
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        if !self.finished {
            let _ = self.directory.remove(&self.temporary);
        }
    }
}

/// The length of the common prefix of two paths.
pub(crate) fn common(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 16;
    let whole = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b).count() * STEP;
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count()
}
