//! Data files with segments of frames behind the hole: readers that have not replayed these frames yet need them.
//!
//! Without the files such a reader can only begin again at the runs, and then has no verdict on frames before the manifest's epoch.

use std::{collections::HashSet, ops::Range};

use isotach_engine_kit::bytes::Reader;
use isotach_object::Result;

use crate::{
    format::{
        frame::{self, Frame, FrameVerdict},
        record::{self, Record},
    },
    io::{
        scan::{Step, scan},
        storage::Storage,
    },
};

/// The data files of the segments in a range of the log's bytes.
pub(super) fn files(storage: &Storage, range: Range<u64>) -> Result<HashSet<u64>> {
    let mut files = HashSet::new();
    scan(storage, range, |position, found| {
        if let FrameVerdict::Frame { frame, .. } = &found {
            add(frame, &mut files);
        }
        Ok(Step::over(&found, position))
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
