//! Verifying the log by itself: the verdict on each position, and the records of each frame.
//!
//! Unlike a reader it continues after damage, at the next marker, because a marker occurs only at the beginning of a frame. Segments are
//! checked during replay: only those of frames that count must exist.

use std::{collections::HashMap, ops::Range};

use isotach_engine_kit::bytes::Reader;
use isotach_object::{Part, Result};

use super::found::Report;
use crate::{
    format::{
        frame::{self, Frame, FrameVerdict},
        record::{self, Record},
    },
    index::state::unknown_kind,
    io::{
        self,
        power_loss::{self, LossVerdict},
        scan::{Step, WINDOW},
        storage::Storage,
    },
};

/// The number of frames, and of appends that were cut short.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) frames: u64,
    pub(super) torn: u64,
    /// The end of the last frame with a meaning. Fill frames of a restoration behind it have none.
    pub(super) end: u64,
}

struct Scan<'v> {
    storage: &'v Storage,
    end: u64,
    seen: &'v Report<'v>,
    counts: Counts,
    /// The last frame of each writer since the beginning, or since damage.
    sequences: HashMap<u64, u64>,
}

/// Checks a range of the log's bytes, which begins where a verdict is due.
pub(super) fn scan(storage: &Storage, range: Range<u64>, seen: &Report<'_>) -> Result<Counts> {
    let end = range.end;
    let counts = Counts { end: range.start.min(end), ..Counts::default() };
    let mut scan = Scan { storage, end, seen, counts, sequences: HashMap::new() };
    let mut metered = range.start;
    let position = io::scan::scan(storage, range, |position, found| {
        if position - metered >= WINDOW as u64 {
            seen.meter.read(position - metered);
            metered = position;
        }
        scan.step(position, &found)
    })?;
    seen.meter.read(position - metered);
    Ok(scan.counts)
}

impl Scan<'_> {
    /// Checks a position. An append may be in progress at the end of the log.
    fn step(&mut self, position: u64, found: &FrameVerdict<'_>) -> Result<Step> {
        let after = |length: usize| Step::To(position + length as u64);
        Ok(match *found {
            FrameVerdict::Frame { ref frame, length } => {
                self.frame(frame, position)?;
                if ![frame::kind::GAP, frame::kind::RECOVERY].contains(&frame.kind) {
                    self.counts.end = position + length as u64;
                }
                after(length)
            }
            FrameVerdict::Torn { length } => {
                self.counts.torn += 1;
                after(length)
            }
            FrameVerdict::Pending { .. } => Step::StopAt(position),
            FrameVerdict::Strange { length } => {
                self.counts.torn += 1;
                self.lost(position, power_loss::MARKER)?.map_or(after(length), Step::To)
            }
            FrameVerdict::Damaged { what, reach } => match self.lost(position, reach as u64)? {
                Some(until) => {
                    self.counts.torn += 1;
                    Step::To(until)
                }
                None => {
                    self.damaged(what, position);
                    Step::NextMarker
                }
            },
        })
    }

    /// The end of what a power failure took at a position, if it did.
    fn lost(&self, position: u64, reach: u64) -> Result<Option<u64>> {
        Ok(match power_loss::judge(self.storage, position, reach)? {
            LossVerdict::NotLost => None,
            LossVerdict::LostUntil(until) => Some(until),
            LossVerdict::LostToEnd => Some(self.end),
        })
    }

    fn frame(&mut self, frame: &Frame<'_>, position: u64) -> Result<()> {
        self.counts.frames += 1;
        let origin = frame.origin;
        let last = self.sequences.insert(origin.writer, origin.sequence);
        if let Some(last) = last.filter(|last| origin.sequence <= *last) {
            // A duplicate is skipped.
            self.sequences.insert(origin.writer, last);
            return Ok(());
        }
        if last.is_some_and(|last| origin.sequence - last > 1) {
            self.damaged("frames of a writer are missing before this one", position);
        }
        match frame.kind {
            frame::kind::TRANSACTION if !self.is_well_formed(&frame.body) => {
                self.damaged("a record of a frame is malformed", position);
            }
            // Nothing that its writers wrote before this is missed.
            frame::kind::GAP => self.sequences.clear(),
            frame::kind::TRANSACTION
            | frame::kind::RESERVE
            | frame::kind::RECOVERY
            | frame::kind::OPTIONAL.. => {}
            kind => return Err(unknown_kind(&self.storage.log, kind)),
        }
        Ok(())
    }

    fn damaged(&mut self, what: &str, position: u64) {
        // Frames that are missing after damage are missing because of it.
        self.sequences.clear();
        let place = self.storage.log.path().display().to_string();
        self.seen.found.add(Part::History, what, place, Some(position), None);
    }

    /// Whether a body consists of records, preconditions first. Notes the extents that they name.
    fn is_well_formed(&self, body: &[u8]) -> bool {
        let mut reader = Reader(body);
        let mut changes = false;
        while !reader.is_empty() {
            let Some(record) = record::decode(&mut reader) else { return false };
            self.seen.named.record(&record);
            match record {
                Record::Require(..) if changes => return false,
                Record::Require(..) => {}
                Record::Change(..) | Record::Segment(_) => changes = true,
            }
        }
        true
    }
}
