//! The state of a container in one handle: runs, and a table made by replaying the tail of the log.
//!
//! Replay is deterministic. Whatever runs a process begins with, it comes to the same verdict on every frame and to the same entries.
//! Everything that settles contention depends on this.

use std::{collections::HashMap, sync::Arc};

use isotach_engine_kit::bytes::Reader;
use isotach_object::{Error, Precondition, Result};

use crate::{
    format::{
        extent::{self, Extent},
        frame::{self, Frame, FrameVerdict, Origin},
        path,
        record::{self, CellChange, Record},
    },
    index::{
        chain,
        entry::{Entry, Versioned},
        raw::LazyEntry,
        run::{Run, Span},
        table::Table,
    },
    io::{
        log::{self, Log},
        power_loss::{self, LossVerdict},
        scan::{Step, scan},
        storage::Storage,
    },
    purge::manifest::{self, PurgeManifest},
    transaction::verdict::Verdicts,
};

#[cfg(test)]
mod tests;

/// The writer number of a state that waits for no verdict: no handle has it.
pub(crate) const NOBODY: u64 = 0;

/// The maximum age of a read set, in bytes of log: an older `Unchanged` fails. Runs keep the traces of removed entries for as long, so
/// every process comes to the same answer (FORMAT.md section 5).
pub(crate) const READ_SET_WINDOW: u64 = 64 << 20;

/// Runs and table.
#[derive(Debug)]
pub(crate) struct State {
    /// Oldest first. Each begins where the previous one ends.
    pub(crate) runs: Vec<Arc<Run>>,
    /// The purge manifest when the runs were chosen.
    manifest: Option<PurgeManifest>,
    pub(crate) table: Table,
    /// The position in the log of the next frame.
    pub(crate) position: u64,
    /// The length of the log at the last replay.
    seen: u64,
    /// The end of the last frame that made a snapshot, since this was set to 0.
    snapshot_at: u64,
    /// The last frame of each writer.
    sequences: HashMap<u64, u64>,
    /// Verdicts on the handle's own conditional frames.
    pub(crate) verdicts: Verdicts,
    /// A frame was applied in part, because one of its segments is damaged. Readers must not see this state.
    pub(crate) is_spoilt: bool,
}

impl State {
    /// The state at the end of the newest runs. `own` is the handle's writer number. Runs that are open already may be passed in.
    pub(crate) fn open(storage: &Storage, own: u64, known: &[Arc<Run>]) -> Result<Self> {
        let (runs, manifest) = chain::open_runs(storage, known)?;
        let covered = runs.last().map(|run| run.span().to);
        let position = match covered {
            Some(epoch) => storage.log.position_of(epoch).ok_or_else(|| storage.log.unreached(epoch))?,
            None => log::HEADER as u64,
        };
        if position > storage.log.length()? {
            return Err(storage.log.unreached(storage.log.epoch_at(position)));
        }
        Ok(Self { manifest, ..Self::at_runs(runs, position, own) })
    }

    /// The state at the end of these runs, at byte `position` of the log.
    pub(crate) fn at_runs(runs: Vec<Arc<Run>>, position: u64, own: u64) -> Self {
        Self {
            table: Table::new(runs.is_empty()),
            runs,
            manifest: None,
            position,
            seen: 0,
            snapshot_at: 0,
            sequences: HashMap::new(),
            verdicts: Verdicts::of(own),
            is_spoilt: false,
        }
    }

    /// A copy for the handle with the writer number `own`, whose log ends at byte `end`. `None` if this state is not the one there.
    pub(crate) fn copied(&self, end: u64, own: u64) -> Option<Self> {
        if self.position != end || self.is_spoilt {
            return None;
        }
        Some(Self {
            manifest: self.manifest,
            table: self.table.copied(),
            seen: end,
            sequences: self.sequences.clone(),
            ..Self::at_runs(self.runs.clone(), end, own)
        })
    }

    /// A copy for the next run; it waits for no verdict. `None` if that run would cross a snapshot or have more than `most` bytes of log, if the
    /// runs are no longer those of `spans`, or if the log has become shorter.
    pub(crate) fn copied_for_run(
        &self,
        storage: &Storage,
        spans: &[Span],
        most: u64,
    ) -> Result<Option<Self>> {
        let start = storage.log.epoch_at(0);
        let is_short = storage.log.epoch_at(self.position) <= self.covered(storage).saturating_add(most);
        let has_runs = self.runs.iter().map(|run| run.span()).eq(chain::chain(spans, start));
        let is_usable = is_short && has_runs && self.snapshot_at == 0;
        if !is_usable || self.is_purged(storage)? || self.seen > storage.log.length()? {
            return Ok(None);
        }
        Ok(self.copied(self.position, NOBODY))
    }

    /// Whether nothing was appended since the last replay.
    pub(crate) fn is_fresh(&self, log_length: u64) -> bool {
        self.seen == log_length
    }

    /// The epoch up to which runs contain everything.
    pub(crate) fn covered(&self, storage: &Storage) -> u64 {
        self.runs.last().map_or(storage.log.epoch_at(0), |run| run.span().to)
    }

    /// Replays the frames that were appended since.
    pub(crate) fn replay(&mut self, storage: &Storage) -> Result<()> {
        let length = storage.log.length()?;
        if length < self.seen {
            let what =
                format!("the log has lost its last {} bytes, which this handle has read", self.seen - length);
            return Err(Error::corrupt(what, storage.log.path().display().to_string()));
        }
        self.go_on(storage, length, |_| false)?;
        self.seen = length;
        Ok(())
    }

    /// Replays up to the first frame that ends at position `until` or after, or that makes a snapshot.
    pub(crate) fn replay_to(&mut self, storage: &Storage, until: u64) -> Result<()> {
        self.snapshot_at = 0;
        self.go_on(storage, storage.log.length()?, |state| {
            state.position >= until || state.position == state.snapshot_at
        })
    }

    /// Replays up to position `until`.
    pub(crate) fn replay_up_to(&mut self, storage: &Storage, until: u64) -> Result<()> {
        self.go_on(storage, storage.log.length()?, |state| state.position >= until)
    }

    /// Replays up to `length`, or until it is enough.
    fn go_on(&mut self, storage: &Storage, length: u64, is_enough: impl Fn(&Self) -> bool) -> Result<()> {
        if self.is_spoilt {
            // The frame would be judged by its own changes.
            return Err(self.damaged(&storage.log, "a frame that was applied in part"));
        }
        if is_enough(self) {
            return Ok(());
        }
        scan(storage, self.position..length, |position, found| {
            let next = match found {
                FrameVerdict::Frame { frame, length } => {
                    let next = position + length as u64;
                    self.apply_frame(storage, &frame, storage.log.epoch_at(next))?;
                    next
                }
                other => match self.pass_over(storage, &other)? {
                    Some(next) => next,
                    None => return Ok(Step::StopAt(position)),
                },
            };
            self.position = next;
            Ok(if is_enough(self) { Step::StopAt(next) } else { Step::To(next) })
        })
        .map(drop)
    }

    /// Where the replay continues after a position without a frame that counts; `None` if it must wait for the log to grow.
    fn pass_over(&self, storage: &Storage, found: &FrameVerdict<'_>) -> Result<Option<u64>> {
        let after = |length: usize| Some(self.position + length as u64);
        let judge = |reach: u64, otherwise: Result<Option<u64>>| match power_loss::judge(
            storage,
            self.position,
            reach,
        )? {
            LossVerdict::NotLost => otherwise,
            LossVerdict::LostUntil(position) => Ok(Some(position)),
            LossVerdict::LostToEnd => Ok(None),
        };
        let passed = match *found {
            FrameVerdict::Frame { length, .. } | FrameVerdict::Torn { length } => Ok(after(length)),
            FrameVerdict::Pending { .. } => Ok(None),
            FrameVerdict::Strange { length } => judge(power_loss::MARKER, Ok(after(length))),
            FrameVerdict::Damaged { what, reach } => {
                judge(reach as u64, Err(self.damaged(&storage.log, what)))
            }
        };
        // Checked after all reads: a purge may have removed a part of what was read.
        match self.is_in_hole(storage)? {
            true => Err(self.damaged(&storage.log, "the log was purged past this position")),
            false => passed,
        }
    }

    /// Whether a purge may have removed what stood at this position of the log by now: the log may have grown, and a purge followed, while
    /// this thread was stopped before it read.
    fn is_in_hole(&self, storage: &Storage) -> Result<bool> {
        if self.position + manifest::LOG_KEPT > storage.log.whole_length()? {
            return Ok(false);
        }
        let manifest = PurgeManifest::current(storage)?;
        Ok(manifest.is_some_and(|manifest| storage.log.epoch_at(self.position) < manifest.hole_end))
    }

    /// Whether there was a purge since the runs were chosen. It may have removed what the runs, or the log before, refer to.
    pub(crate) fn is_purged(&self, storage: &Storage) -> Result<bool> {
        Ok(PurgeManifest::current(storage)? != self.manifest)
    }

    /// Whether there was no purge between the two choices of runs.
    pub(crate) fn has_manifest_of(&self, other: &Self) -> bool {
        self.manifest == other.manifest
    }

    /// Whether there was a purge before the runs were chosen.
    pub(crate) fn has_manifest(&self) -> bool {
        self.manifest.is_some()
    }

    fn damaged(&self, log: &Log, what: &str) -> Error {
        Error::corrupt(what, format!("{} at byte {}", log.path().display(), self.position))
    }

    fn apply_frame(&mut self, storage: &Storage, frame: &Frame<'_>, epoch: u64) -> Result<()> {
        if !self.is_next(&frame.origin).map_err(|what| self.damaged(&storage.log, what))? {
            return Ok(());
        }
        match frame.kind {
            frame::kind::TRANSACTION => self.apply_transaction(storage, frame, epoch)?,
            frame::kind::RESERVE | frame::kind::RECOVERY => {}
            frame::kind::GAP => self.sequences.clear(),
            kind if kind >= frame::kind::OPTIONAL => {}
            kind => return Err(unknown_kind(&storage.log, kind)),
        }
        self.sequences.insert(frame.origin.writer, frame.origin.sequence);
        Ok(())
    }

    /// Whether a frame is its writer's next. A duplicate is skipped. A gap means that frames are lost.
    fn is_next(&self, origin: &Origin) -> std::result::Result<bool, &'static str> {
        match self.sequences.get(&origin.writer) {
            Some(last) if origin.sequence <= *last => Ok(false),
            Some(last) if origin.sequence - last > 1 => Err("frames of a writer are missing before this one"),
            _ => Ok(true),
        }
    }

    /// Decides a frame and applies it if it counts. Nothing is applied unless the whole frame can be decoded. Segments are read one by one,
    /// so they need not fit in memory together.
    fn apply_transaction(&mut self, storage: &Storage, frame: &Frame<'_>, epoch: u64) -> Result<()> {
        let malformed = |state: &Self| state.damaged(&storage.log, "a record of a frame is malformed");
        let mut reader = Reader(&frame.body);
        let (mut conditions, mut failed, mut changes_at) = (0, None, None);
        while !reader.is_empty() {
            let at = reader;
            match record::decode(&mut reader).ok_or_else(|| malformed(self))? {
                Record::Require(..) if changes_at.is_some() => return Err(malformed(self)),
                Record::Require(condition) => {
                    if failed.is_none() && !self.holds(&condition, epoch)? {
                        failed = Some(conditions);
                    }
                    conditions += 1;
                }
                Record::Change(..) | Record::Segment(_) => drop(changes_at.get_or_insert(at)),
            }
        }
        if conditions > 0 {
            self.verdicts.record(frame.origin, failed);
        }
        if failed.is_some() {
            return Ok(());
        }
        let mut changes = changes_at.unwrap_or(reader);
        while let Some(record) = record::decode(&mut changes) {
            match record {
                Record::Change(cell, change) => {
                    if cell.object == record::SNAPSHOTS && change != CellChange::Remove {
                        self.snapshot_at = storage.log.position_of(epoch).unwrap_or(0);
                    }
                    self.table.apply(&cell, change, epoch);
                }
                Record::Segment(segment) => {
                    self.is_spoilt = true;
                    self.apply_segment(storage, &segment, epoch)?;
                }
                Record::Require(..) => return Err(malformed(self)),
            }
        }
        self.is_spoilt = false;
        Ok(())
    }

    /// Applies the records of a segment.
    fn apply_segment(&mut self, storage: &Storage, segment: &Extent, epoch: u64) -> Result<()> {
        let records = storage.data.read_extent(segment).map_err(|error| match error {
            Error::Corrupt { what, place } => {
                Error::corrupt(format!("{what} (records of the transaction at epoch {epoch})"), place)
            }
            other => other,
        })?;
        let mut reader = Reader(&records);
        while !reader.is_empty() {
            let Some(Record::Change(cell, change)) = record::decode(&mut reader) else {
                return Err(self.damaged(&storage.log, "a record of a segment is malformed"));
            };
            self.table.apply(&cell, change, epoch);
        }
        Ok(())
    }

    fn holds(&self, condition: &Precondition<'_>, epoch: u64) -> Result<bool> {
        let path = &path::of(&condition.cell());
        Ok(match *condition {
            Precondition::Absent(_) => self.find(path)?.is_none(),
            Precondition::Present(_) => self.find(path)?.is_some(),
            Precondition::Equals(_, expected) => match self.find(path)? {
                Some(Entry::Value(value)) => *value == *expected,
                Some(Entry::ValueExtent(extent, digest)) => {
                    extent.length == expected.len() as u64 && digest == extent::digest(expected)
                }
                _ => false,
            },
            Precondition::Unchanged(_, since) => {
                since.0.saturating_add(READ_SET_WINDOW) >= epoch && self.last_change(path)? <= since.0
            }
        })
    }

    /// The entry that readers see at a path.
    pub(crate) fn find(&self, path: &[u8]) -> Result<Option<Entry>> {
        let mut found: Option<Entry> = None;
        for layer in self.layers() {
            if let Some(older) = layer.get(path)? {
                let older = older.entry;
                let entry = match found {
                    Some(newer) => newer.over(older),
                    None => older,
                };
                if entry.is_complete() {
                    return Ok(Some(entry).filter(Entry::is_live));
                }
                found = Some(entry);
            }
            if layer.cut(path)?.is_some() {
                break;
            }
        }
        Ok(found.map(Entry::at_bottom).filter(Entry::is_live))
    }

    /// The epoch of the last update that named a path or a prefix of it; 0 for none.
    pub(crate) fn last_change(&self, path: &[u8]) -> Result<u64> {
        for layer in self.layers() {
            let own = layer.get(path)?.map(|versioned| versioned.epoch);
            let last = own.max(layer.cut(path)?);
            if let Some(epoch) = last {
                return Ok(epoch);
            }
        }
        Ok(0)
    }

    /// Newest first.
    pub(crate) fn layers(&self) -> impl Iterator<Item = Layer<'_>> {
        let runs = self.runs.iter().rev().map(Layer::Run);
        std::iter::once(Layer::Table(&self.table)).chain(runs)
    }

    /// The latest epoch at which `prefix` itself was cut; 0 for never.
    pub(crate) fn cut_epoch(&self, prefix: &[u8]) -> Result<u64> {
        self.layers().try_fold(0, |latest, layer| Ok(latest.max(layer.own_cut(prefix)?.unwrap_or(0))))
    }
}

/// The table or a run.
pub(crate) enum Layer<'s> {
    Table(&'s Table),
    Run(&'s Arc<Run>),
}

impl Layer<'_> {
    fn get(&self, path: &[u8]) -> Result<Option<Versioned>> {
        match self {
            Self::Table(table) => table.get(path).map(LazyEntry::into_versioned).transpose(),
            Self::Run(run) => run.get(path),
        }
    }

    fn has_cuts(&self) -> bool {
        match self {
            Self::Table(table) => table.has_cuts(),
            Self::Run(run) => run.has_cuts(),
        }
    }

    /// The epoch of the latest cut of this layer on a proper prefix of `path`.
    pub(crate) fn cut(&self, path: &[u8]) -> Result<Option<u64>> {
        path::prefixes(path).try_fold(None, |latest, prefix| Ok(latest.max(self.own_cut(prefix)?)))
    }

    /// The epoch of the latest cut of this layer on `prefix` itself.
    fn own_cut(&self, prefix: &[u8]) -> Result<Option<u64>> {
        match self.has_cuts().then(|| self.get(prefix)).transpose()?.flatten() {
            Some(Versioned { epoch, entry: Entry::Cut }) => Ok(Some(epoch)),
            _ => Ok(None),
        }
    }
}

/// The error for a frame kind that this program does not know.
pub(crate) fn unknown_kind(log: &Log, kind: u16) -> Error {
    let what = format!("{} has a frame of the unknown kind {kind}", log.path().display());
    Error::NewerFormat { what }
}
