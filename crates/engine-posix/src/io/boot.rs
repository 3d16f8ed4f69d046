//! Starts of the machine (FORMAT.md section 8.3).
//!
//! The first frame that is appended after a start is a recovery frame: everything that a power failure left half lies before it. The name
//! of a file in the directory shows later writers that the frame exists.

use std::io;

use isotach_object::Result;

use crate::io::{directory::Directory, disk::if_there};

const PREFIX: &str = "boot.";

fn name(boot: u64) -> String {
    format!("{PREFIX}{boot:016x}")
}

/// The number of this start of the machine, unless its recovery frame is known to be in the log.
pub(crate) fn unrecorded(directory: &Directory) -> io::Result<Option<u64>> {
    let Some(boot) = directory.boot()? else { return Ok(None) };
    Ok(if_there(directory.stat(&name(boot)))?.is_none().then_some(boot))
}

/// Records that the recovery frame of a start is in the log. If that fails, every handle appends one.
pub(crate) fn record(directory: &Directory, boot: u64) -> Result<()> {
    let own = name(boot);
    for old in directory.names()?.iter().filter(|old| old.starts_with(PREFIX) && **old != own) {
        let _ = directory.remove(old);
    }
    match directory.create(&own) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(directory.failed("create", &own, error))
        }
        _ => Ok(()),
    }
}
