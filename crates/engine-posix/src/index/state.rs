//! The state of a container as one handle knows it: runs, and a table made by replaying the log's tail.
//!
//! Replaying is deterministic. Whatever runs a process starts from, it comes to the same verdict about
//! every frame and to the same entries; everything that settles contention rests on this.

use std::{collections::HashMap, sync::Arc};

use isotach_engine_kit::bytes::Reader;
use isotach_object::{Error, Result};

use crate::{
    SCHEME,
    format::{
        extent::{self, Extent},
        frame::{self, Found, Frame, Origin},
        path,
        record::{self, Change, Condition, Record},
    },
    index::{
        chain,
        entry::{Entry, Versioned},
        raw::Kept,
        run::Run,
        table::Table,
    },
    io::{
        data::DataReader,
        directory::Directory,
        log::{self, Log},
        lost::{self, Judged},
    },
    options::Options,
    pool::GENERATION,
    purge::{self, manifest::Floor},
    transaction::{snapshot, verdict::Verdicts},
};

#[cfg(test)]
mod tests;

/// Bytes of the log read at a time.
pub(crate) const WINDOW: usize = 4 << 20;

/// How far back a read set may reach, in bytes of log: an older `Unchanged` fails. Runs keep the traces of
/// removed entries for as long, so every process answers alike (FORMAT.md section 5).
pub(crate) const READ_SET_WINDOW: u64 = 64 << 20;

/// What never changes about an open container.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) directory: Arc<Directory>,
    pub(crate) uuid: [u8; 16],
    pub(crate) marker: u64,
    pub(crate) log: Log,
    pub(crate) data: DataReader,
    pub(crate) options: Options,
}

impl Place {
    /// The place as it was at an epoch.
    pub(crate) fn at(&self, epoch: u64) -> Result<Self> {
        let position = self.log.position_of(epoch).ok_or_else(|| outside(&self.log, epoch))?;
        self.with_log(self.log.ended_at(position, &self.directory, self.uuid, GENERATION)?)
    }

    /// The place as it is now, also of a handle on the past.
    pub(crate) fn present(&self) -> Result<Self> {
        self.with_log(self.log.again(&self.directory, self.uuid, GENERATION)?)
    }

    fn with_log(&self, log: Log) -> Result<Self> {
        let data = DataReader::new(self.data.folder());
        let Self { ref directory, uuid, marker, options, .. } = *self;
        Ok(Self { directory: Arc::clone(directory), uuid, marker, log, data, options })
    }
}

/// How far a reader goes on where no frame is that counts.
enum Passed {
    /// By so many bytes.
    Bytes(usize),
    /// To this position, behind what was lost.
    Until(u64),
    /// Not before so many bytes stand there.
    Not { need: usize },
}

/// Runs and table.
#[derive(Debug)]
pub(crate) struct State {
    /// Oldest first; each begins where the one before ends.
    pub(crate) runs: Vec<Arc<Run>>,
    /// The floor that counted when the runs were chosen.
    floor: Option<Floor>,
    pub(crate) table: Table,
    /// Where in the log file the next frame is looked for.
    pub(crate) position: u64,
    /// The length of the log when it was last looked at.
    seen: u64,
    /// Where the last frame ends that made a snapshot, of those replayed since this was set to 0.
    snapshot_at: u64,
    /// The last frame of each writer.
    sequences: HashMap<u64, u64>,
    /// Of the handle's own conditional frames.
    pub(crate) verdicts: Verdicts,
    /// A frame was applied in part, because a segment of it is damaged. Nobody must see this state.
    pub(crate) is_spoilt: bool,
}

impl State {
    /// The state at the end of the newest runs; `own` is the handle's writer number. Runs that are open already
    /// may be handed in.
    pub(crate) fn open(place: &Place, own: u64, known: &[Arc<Run>]) -> Result<Self> {
        let (runs, floor) = chain::open_runs(place, known)?;
        let covered = runs.last().map(|run| run.span().to);
        let position = match covered {
            Some(epoch) => place.log.position_of(epoch).ok_or_else(|| outside(&place.log, epoch))?,
            None => log::HEADER as u64,
        };
        if position > place.log.length()? {
            return Err(outside(&place.log, place.log.epoch_at(position)));
        }
        Ok(Self { floor, ..Self::at_runs(runs, position, own) })
    }

    /// The state at the end of these runs, which is at byte `position` of the log.
    pub(crate) fn at_runs(runs: Vec<Arc<Run>>, position: u64, own: u64) -> Self {
        Self {
            table: Table::new(runs.is_empty()),
            runs,
            floor: None,
            position,
            seen: 0,
            snapshot_at: 0,
            sequences: HashMap::new(),
            verdicts: Verdicts::of(own),
            is_spoilt: false,
        }
    }

    /// Whether nothing was appended since the log was last looked at.
    pub(crate) fn is_fresh(&self, log_length: u64) -> bool {
        self.seen == log_length
    }

    /// The epoch up to which runs hold everything.
    pub(crate) fn covered(&self, place: &Place) -> u64 {
        self.runs.last().map_or(place.log.epoch_at(0), |run| run.span().to)
    }

    /// Replays what was appended since.
    pub(crate) fn replay(&mut self, place: &Place) -> Result<()> {
        let length = place.log.length()?;
        if length < self.seen {
            let what =
                format!("the log has lost its last {} bytes, which this handle has read", self.seen - length);
            return Err(Error::corrupt(what, place.log.path().display().to_string()));
        }
        self.go_on(place, length, |_| false)?;
        self.seen = length;
        Ok(())
    }

    /// Replays what was appended since, up to the first frame that ends at position `until` or after, or that makes a
    /// snapshot.
    pub(crate) fn replay_to(&mut self, place: &Place, until: u64) -> Result<()> {
        self.snapshot_at = 0;
        self.go_on(place, place.log.length()?, |state| {
            state.position >= until || state.position == state.snapshot_at
        })
    }

    /// Replays what was appended since, up to position `until`.
    pub(crate) fn replay_up_to(&mut self, place: &Place, until: u64) -> Result<()> {
        self.go_on(place, place.log.length()?, |state| state.position >= until)
    }

    /// Replays up to `length`, or until it is enough.
    fn go_on(&mut self, place: &Place, length: u64, is_enough: impl Fn(&Self) -> bool) -> Result<()> {
        if self.is_spoilt {
            // The frame would be judged by what it has changed itself.
            return Err(self.damaged(&place.log, "a frame that was applied in part"));
        }
        let mut window = Vec::new();
        let mut size = WINDOW;
        while self.position < length && !is_enough(self) {
            let wanted = usize::try_from(length - self.position).unwrap_or(usize::MAX).min(size);
            window.resize(wanted, 0);
            let filled = place.log.read(self.position, &mut window)?;
            let more = self.position + (filled as u64) < length;
            match self.replay_window(place, &window[..filled], length, &is_enough)? {
                // Only a frame longer than the whole window calls for a larger one.
                Some(need) if more && need > 0 => {
                    size = if need > filled { need.max(2 * filled) } else { WINDOW }
                }
                Some(_) => break,
                None => size = WINDOW,
            }
        }
        Ok(())
    }

    /// Replays the frames in a window; gives the bytes that the next frame needs when it is not whole.
    fn replay_window(
        &mut self,
        place: &Place,
        window: &[u8],
        length: u64,
        is_enough: &impl Fn(&Self) -> bool,
    ) -> Result<Option<usize>> {
        let more = self.position + (window.len() as u64) < length;
        let mut at = 0;
        while at < window.len() && !is_enough(self) {
            let length = match frame::find(&window[at..], place.marker, more) {
                Found::Frame { frame, length } => {
                    let epoch = place.log.epoch_at(self.position + length as u64);
                    self.apply_frame(place, &frame, epoch)?;
                    length
                }
                other => match self.pass_over(place, &other)? {
                    Passed::Bytes(length) => length,
                    Passed::Until(position) => {
                        self.position = position;
                        return Ok(None);
                    }
                    Passed::Not { need } => return Ok(Some(need)),
                },
            };
            at += length;
            self.position += length as u64;
        }
        Ok(None)
    }

    /// What to do where no frame is that counts.
    fn pass_over(&self, place: &Place, found: &Found<'_>) -> Result<Passed> {
        let judge = |reach: u64, otherwise: Result<Passed>| match lost::judge(place, self.position, reach)? {
            Judged::NotLost => otherwise,
            Judged::LostUntil(position) => Ok(Passed::Until(position)),
            Judged::LostToEnd => Ok(Passed::Not { need: 0 }),
        };
        let passed = match *found {
            Found::Frame { length, .. } | Found::Torn { length } => Ok(Passed::Bytes(length)),
            Found::Pending { need } => Ok(Passed::Not { need }),
            Found::Strange { length } => judge(lost::MARKER, Ok(Passed::Bytes(length))),
            Found::Damaged { what, reach } => judge(reach as u64, Err(self.damaged(&place.log, what))),
        };
        // After all that was read for it: what was there before a purge may have been read in part.
        match self.is_in_hole(place)? {
            true => Err(self.damaged(&place.log, "the log was purged up to a place behind this one")),
            false => passed,
        }
    }

    /// Whether a purge may have taken what stood at this position of the log, up to now: the log may have grown, and the
    /// purge come, while this thread was stopped on its way to read.
    fn is_in_hole(&self, place: &Place) -> Result<bool> {
        if self.position + purge::KEPT > place.log.whole_length()? {
            return Ok(false);
        }
        let floor = Floor::current(place)?;
        Ok(floor.is_some_and(|floor| place.log.epoch_at(self.position) < floor.hole_end))
    }

    /// Whether there was a purge since the runs were chosen, so that what they, or the log before, refer to may be gone.
    pub(crate) fn is_purged(&self, place: &Place) -> Result<bool> {
        Ok(Floor::current(place)? != self.floor)
    }

    /// Whether there was no purge between the two choices of runs.
    pub(crate) fn has_floor_of(&self, other: &Self) -> bool {
        self.floor == other.floor
    }

    /// Whether there was a purge before the runs were chosen.
    pub(crate) fn has_floor(&self) -> bool {
        self.floor.is_some()
    }

    fn damaged(&self, log: &Log, what: &str) -> Error {
        Error::corrupt(what, format!("{} at byte {}", log.path().display(), self.position))
    }

    fn apply_frame(&mut self, place: &Place, frame: &Frame<'_>, epoch: u64) -> Result<()> {
        if !self.is_next(&frame.origin).map_err(|what| self.damaged(&place.log, what))? {
            return Ok(());
        }
        match frame.kind {
            frame::kind::TRANSACTION => self.apply_transaction(place, frame, epoch)?,
            frame::kind::RESERVE | frame::kind::RECOVERY => {}
            frame::kind::GAP => self.sequences.clear(),
            kind if kind >= frame::kind::OPTIONAL => {}
            kind => return Err(unknown_kind(&place.log, kind)),
        }
        self.sequences.insert(frame.origin.writer, frame.origin.sequence);
        Ok(())
    }

    /// Whether a frame is its writer's next. One seen before is passed over; a gap means that frames are lost.
    fn is_next(&self, origin: &Origin) -> std::result::Result<bool, &'static str> {
        match self.sequences.get(&origin.writer) {
            Some(last) if origin.sequence <= *last => Ok(false),
            Some(last) if origin.sequence - last > 1 => Err("frames of a writer are missing before this one"),
            _ => Ok(true),
        }
    }

    /// Decides a frame and applies it if it counts. Nothing is applied unless everything in the frame can be read; its
    /// segments are read one by one, so that memory need not hold all of them.
    fn apply_transaction(&mut self, place: &Place, frame: &Frame<'_>, epoch: u64) -> Result<()> {
        let malformed = |state: &Self| state.damaged(&place.log, "a record of a frame is malformed");
        let mut reader = Reader(&frame.body);
        let (mut conditions, mut failed, mut changes_at) = (0, None, None);
        while !reader.is_empty() {
            let at = reader;
            match record::decode(&mut reader).ok_or_else(|| malformed(self))? {
                Record::Require(..) if changes_at.is_some() => return Err(malformed(self)),
                Record::Require(cell, condition) => {
                    let mut path = Vec::new();
                    path::of_cell(&cell, &mut path);
                    if failed.is_none() && !self.holds(&path, &condition, epoch)? {
                        failed = Some(conditions);
                    }
                    conditions += 1;
                }
                Record::Change(..) | Record::Segment(_) => drop(changes_at.get_or_insert(at)),
            }
        }
        if conditions > 0 {
            self.verdicts.keep(frame.origin, failed);
        }
        if failed.is_some() {
            return Ok(());
        }
        let mut changes = changes_at.unwrap_or(reader);
        while let Some(record) = record::decode(&mut changes) {
            match record {
                Record::Change(cell, change) => {
                    if cell.object == snapshot::NAMES && change != Change::Remove {
                        self.snapshot_at = place.log.position_of(epoch).unwrap_or(0);
                    }
                    self.table.apply(&cell, change, epoch);
                }
                Record::Segment(segment) => {
                    self.is_spoilt = true;
                    self.apply_segment(place, &segment, epoch)?;
                }
                Record::Require(..) => return Err(malformed(self)),
            }
        }
        self.is_spoilt = false;
        Ok(())
    }

    /// Applies the records that a frame has in a data file.
    fn apply_segment(&mut self, place: &Place, segment: &Extent, epoch: u64) -> Result<()> {
        let records = place.data.read_extent(segment).map_err(|error| match error {
            Error::Corrupt { what, place } => Error::Corrupt {
                what: format!("{what} (records of the transaction at epoch {epoch})"),
                place,
            },
            other => other,
        })?;
        let mut reader = Reader(&records);
        while !reader.is_empty() {
            let Some(Record::Change(cell, change)) = record::decode(&mut reader) else {
                return Err(self.damaged(&place.log, "a record of a segment is malformed"));
            };
            self.table.apply(&cell, change, epoch);
        }
        Ok(())
    }

    fn holds(&self, path: &[u8], condition: &Condition<'_>, epoch: u64) -> Result<bool> {
        Ok(match condition {
            Condition::Absent => self.find(path)?.is_none(),
            Condition::Present => self.find(path)?.is_some(),
            Condition::Equals(expected) => match self.find(path)? {
                Some(Entry::Value(value)) => *value == **expected,
                Some(Entry::ValueExtent(extent, digest)) => {
                    extent.length == expected.len() as u64 && digest == extent::digest(expected)
                }
                _ => false,
            },
            Condition::Unchanged(since) => {
                since.0.saturating_add(READ_SET_WINDOW) >= epoch && self.last_change(path)? <= since.0
            }
        })
    }

    /// What a reader sees at a path.
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
        let mut latest = 0;
        for layer in self.layers().filter(Layer::has_cuts) {
            if let Some(Versioned { epoch, entry: Entry::Cut }) = layer.get(prefix)? {
                latest = latest.max(epoch);
            }
        }
        Ok(latest)
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
            Self::Table(table) => table.get(path).map(Kept::into_versioned).transpose(),
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
        if !self.has_cuts() {
            return Ok(None);
        }
        let mut latest = None;
        for prefix in path::prefixes(path) {
            if let Some(Versioned { epoch, entry: Entry::Cut }) = self.get(prefix)? {
                latest = latest.max(Some(epoch));
            }
        }
        Ok(latest)
    }
}

/// The error for a kind of frame that this program does not know.
pub(crate) fn unknown_kind(log: &Log, kind: u16) -> Error {
    let what = format!("frame kind {kind} in {}: a newer Isotach wrote it", log.path().display());
    Error::Unsupported { engine: SCHEME, what }
}

fn outside(log: &Log, epoch: u64) -> Error {
    let what = format!("a checkpoint goes to epoch {epoch}, which the log does not reach");
    Error::corrupt(what, log.path().display().to_string())
}
