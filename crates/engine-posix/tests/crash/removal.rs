//! Making and removing a pool, cut off at every moment by a kill or a power failure: it can be removed, and made again.

use isotach_engine_posix::simulation::{Loss, SimulatedDisk};
use isotach_object::{Error, PoolUri};

use crate::{seed, workload::POOL};

#[test]
fn a_pool_whose_making_or_removal_was_cut_off_at_any_moment_can_be_removed_and_made_again() {
    let (seed, disk) = (seed(), SimulatedDisk::new());
    let uri: PoolUri = POOL.parse().unwrap();
    let engine = disk.engine();
    engine.create_pool(&uri).unwrap();
    let pool = engine.open_pool(&uri).unwrap();
    for label in ["a", "b"] {
        pool.create_container(&label.parse().unwrap()).unwrap();
    }
    engine.destroy_pool(&uri).unwrap();
    assert!(disk.files().is_empty());
    for changes in 0..=disk.changes() {
        for loss in [Loss::All, Loss::Nothing, Loss::Seeded(seed ^ changes as u64)] {
            let left = disk.after_crash(changes, loss);
            let engine = left.engine();
            let case = format!("ISOTACH_SEED={seed}: after {changes} changes, {loss:?}");
            match engine.destroy_pool(&uri) {
                // What was never whole is no pool, and is removed all the same, unless it is but an empty folder.
                Ok(()) | Err(Error::NotFound { .. } | Error::InvalidInput { .. }) => {}
                Err(error) => panic!("{case}: {error}"),
            }
            assert!(left.files().is_empty(), "{case}: {:?}", left.files());
            engine.create_pool(&uri).unwrap_or_else(|error| panic!("{case}: {error}"));
            engine.open_pool(&uri).unwrap();
        }
    }
}
