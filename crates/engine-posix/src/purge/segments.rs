//! The data files that hold segments of frames behind the hole: readers that have not come there yet read them.
//!
//! Without them a reader can only begin again at the runs, and then learns no verdict on what it appended before the floor.

use std::{collections::HashSet, ops::Range};

use isotach_engine_kit::bytes::Reader;
use isotach_object::Result;

use crate::{
    format::{
        frame::{self, Found, Frame},
        record::{self, Record},
    },
    index::state::{Place, WINDOW},
};

/// The numbers of those that frames in a range of the log's bytes name.
pub(super) fn files(place: &Place, range: Range<u64>) -> Result<HashSet<u64>> {
    let (mut files, mut window) = (HashSet::new(), Vec::new());
    let (mut at, mut size) = (range.start, WINDOW);
    while at < range.end {
        window.resize(usize::try_from(range.end - at).unwrap_or(usize::MAX).min(size), 0);
        let filled = place.log.read(at, &mut window)?;
        let more = at + (filled as u64) < range.end;
        let (done, need) = look_through(&window[..filled], place.marker, more, &mut files);
        if done == 0 && (!more || filled == 0) {
            break;
        }
        at += done as u64;
        // Only a frame longer than the whole window calls for a larger one.
        size = if done == 0 { need.max(2 * filled) } else { WINDOW };
    }
    Ok(files)
}

/// Gives how many bytes of a window were looked through, and how many the next frame needs.
fn look_through(window: &[u8], marker: u64, more: bool, files: &mut HashSet<u64>) -> (usize, usize) {
    let mut at = 0;
    while at < window.len() {
        at += match frame::find(&window[at..], marker, more) {
            Found::Frame { frame, length } => {
                add(&frame, files);
                length
            }
            Found::Torn { length } | Found::Strange { length } => length,
            // The next marker is found from the next byte on.
            Found::Damaged { .. } => 1,
            Found::Pending { need } => return (at, need),
        };
    }
    (at, 0)
}

fn add(frame: &Frame<'_>, files: &mut HashSet<u64>) {
    if frame.kind != frame::kind::TRANSACTION {
        return;
    }
    let mut reader = Reader(&frame.body);
    while let Some(record) = record::decode(&mut reader) {
        if let Record::Segment(segment) = record {
            files.insert(segment.file);
        }
    }
}
