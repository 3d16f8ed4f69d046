//! The free space that must be left, and who may use it.
//!
//! Runs make reading faster and can be made at any time. On a nearly full disk, writers and the purge that frees space need it more, so no
//! handle makes runs there.

use crate::io::{directory::Directory, storage::Storage};
use isotach_engine_kit::random;

/// A handle makes a run only where this many times its size is free, and [`FREE_MIN`] beyond that.
const FREE_FACTOR: u64 = 4;
/// See [`FREE_FACTOR`].
const FREE_MIN: u64 = 4 << 20;

/// The file that reserves space for a purge.
const RESERVE: &str = "reserve";
/// Its size: the frames that remove some hundred fields, and a manifest.
const RESERVE_SIZE: usize = 64 << 10;
/// With less free space than this a purge gives the reserve up.
const SHORT: u64 = 4 * RESERVE_SIZE as u64;

/// Whether a handle may make a run of up to `bytes`. A disk that does not report its free space counts as large.
pub(crate) fn is_enough_for_run(storage: &Storage, bytes: u64) -> bool {
    let needed = bytes.saturating_mul(FREE_FACTOR).saturating_add(FREE_MIN);
    !storage.directory.free().is_ok_and(|free| free < needed)
}

/// Creates the reserve of a container, unless it exists or there is no space.
///
/// Its bytes are not compressible and not stored as a hole. A file that allocates less, as a sparse copy does, is created anew.
pub(crate) fn make_reserve(directory: &Directory) {
    if directory.stat(RESERVE).is_ok_and(|stat| stat.allocated >= RESERVE_SIZE as u64) {
        return;
    }
    let Ok(bytes) = random::bytes::<RESERVE_SIZE>() else { return };
    // Its creator may have died before it had its size.
    give_up_reserve(directory);
    let Ok(file) = directory.create(RESERVE) else { return };
    if file.write_all_at(&bytes, 0).is_err() {
        let _ = directory.remove(RESERVE);
    }
}

/// Creates it again after a purge, if that leaves as much free space: a purge needs some.
pub(crate) fn make_reserve_again(directory: &Directory) {
    if directory.free().map_or(true, |free| free >= 2 * RESERVE_SIZE as u64) {
        make_reserve(directory);
    }
}

/// Frees the space of the reserve for what a purge writes.
pub(crate) fn give_up_reserve(directory: &Directory) {
    // There may be no reserve.
    let _ = directory.remove(RESERVE);
}

/// Whether there is hardly enough space to begin a purge.
pub(crate) fn is_short(directory: &Directory) -> bool {
    directory.free().is_ok_and(|free| free < SHORT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::disk;

    #[test]
    fn an_incomplete_reserve_is_completed_and_a_whole_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(&*disk::system(), folder.path()).unwrap();
        directory.create(RESERVE).unwrap();
        make_reserve_again(&directory);
        let made = directory.stat(RESERVE).unwrap();
        assert_eq!(made.length, RESERVE_SIZE as u64);
        make_reserve_again(&directory);
        assert_eq!(directory.stat(RESERVE).unwrap().identity, made.identity);
        give_up_reserve(&directory);
        assert!(directory.names().unwrap().is_empty());
    }

    #[test]
    fn a_sparse_reserve_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(&*disk::system(), folder.path()).unwrap();
        directory.create(RESERVE).unwrap().set_length(RESERVE_SIZE as u64).unwrap();
        assert_eq!(
            directory.stat(RESERVE).unwrap().allocated,
            0,
            "as a copy has it that makes holes of zeros"
        );
        make_reserve_again(&directory);
        assert_eq!(directory.stat(RESERVE).unwrap().allocated, RESERVE_SIZE as u64);
        let bytes = directory.read_all(RESERVE, RESERVE_SIZE).unwrap();
        assert!(bytes.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
    }
}
