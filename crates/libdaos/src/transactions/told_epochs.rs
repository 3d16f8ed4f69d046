//! The epochs that programs were told, for other processes on the same pools: one process may tell another an epoch, which opens it.
//!
//! Beside the pools is the folder `.epochs` with a file for each container, to which every process adds what it tells its program: the epoch and the
//! state of the engine, in 8 bytes each. What must stay true: a file only helps. Without it, as where the folder is not writable or pools are no
//! folders, a process knows its own epochs.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use isotach_object::Epoch;

use crate::{
    containers::{Container, pools, uuid_text},
    transactions::epochs::Moment,
};

/// The folder beside the pools.
const FOLDER: &str = ".epochs";
/// Bytes of an epoch and its state.
const RECORD: usize = 16;
/// A file with more bytes becomes the old one, and a new one begins.
const BYTES_MAX: u64 = 1 << 20;
/// How many epochs a process adds before it looks whether the file is still the one.
const LOOK_AFTER: u32 = 1024;

/// The file of a container, to which epochs are added.
#[derive(Debug, Default)]
pub(crate) struct Told {
    file: Option<File>,
    /// How many epochs are added before the next look.
    left: u32,
}

impl Told {
    /// Adds an epoch.
    pub(crate) fn add(&mut self, container: &Container, moment: Moment) {
        if self.left == 0 {
            self.left = LOOK_AFTER;
            self.file = place_of(container).and_then(|place| opened(&place).ok());
        }
        self.left -= 1;
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&moment.epoch.to_le_bytes());
        record[8..].copy_from_slice(&moment.state.0.to_le_bytes());
        // In one piece, as every process adds it. One that is not there is unknown to others.
        if self.file.as_ref().is_some_and(|mut file| file.write_all(&record).is_err()) {
            self.file = None;
        }
    }
}

/// Where the file of a container is, if pools are folders.
fn place_of(container: &Container) -> Option<PathBuf> {
    Some(pools::folder()?.join(FOLDER).join(&container.pool.label).join(uuid_text(&container.uuid)))
}

/// The name of the file before the present one.
fn old(place: &Path) -> PathBuf {
    place.with_extension("old")
}

/// Opens the file to add to, after what is in it became old if that is enough.
fn opened(place: &Path) -> io::Result<File> {
    if place.metadata().is_ok_and(|found| found.size() >= BYTES_MAX) {
        fs::rename(place, old(place))?;
    }
    fs::create_dir_all(place.parent().unwrap_or(place))?;
    OpenOptions::new().append(true).create(true).open(place)
}

/// The epochs that any process was told lately, with their states.
pub(crate) fn of(container: &Container) -> Vec<(u64, Epoch)> {
    let Some(place) = place_of(container) else { return Vec::new() };
    let mut bytes = Vec::new();
    for place in [old(&place), place] {
        // A file that is not there, or ends early, has nothing to tell.
        let read = File::open(place).and_then(|mut file| file.read_to_end(&mut bytes));
        bytes.truncate(bytes.len() / RECORD * RECORD);
        drop(read);
    }
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    bytes.chunks_exact(RECORD).map(|record| (number(&record[..8]), Epoch(number(&record[8..])))).collect()
}

/// Forgets the epochs of a container that was destroyed.
pub(crate) fn forget(container: &Container) {
    if let Some(place) = place_of(container) {
        // What stays is of epochs that are of no container.
        drop(fs::remove_file(old(&place)));
        drop(fs::remove_file(place));
    }
}
