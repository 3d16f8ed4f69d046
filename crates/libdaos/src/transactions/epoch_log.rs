//! Shares epochs between processes: an epoch that one process got from `daos_tx_hdl2epoch` opens in another.
//!
//! Beside the pools is the folder `.epochs` with a log for each container. A record has the epoch, the state of the engine that it stands for, and a check
//! number, 8 bytes each in little-endian order. What must stay true: a log only helps. Where there is none, as where the folder cannot be
//! written or pools are no folders, a process knows its own epochs.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Mutex,
};

use isotach_object::Epoch;
use rustix::fs::{FlockOperation, flock};

use crate::runtime::locked;

const RECORD: usize = 24;
/// A log with more bytes becomes the old one, and a new one begins.
const BYTES_MAX: u64 = 65_536 * RECORD as u64;

/// The log of a container: the file that was added to last.
#[derive(Debug, Default)]
pub(crate) struct EpochLog(Mutex<Option<File>>);

impl EpochLog {
    /// Adds an epoch that the program is told to the log at this place.
    pub(crate) fn add(&self, place: &Path, epoch: u64, state: Epoch) {
        let mut log = locked(&self.0);
        if !log.as_ref().is_some_and(|file| is_at(file, place)) {
            *log = opened(place).ok();
        }
        // In one write, so that records of several processes do not mix.
        let written = log.as_mut().map(|file| file.write_all(&record(epoch, state)));
        if matches!(written, Some(Err(_))) {
            *log = None;
        }
    }
}

/// Whether a file is the log at this place, and has room.
fn is_at(file: &File, place: &Path) -> bool {
    let (Ok(file), Ok(log)) = (file.metadata(), place.metadata()) else { return false };
    (file.dev(), file.ino()) == (log.dev(), log.ino()) && !is_done(&log)
}

/// Whether a new log is to begin: this one is full, or ends within a record.
fn is_done(log: &Metadata) -> bool {
    log.size() >= BYTES_MAX || !log.size().is_multiple_of(RECORD as u64)
}

/// The state that an epoch stands for, if the log at this place or the one before has it.
pub(crate) fn find(place: &Path, epoch: u64) -> Option<Epoch> {
    [place.to_owned(), old(place)].into_iter().find_map(|place| {
        let mut bytes = Vec::new();
        // What was read before an error is as good as any.
        let _ = File::open(place).and_then(|mut file| file.read_to_end(&mut bytes));
        // Wherever a record begins: one may have been written in part.
        let mut found = bytes.windows(RECORD).rev().filter_map(parsed).filter(|(found, _)| *found == epoch);
        found.next().map(|(_, state)| state)
    })
}

/// Removes the log of a container that was destroyed.
pub(crate) fn forget(place: &Path) {
    // A log that stays has epochs of no container.
    let _ = fs::remove_file(old(place));
    let _ = fs::remove_file(place);
}

/// Where the log before this one is.
fn old(place: &Path) -> PathBuf {
    place.with_extension("old")
}

/// Opens a log to add to it. Begins a new one if the present one is done.
fn opened(place: &Path) -> io::Result<File> {
    let folder = place.parent().unwrap_or(place);
    fs::create_dir_all(folder)?;
    let is_done = || place.metadata().is_ok_and(|log| is_done(&log));
    if is_done() {
        let lock = File::open(folder)?;
        flock(&lock, FlockOperation::LockExclusive)?;
        // Another process may have begun it meanwhile.
        if is_done() {
            fs::rename(place, old(place))?;
        }
    }
    OpenOptions::new().append(true).create(true).open(place)
}

fn record(epoch: u64, state: Epoch) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    let numbers = [epoch, state.0, check_of(epoch, state.0)];
    record
        .chunks_exact_mut(8)
        .zip(numbers)
        .for_each(|(part, number)| part.copy_from_slice(&number.to_le_bytes()));
    record
}

/// The epoch and the state of a record, if it is whole.
fn parsed(record: &[u8]) -> Option<(u64, Epoch)> {
    let number = |at: usize| record.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let (epoch, state) = (number(0)?, number(8)?);
    (number(16)? == check_of(epoch, state)).then_some((epoch, Epoch(state)))
}

/// Tells a record from other bytes, zeros among them.
fn check_of(epoch: u64, state: u64) -> u64 {
    (epoch.rotate_left(32) ^ state).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record_of(number: u64) -> [u8; RECORD] {
        record(number << 32, Epoch(number))
    }

    fn states(place: &Path) -> Vec<u64> {
        let bytes = fs::read(place).unwrap();
        bytes.windows(RECORD).filter_map(parsed).map(|(_, state)| state.0).collect()
    }

    #[test]
    fn records_that_are_not_whole_are_passed_over() {
        assert_eq!(parsed(&record_of(7)), Some((7 << 32, Epoch(7))));
        let mut other = record_of(7);
        other[9] ^= 1;
        assert!(parsed(&other).is_none() && parsed(&[0; RECORD]).is_none() && parsed(&[1; 7]).is_none());
    }

    #[test]
    fn a_log_that_is_full_or_ends_within_a_record_becomes_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("pool/log");
        opened(&place).unwrap().write_all(&record_of(1)).unwrap();
        opened(&place).unwrap().write_all(&record_of(2)).unwrap();
        assert_eq!(states(&place), [1, 2]);
        opened(&place).unwrap().write_all(&[0; 5]).unwrap();
        opened(&place).unwrap().write_all(&record_of(3)).unwrap();
        assert_eq!((states(&old(&place)), states(&place)), (vec![1, 2], vec![3]));
        assert_eq!((find(&place, 1 << 32), find(&place, 3 << 32)), (Some(Epoch(1)), Some(Epoch(3))));
        opened(&place).unwrap().set_len(BYTES_MAX).unwrap();
        opened(&place).unwrap().write_all(&record_of(4)).unwrap();
        assert_eq!((states(&old(&place)), states(&place)), (vec![3], vec![4]));
        assert_eq!((find(&place, 3 << 32), find(&place, 4 << 32)), (Some(Epoch(3)), Some(Epoch(4))));
        assert_eq!(find(&place, 1 << 32), None);
        forget(&place);
        assert_eq!(find(&place, 4 << 32), None);
    }

    #[test]
    fn what_is_added_after_another_process_began_a_new_log_is_in_that() {
        let folder = tempfile::tempdir().unwrap();
        let (place, log) = (folder.path().join("pool/log"), EpochLog::default());
        log.add(&place, 1 << 32, Epoch(1));
        fs::rename(&place, old(&place)).unwrap();
        opened(&place).unwrap().write_all(&record_of(2)).unwrap();
        log.add(&place, 3 << 32, Epoch(3));
        assert_eq!((states(&old(&place)), states(&place)), (vec![1], vec![2, 3]));
    }
}
