//! Verifying the log by itself: what stands at each position, and whether each frame can be read.
//!
//! Unlike a reader it goes on after damage, at the next marker, because a marker stands nowhere but at the beginning of a
//! frame. What frames have in segments is looked at when they are replayed: only of those that count must it be there.

use std::{collections::HashMap, ops::Range};

use isotach_engine_kit::bytes::Reader;
use isotach_object::{Finding, Part, Result};

use super::{
    found::{Findings, Meter},
    unnamed::Named,
};
use crate::{
    format::{
        frame::{self, Found, Frame},
        record::{self, Record},
    },
    index::state::unknown_kind,
    io::{
        self,
        lost::{self, Judged},
        scan::{Step, WINDOW},
        storage::Storage,
    },
};

/// How many frames there are, and how many appends that were cut short.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) frames: u64,
    pub(super) torn: u64,
    /// Where the last frame ends that says something. What a restoration puts behind it says nothing.
    pub(super) end: u64,
}

struct Scan<'v> {
    storage: &'v Storage,
    end: u64,
    found: &'v Findings,
    named: &'v Named,
    counts: Counts,
    /// The last frame of each writer since the beginning, or since what was damaged.
    sequences: HashMap<u64, u64>,
}

/// Looks at a range of the log's bytes, which begins where a frame is looked for.
pub(super) fn scan(
    storage: &Storage,
    range: Range<u64>,
    found: &Findings,
    named: &Named,
    meter: &Meter<'_>,
) -> Result<Counts> {
    let end = range.end;
    let mut scan = Scan {
        storage,
        end,
        found,
        named,
        counts: Counts { end: range.start.min(end), ..Counts::default() },
        sequences: HashMap::new(),
    };
    let mut metered = range.start;
    let position = io::scan::scan(storage, range, |position, found| {
        if position - metered >= WINDOW as u64 {
            meter.read(position - metered);
            metered = position;
        }
        scan.step(position, &found)
    })?;
    meter.read(position - metered);
    Ok(scan.counts)
}

impl Scan<'_> {
    /// Looks at what stands at a position, and says where to go on. What stands at the end may be an append under way.
    fn step(&mut self, position: u64, found: &Found<'_>) -> Result<Step> {
        let after = |length: usize| Step::To(position + length as u64);
        Ok(match *found {
            Found::Frame { ref frame, length } => {
                self.frame(frame, position)?;
                if ![frame::kind::GAP, frame::kind::RECOVERY].contains(&frame.kind) {
                    self.counts.end = position + length as u64;
                }
                after(length)
            }
            Found::Torn { length } => {
                self.counts.torn += 1;
                after(length)
            }
            Found::Pending { .. } => Step::StopAt(position),
            Found::Strange { length } => {
                self.counts.torn += 1;
                self.lost(position, lost::MARKER)?.map_or(after(length), Step::To)
            }
            Found::Damaged { what, reach } => match self.lost(position, reach as u64)? {
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

    /// Up to where a power failure took what stood at a position, if it did.
    fn lost(&self, position: u64, reach: u64) -> Result<Option<u64>> {
        Ok(match lost::judge(self.storage, position, reach)? {
            Judged::NotLost => None,
            Judged::LostUntil(until) => Some(until),
            Judged::LostToEnd => Some(self.end),
        })
    }

    fn frame(&mut self, frame: &Frame<'_>, position: u64) -> Result<()> {
        self.counts.frames += 1;
        let origin = frame.origin;
        let last = self.sequences.insert(origin.writer, origin.sequence);
        if let Some(last) = last.filter(|last| origin.sequence <= *last) {
            // A duplicate is passed over.
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
            // What its writers wrote before this is not there to be missed.
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
        // What is missing after damage is missing because of it.
        self.sequences.clear();
        let place = self.storage.log.path().display().to_string();
        let what = what.to_owned();
        self.found.add(Finding { part: Part::History, what, place, byte: Some(position), cell: None });
    }

    /// Whether a body is records to its end, preconditions first. Notes what they name.
    fn is_well_formed(&self, body: &[u8]) -> bool {
        let mut reader = Reader(body);
        let mut changes = false;
        while !reader.is_empty() {
            let Some(record) = record::decode(&mut reader) else { return false };
            self.named.record(&record);
            match record {
                Record::Require(..) if changes => return false,
                Record::Require(..) => {}
                Record::Change(..) | Record::Segment(_) => changes = true,
            }
        }
        true
    }
}
