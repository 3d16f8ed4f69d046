//! Verifying the log by itself: what stands at each position, and whether each frame can be read.
//!
//! Unlike a reader it goes on after damage, at the next marker, because a marker stands nowhere but at the beginning of a
//! frame. What frames have in segments is looked at when they are replayed: only of those that count must it be there.

use std::{collections::HashMap, ops::Range};

use isotach_engine_kit::bytes::Reader;
use isotach_object::{Finding, Part, Result};
use memchr::memmem;

use super::{
    found::{Findings, Meter},
    unnamed::Named,
};
use crate::{
    format::{
        frame::{self, Found, Frame},
        record::{self, Record},
    },
    index::state::{Place, WINDOW, unknown_kind},
    io::lost::{self, Judged},
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
    place: &'v Place,
    end: u64,
    found: &'v Findings,
    named: &'v Named,
    counts: Counts,
    /// The last frame of each writer since the beginning, or since what was damaged.
    sequences: HashMap<u64, u64>,
}

/// Looks at a range of the log's bytes, which begins where a frame is looked for.
pub(super) fn scan(
    place: &Place,
    range: Range<u64>,
    found: &Findings,
    named: &Named,
    meter: &Meter<'_>,
) -> Result<Counts> {
    let end = range.end;
    let mut scan = Scan {
        place,
        end,
        found,
        named,
        counts: Counts { end: range.start.min(end), ..Counts::default() },
        sequences: HashMap::new(),
    };
    let (mut position, mut size) = (range.start, WINDOW);
    let mut window = Vec::new();
    while position < end {
        let wanted = usize::try_from(end - position).unwrap_or(usize::MAX).min(size);
        window.resize(wanted, 0);
        let filled = place.log.read(position, &mut window)?;
        let more = filled == wanted && position + (filled as u64) < end;
        let (passed, need) = scan.window(&window[..filled], position, more)?;
        position += passed as u64;
        meter.read(passed as u64);
        match need {
            Some(need) if more => size = if need > filled { need.max(2 * filled) } else { WINDOW },
            // What stands at the end may be an append under way.
            Some(_) => break,
            None => size = WINDOW,
        }
    }
    Ok(scan.counts)
}

impl Scan<'_> {
    /// Looks at a window that begins at `position`. Gives how much of it is done, and the bytes that what comes next needs.
    fn window(&mut self, window: &[u8], position: u64, more: bool) -> Result<(usize, Option<usize>)> {
        let mut at = 0;
        while at < window.len() {
            at += match frame::find(&window[at..], self.place.marker, more) {
                Found::Frame { frame, length } => {
                    self.frame(&frame, position + at as u64)?;
                    if ![frame::kind::GAP, frame::kind::RECOVERY].contains(&frame.kind) {
                        self.counts.end = position + (at + length) as u64;
                    }
                    length
                }
                Found::Torn { length } => {
                    self.counts.torn += 1;
                    length
                }
                Found::Pending { need } => return Ok((at, Some(need))),
                Found::Strange { length } => {
                    self.counts.torn += 1;
                    self.lost(position + at as u64, lost::MARKER)?.unwrap_or(length)
                }
                Found::Damaged { what, reach } => {
                    if let Some(lost) = self.lost(position + at as u64, reach as u64)? {
                        self.counts.torn += 1;
                        at += lost;
                        continue;
                    }
                    self.damaged(what, position + at as u64);
                    let marker = self.place.marker.to_le_bytes();
                    let rest = &window[at + 1..];
                    // A marker may have begun in the last seven bytes.
                    let end = if more { rest.len().saturating_sub(7) } else { rest.len() };
                    1 + memmem::find(rest, &marker).unwrap_or(end)
                }
            };
        }
        Ok((at, None))
    }

    /// How many bytes from a position on a power failure took, if it did.
    fn lost(&self, position: u64, reach: u64) -> Result<Option<usize>> {
        let until = match lost::judge(self.place, position, reach)? {
            Judged::NotLost => return Ok(None),
            Judged::LostUntil(until) => until,
            Judged::LostToEnd => self.end,
        };
        Ok(Some(until.saturating_sub(position) as usize))
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
            kind => return Err(unknown_kind(&self.place.log, kind)),
        }
        Ok(())
    }

    fn damaged(&mut self, what: &str, position: u64) {
        // What is missing after damage is missing because of it.
        self.sequences.clear();
        let place = self.place.log.path().display().to_string();
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
