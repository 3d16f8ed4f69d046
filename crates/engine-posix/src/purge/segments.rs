//! The data files that hold segments of frames behind the hole: readers that have not come there yet read them.
//!
//! Without them a reader can only begin again at the runs, and then learns no verdict on what it appended before the floor.

use std::{collections::HashSet, ops::Range};

use isotach_object::Result;

use crate::{
    bytes::Reader,
    frame::{self, Found, Frame},
    record::{self, Record},
    state::Place,
};

/// The numbers of those that frames in a range of the log's bytes name. The range is read at once.
pub(super) fn files(place: &Place, range: Range<u64>) -> Result<HashSet<u64>> {
    let mut window = vec![0; range.end.saturating_sub(range.start) as usize];
    let filled = place.log.read(range.start, &mut window)?;
    let (mut files, mut at) = (HashSet::new(), 0);
    while at < filled {
        at += match frame::find(&window[at..filled], place.marker, false) {
            Found::Frame { frame, length } => {
                add(&frame, &mut files);
                length
            }
            Found::Torn { length } | Found::Strange { length } => length,
            // The next marker is found from the next byte on.
            Found::Damaged { .. } => 1,
            Found::Pending { .. } => break,
        };
    }
    Ok(files)
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
