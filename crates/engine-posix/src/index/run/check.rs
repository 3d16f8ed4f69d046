//! Verifying a run by itself: its blocks against their checksums, its entries against the format and the index.

use isotach_engine_kit::bytes::Reader;
use isotach_object::{Error, Part, Result};

use super::{HEADER, Run, read::next_raw};
use crate::{
    format::path,
    index::entry::{Entry, tag},
    verify::{Report, cell_of},
};

/// The facts that are carried from entry to entry.
#[derive(Default)]
struct Walked {
    path: Vec<u8>,
    entries: u64,
    has_cuts: bool,
}

impl Run {
    /// Checks every block and entry. Returns whether all are sound.
    pub(crate) fn check(&self, seen: &Report<'_>) -> Result<bool> {
        let mut walked = Walked::default();
        let mut sound = true;
        let mut wrong = |what: &str, byte: Option<u64>, path: &[u8]| {
            seen.found.add(Part::Derived, what, self.place(), byte, cell_of(path));
            sound = false;
        };
        let (mut block, mut end) = (Vec::new(), HEADER as u64);
        for at in 0..self.block_count() {
            let (position, first) = self.block_at(at);
            if position != end {
                wrong("a block is not where the one before ends", Some(position), first);
            }
            let read = self.read_block(at, &mut block);
            seen.meter.read(block.len() as u64);
            end = position + block.len() as u64;
            let checked = match read {
                Ok(_) => self.check_block(&block, first, &mut walked).err(),
                Err(Error::Corrupt { what, .. }) => Some((what, 0)),
                Err(Error::Io { what, source }) => Some((format!("cannot be read: {what}: {source}"), 0)),
                Err(other) => return Err(other),
            };
            if let Some((what, within)) = checked {
                wrong(&what, Some(position + within), first);
                // The entries that were lost with the block cannot be counted.
                walked.entries = u64::MAX;
                walked.path = first.to_vec();
            }
        }
        let whole = walked.entries < u64::MAX;
        if whole && walked.entries != self.entries() {
            wrong(&format!("{} entries instead of {}", walked.entries, self.entries()), None, &[]);
        }
        if whole && walked.has_cuts != self.has_cuts() {
            wrong("the header is wrong about cuts", None, &[]);
        }
        if whole && (walked.path != self.last_path() || end != self.index_position()) {
            wrong("the index does not tell where the entries end", Some(self.index_position()), &[]);
        }
        Ok(sound)
    }

    /// What is wrong with a block, and at which of its bytes.
    fn check_block(
        &self,
        block: &[u8],
        first: &[u8],
        walked: &mut Walked,
    ) -> std::result::Result<(), (String, u64)> {
        let mut reader = Reader(block);
        while !reader.is_empty() {
            let at = (block.len() - reader.0.len()) as u64;
            let is_first = at == 0;
            let wrong = |what: &str| Err((what.to_owned(), at));
            let before = &walked.path[..];
            let Some(raw) = next_raw(&mut reader) else { return wrong("an entry of a run is malformed") };
            if raw.shared > if is_first { 0 } else { before.len() } {
                return wrong("an entry of a run is malformed");
            }
            let path = [&before[..raw.shared], raw.suffix].concat();
            let common = before.iter().zip(&path).take_while(|(a, b)| a == b).count();
            if path.len() < path::ID || path::object_of(&path).is_none() {
                return wrong("an entry of a run has a path that nothing has");
            }
            if is_first && path != first {
                return wrong("a block does not begin with the entry that the index says");
            }
            if walked.entries > 0 && *before >= *path {
                return wrong("an entry of a run is out of order");
            }
            if !is_first && raw.shared != common {
                return wrong("an entry of a run is wrong about the one before");
            }
            if raw.epoch <= self.span().from || raw.epoch > self.span().to {
                return wrong("an entry of a run is of an epoch that the run does not cover");
            }
            if Entry::decode(raw.tag, raw.payload).is_none() {
                return wrong("an entry of a run is malformed");
            }
            walked.has_cuts |= raw.tag == tag::CUT;
            walked.entries = walked.entries.saturating_add(1);
            walked.path = path;
        }
        Ok(())
    }
}
