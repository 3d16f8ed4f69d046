//! Removing data files to which nothing refers, where there is no room to write the runs of a new generation.
//!
//! What must stay true: whatever runs a reader begins at, and however much of the log it replays, it comes to the same state and
//! needs none of these files. So a file that a frame has a segment in stays, wherever in the log the frame is.
//!
//! A reader that looked before and reads after finds the file missing, and must see that there was a purge. So a floor is
//! published first: one that changes nothing but its sequence, and takes one block. Where there is not even that, one file goes
//! before it. Whoever looks for just that file at just that moment looks again, because the log has grown since it looked.

use std::collections::HashSet;

use isotach_engine_kit::random;
use isotach_object::{Error, Result};

use super::{clean, plan::Plan, segments};
use crate::{
    io::{data, storage::Storage},
    purge::manifest::{Floor, temporary},
    verify,
};

/// Removes them. Gives the bytes that came back.
pub(super) fn remove(storage: &Storage, plan: &Plan) -> Result<u64> {
    let mut dead: Vec<u64> = plan.unreferenced().map(|file| file.number).collect();
    if dead.is_empty() {
        return Ok(0);
    }
    let replayed: HashSet<u64> = segments::files(storage, plan.log_to_replay(storage))?;
    dead.retain(|number| !replayed.contains(number));
    let Some(last) = dead.pop() else { return Ok(0) };
    // What the removals rest on, the frames that replaced what was in the files, must outlive the files.
    storage.log.sync()?;
    let tag = random::number()?.max(1);
    let floor = plan.floor_as_it_is(tag);
    let ends = verify::named(storage, plan.old)?.into_ends(storage)?;
    let mut freed = 0;
    match floor.publish(storage, &temporary(tag), &ends) {
        Err(Error::NoSpace { .. }) => {
            freed += remove_file(storage, last)?;
            floor.publish(storage, &temporary(tag), &ends)?;
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
        // The new floor is durable, so this is of no use any more.
        let _ = storage.directory.remove(&Floor::file_name(old.sequence));
    }
    Ok(freed)
}

fn remove_file(storage: &Storage, number: u64) -> Result<u64> {
    clean::remove(storage.data.folder(), &data::file_name(number))
}
