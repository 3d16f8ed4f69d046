//! Writing a generation: its runs, and copies of the live bytes in the data files that are to be removed.
//!
//! Nothing refers to the new files before the manifest is published. If that fails they are removed. If the process dies the next purge
//! removes them: the data files have no references, and the runs have an unknown tag.

use std::{collections::HashSet, mem};

use isotach_object::{Error, Result};

use super::live::{Stretch, refers, stretches};
use crate::{
    format::extent::{Extent, ExtentPart},
    index::{
        checkpoint,
        entry::{Entry, Versioned},
        merge::Merge,
        raw::LazyEntry,
        run::{RunWriter, Span},
        state::State,
    },
    io::{data::DataWriter, storage::Storage},
    purge::manifest::PurgeManifest,
    verify::unnamed::Named,
};

/// Bytes that are copied before they are synced, so that few files are open at a time.
const SYNC_EVERY: u64 = 1 << 30;
/// Bytes that are copied through memory at a time.
const PIECE: u64 = 32 << 20;

/// Copies everything live to a new generation.
pub(super) struct Copier<'p> {
    storage: &'p Storage,
    data: DataWriter,
    /// The data files to remove.
    chosen: HashSet<u64>,
    /// Those of them that stay, because they are damaged.
    staying: HashSet<u64>,
    tag: u64,
    temporary: String,
    /// Bytes of data that were copied.
    copied: u64,
    synced: u64,
    runs: Vec<Span>,
    /// The extents that were named up to the manifest's epoch, and new ones.
    named: Named,
}

impl<'p> Copier<'p> {
    pub(super) fn new(
        storage: &'p Storage,
        chosen: HashSet<u64>,
        tag: u64,
        temporary: String,
        named: Named,
    ) -> Self {
        let data = DataWriter::new(storage.data.folder(), true);
        Self {
            storage,
            data,
            chosen,
            staying: HashSet::new(),
            tag,
            temporary,
            copied: 0,
            synced: 0,
            runs: Vec::new(),
            named,
        }
    }

    /// Writes and publishes the generation of a state whose runs contain everything up to the manifest's epoch. Returns the bytes written,
    /// and the data files without references.
    pub(super) fn publish(mut self, state: &State, manifest: PurgeManifest) -> Result<(u64, HashSet<u64>)> {
        let made = self.make(state);
        let ends = mem::take(&mut self.named).into_ends(self.storage);
        let published =
            made.and(ends).and_then(|ends| manifest.publish(self.storage, &self.temporary, &ends));
        if let Err(error) = published {
            self.take_back(&manifest);
            return Err(error);
        }
        let sizes = self.runs.iter().map(|span| self.storage.directory.stat(&span.file_name()));
        let runs: u64 = sizes.filter_map(|stat| Some(stat.ok()?.allocated)).sum();
        Ok((self.copied + runs, &self.chosen - &self.staying))
    }

    fn make(&mut self, state: &State) -> Result<()> {
        for (number, stretch) in stretches(state)?.iter().enumerate() {
            let span = self.write_run(stretch, number == 0)?;
            self.runs.push(span);
        }
        self.sync()
    }

    fn sync(&mut self) -> Result<()> {
        self.data.write_out()?;
        self.data.sync()?;
        // No other purge could remove them.
        self.data.release(&self.data.unsynced());
        self.synced = self.copied;
        Ok(())
    }

    /// Removes the new files, unless the manifest may have been published.
    fn take_back(&mut self, manifest: &PurgeManifest) {
        let published = PurgeManifest::current(self.storage);
        if matches!(published, Ok(now) if now.is_none_or(|now| now.tag != manifest.tag)) {
            self.data.discard();
            for span in &self.runs {
                let _ = crate::index::chain::remove(self.storage, *span);
            }
        }
    }

    fn write_run(&mut self, stretch: &Stretch, bottom: bool) -> Result<Span> {
        let from = stretch.first().map_or(0, |run| run.span().from);
        let to = stretch.last().map_or(0, |run| run.span().to);
        let Storage { directory, uuid, log, .. } = self.storage;
        let mut run = RunWriter::unclaimed(directory, self.temporary.clone(), *uuid, from, self.tag)?;
        let mut merge = Merge::of_runs(stretch)?;
        while let Some((path, entry)) = merge.next()? {
            let Some(entry) = checkpoint::needed(entry, bottom, to)? else { continue };
            let moved =
                if refers(&entry) { LazyEntry::Decoded(self.moved(entry.into_versioned()?)?) } else { entry };
            run.push(path, &moved)?;
            if self.copied - self.synced > SYNC_EVERY {
                self.sync()?;
            }
        }
        Ok(run.finish(to, log.sum_before(to)?)?.span())
    }

    /// The entry, with its bytes copied if they are in a file to remove.
    fn moved(&mut self, Versioned { epoch, entry }: Versioned) -> Result<Versioned> {
        let entry = match entry {
            Entry::ValueExtent(extent, digest) if self.chosen.contains(&extent.file) => {
                match self.storage.data.read_extent(&extent) {
                    Ok(value) => {
                        self.copied += extent.length;
                        Entry::ValueExtent(self.append(&value)?, digest)
                    }
                    Err(Error::Corrupt { .. }) => {
                        self.staying.insert(extent.file);
                        Entry::ValueExtent(extent, digest)
                    }
                    Err(error) => return Err(error),
                }
            }
            Entry::Bytes(mut bytes) => {
                bytes.fold();
                Entry::Bytes(bytes.map_parts(|part| self.moved_part(part))?)
            }
            entry => entry,
        };
        Ok(Versioned { epoch, entry })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<Extent> {
        let extent = self.data.append(bytes)?;
        self.named.extent(&extent);
        Ok(extent)
    }

    fn moved_part(&mut self, part: ExtentPart) -> Result<Vec<ExtentPart>> {
        let ExtentPart { offset, length, skip, ref extent } = part;
        if !self.chosen.contains(&extent.file) {
            return Ok(vec![part]);
        }
        let mut pieces = Vec::new();
        let mut done = 0;
        // A write of no bytes creates an array, too.
        while done < length || pieces.is_empty() {
            let piece = PIECE.min(length - done);
            let from = ExtentPart { offset: 0, length: piece, skip: skip + done, extent: extent.clone() };
            let bytes = match self.read(&from) {
                Ok(bytes) => bytes,
                Err(Error::Corrupt { .. }) => {
                    self.staying.insert(extent.file);
                    return Ok(vec![part]);
                }
                Err(error) => return Err(error),
            };
            let extent = self.append(&bytes)?;
            pieces.push(ExtentPart { offset: offset + done, length: piece, skip: 0, extent });
            done += piece;
            self.copied += piece;
        }
        Ok(pieces)
    }

    fn read(&self, part: &ExtentPart) -> Result<Vec<u8>> {
        if part.length == 0 {
            return Ok(Vec::new());
        }
        self.storage.data.check_length(&part.extent)?;
        let mut bytes = vec![0; part.length as usize];
        self.storage.data.read_part(part, &mut bytes)?;
        Ok(bytes)
    }
}
