//! A walk through a run in the order of paths.

use std::sync::Arc;

use isotach_engine_kit::bytes::Reader;
use isotach_object::Result;

use super::{Run, read::next_entry};
use crate::index::raw::Raw;

/// A position in a run.
#[derive(Debug)]
pub(crate) struct RunCursor {
    run: Arc<Run>,
    /// The number of the block after the current one.
    next_block: usize,
    block: Vec<u8>,
    /// Bytes of the block up to the end of the current entry.
    consumed: usize,
    path: Vec<u8>,
    current: Option<Current>,
}

/// The current entry, its payload as `[start, end)` of the block.
#[derive(Debug, Clone, Copy)]
struct Current {
    epoch: u64,
    tag: u8,
    payload: (usize, usize),
}

impl RunCursor {
    /// A cursor on the first entry at or after `start`.
    pub(crate) fn seek(run: &Arc<Run>, start: &[u8]) -> Result<Self> {
        let mut cursor = Self {
            run: Arc::clone(run),
            next_block: if run.ends_before(start) { usize::MAX } else { run.block_of(start).unwrap_or(0) },
            block: Vec::new(),
            consumed: 0,
            path: Vec::new(),
            current: None,
        };
        cursor.advance()?;
        while cursor.current.is_some() && *cursor.path < *start {
            cursor.advance()?;
        }
        Ok(cursor)
    }

    pub(crate) fn path(&self) -> Option<&[u8]> {
        self.current.map(|_| &*self.path)
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.current.map_or(0, |current| current.epoch)
    }

    /// The current entry; `None` at the end.
    pub(crate) fn current(&self) -> Option<Raw<'_>> {
        let Current { epoch, tag, payload } = self.current?;
        Some(self.run.raw(epoch, tag, &self.block[payload.0..payload.1]))
    }

    pub(crate) fn advance(&mut self) -> Result<()> {
        if self.consumed == self.block.len() {
            self.current = None;
            self.path.clear();
            self.consumed = 0;
            if !self.run.read_block(self.next_block, &mut self.block)? {
                self.block.clear();
                return Ok(());
            }
            self.next_block += 1;
        }
        let mut reader = Reader(&self.block[self.consumed..]);
        let raw = next_entry(&mut reader, &mut self.path);
        let raw = raw.ok_or_else(|| self.run.damaged("an entry of a run"))?;
        let end = self.block.len() - reader.0.len();
        let payload = (end - raw.payload.len(), end);
        self.current = Some(Current { epoch: raw.epoch, tag: raw.tag, payload });
        self.consumed = end;
        Ok(())
    }
}
