//! Removing unreferenced data files where there is no space for the runs of a new generation.
//!
//! What must stay true: whatever runs a reader begins with, and however much of the log it replays, it comes to the same state and needs
//! none of these files. So a file with a segment of any frame in the log stays.
//!
//! A reader that looked a cell up before, and reads it after, finds the file missing, and must notice the purge. So a manifest is published
//! first that changes only the sequence and takes one block. If there is no space even for that, one file is removed before it. A reader
//! that needs just that file at just that moment looks a second time, as after every failure of its first look.

use std::collections::HashSet;

use isotach_engine_kit::random;
use isotach_object::{Error, Result};

use super::{clean, plan::Plan, segments};
use crate::{
    io::{data, storage::Storage},
    purge::manifest::{PurgeManifest, temporary},
    verify,
};

/// Removes them. Returns the freed bytes.
pub(super) fn remove(storage: &Storage, plan: &Plan) -> Result<u64> {
    let mut dead: Vec<u64> = plan.unreferenced().map(|file| file.number).collect();
    if dead.is_empty() {
        return Ok(0);
    }
    let replayed: HashSet<u64> = segments::files(storage, plan.log_to_replay(storage))?;
    dead.retain(|number| !replayed.contains(number));
    let Some(last) = dead.pop() else { return Ok(0) };
    // The frames that replaced the contents of the files must be durable before the files are removed.
    storage.log.sync()?;
    let tag = random::number()?.max(1);
    let manifest = plan.unchanged_manifest(tag);
    let ends = verify::named(storage, plan.old)?.into_ends(storage)?;
    let mut freed = 0;
    match manifest.publish(storage, &temporary(tag), &ends) {
        Err(Error::NoSpace { .. }) => {
            freed += remove_file(storage, last)?;
            manifest.publish(storage, &temporary(tag), &ends)?;
        }
        outcome => {
            outcome?;
            freed += remove_file(storage, last)?;
        }
    }
    for number in dead {
        freed += remove_file(storage, number)?;
    }
    if let Some(old) = plan.old {
        // The new manifest is durable, so the old one is not needed.
        let _ = storage.directory.remove(&PurgeManifest::file_name(old.sequence));
    }
    Ok(freed)
}

fn remove_file(storage: &Storage, number: u64) -> Result<u64> {
    clean::remove(storage.data.folder(), &data::file_name(number))
}
