//! How much room is left, and who may take some of it.
//!
//! Runs make reading faster and can be made at any time. On a disk that is nearly full their room is needed more by those
//! who write, and by the purge that is to make room again; so nobody makes runs there.

use crate::io::{directory::Directory, storage::Storage};
use isotach_engine_kit::random;

/// A handle makes a run only where this many times its size is free, and [`LEFT`] beyond that.
const TIMES: u64 = 4;
/// See [`TIMES`].
const LEFT: u64 = 4 << 20;

/// The file that keeps some room for a purge.
const RESERVE: &str = "reserve";
/// Its size: the frames that remove some hundred fields, and a floor.
const RESERVE_SIZE: usize = 64 << 10;
/// With less than this free a purge gives the reserve up.
const SHORT: u64 = 4 * RESERVE_SIZE as u64;

/// Whether a handle may make a run that takes up to `bytes`. A disk that does not say how full it is has room.
pub(crate) fn is_enough_for_run(storage: &Storage, bytes: u64) -> bool {
    let needed = bytes.saturating_mul(TIMES).saturating_add(LEFT);
    !storage.directory.free().is_ok_and(|free| free < needed)
}

/// Makes the reserve of a container, unless it is there. Where there is no room for it there is none.
///
/// It holds bytes that no file system compresses or stores as a hole. One that takes less room, as a sparse copy does, is made anew.
pub(crate) fn make_reserve(directory: &Directory) {
    if directory.stat(RESERVE).is_ok_and(|stat| stat.room >= RESERVE_SIZE as u64) {
        return;
    }
    let Ok(bytes) = random::bytes::<RESERVE_SIZE>() else { return };
    // Whoever made it may have died before it had its size.
    give_up_reserve(directory);
    let Ok(file) = directory.create(RESERVE) else { return };
    if file.write_all_at(&bytes, 0).is_err() {
        let _ = directory.remove(RESERVE);
    }
}

/// Makes it again after a purge that gave it up, if as much is free beside it: whoever purges needs some of that.
pub(crate) fn make_reserve_again(directory: &Directory) {
    if directory.free().map_or(true, |free| free >= 2 * RESERVE_SIZE as u64) {
        make_reserve(directory);
    }
}

/// Gives the room of the reserve up, so that what makes room can be written.
pub(crate) fn give_up_reserve(directory: &Directory) {
    // Who has none has nothing to give up.
    let _ = directory.remove(RESERVE);
}

/// Whether there is hardly room for what a purge begins with.
pub(crate) fn is_short(directory: &Directory) -> bool {
    directory.free().is_ok_and(|free| free < SHORT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::disk;

    #[test]
    fn a_reserve_that_was_begun_is_made_whole_and_one_that_is_whole_stays() {
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
    fn a_reserve_that_holds_no_room_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(&*disk::system(), folder.path()).unwrap();
        directory.create(RESERVE).unwrap().set_length(RESERVE_SIZE as u64).unwrap();
        assert_eq!(directory.stat(RESERVE).unwrap().room, 0, "as a copy has it that makes holes of zeros");
        make_reserve_again(&directory);
        assert_eq!(directory.stat(RESERVE).unwrap().room, RESERVE_SIZE as u64);
        let bytes = directory.read_all(RESERVE, RESERVE_SIZE).unwrap();
        assert!(bytes.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
    }
}
