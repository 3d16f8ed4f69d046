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
    io::{
        scan::{Step, scan},
        storage::Storage,
    },
};

/// The numbers of those that frames in a range of the log's bytes name.
pub(super) fn files(storage: &Storage, range: Range<u64>) -> Result<HashSet<u64>> {
    let mut files = HashSet::new();
    scan(storage, range, |position, found| {
        Ok(match found {
            Found::Frame { frame, length } => {
                add(&frame, &mut files);
                Step::To(position + length as u64)
            }
            Found::Torn { length } | Found::Strange { length } => Step::To(position + length as u64),
            Found::Damaged { .. } => Step::NextMarker,
            Found::Pending { .. } => Step::StopAt(position),
        })
    })?;
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
