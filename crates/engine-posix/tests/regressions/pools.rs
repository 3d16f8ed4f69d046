//! Creating pools, and the options in their URIs.

use std::fs;

use isotach_engine_posix::Posix;
use isotach_object::{ContainerOptions, Engine, PoolUri};

fn uri(path: &std::path::Path, query: &str) -> PoolUri {
    format!("posix:{}{query}", path.display()).parse().unwrap()
}

#[test]
fn a_pool_is_not_created_over_existing_containers() {
    let folder = tempfile::tempdir().unwrap();
    let pool = uri(folder.path(), "");
    Posix.create_pool(&pool).unwrap();
    let opened = Posix.open_pool(&pool).unwrap();
    opened.create_container(&"old".parse().unwrap(), &ContainerOptions::default()).unwrap();
    fs::remove_file(folder.path().join("superblock")).unwrap();
    assert_eq!(Posix.create_pool(&pool).unwrap_err().code(), "invalid-input");
    assert!(folder.path().join("containers/old/superblock").exists());
    // What a process left that died while it created a pool does not matter.
    fs::remove_dir_all(folder.path().join("containers/old")).unwrap();
    fs::write(folder.path().join("limbo/half"), b"a superblock that was never linked").unwrap();
    Posix.create_pool(&pool).unwrap();
    assert_eq!(Posix.open_pool(&pool).unwrap().list_containers().unwrap(), []);
}

#[test]
fn one_of_several_simultaneous_creators_of_a_pool_succeeds() {
    for _ in 0..100 {
        let folder = tempfile::tempdir().unwrap();
        let pool = uri(folder.path(), "");
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            // The winner continues as a program does, so the others find a pool in use.
            let make = || {
                Posix.create_pool(&pool)?;
                Posix.open_pool(&pool)?.create_container(&"root".parse()?, &ContainerOptions::default())
            };
            let makers: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        let others = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
        assert!(others.clone().all(|error| error.code() == "already-exists"), "{outcomes:?}");
        assert_eq!(others.count(), 3);
        Posix.open_pool(&pool).unwrap();
    }
}

#[test]
fn simultaneous_creators_and_destroyers_see_expected_errors_only() {
    let folder = tempfile::tempdir().unwrap();
    let uri = uri(folder.path(), "?sync=no");
    Posix.create_pool(&uri).unwrap();
    let pool = Posix.open_pool(&uri).unwrap();
    let label = "c".parse().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..300 {
                    let made = pool.create_container(&label, &ContainerOptions::default());
                    assert!(made.as_ref().err().is_none_or(|e| e.code() == "already-exists"), "{made:?}");
                    let gone = pool.destroy_container(&label);
                    assert!(gone.as_ref().err().is_none_or(|e| e.code() == "not-found"), "{gone:?}");
                }
            });
        }
    });
}

#[test]
fn checkpoint_intervals_out_of_range_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |bytes: &str| Posix.create_pool(&uri(folder.path(), &format!("?checkpoint={bytes}")));
    for wrong in ["0", "255", "1099511627777", "18446744073709551615", "99999999999999999999", "-1", "4k", ""]
    {
        assert_eq!(open(wrong).unwrap_err().code(), "invalid-input", "{wrong}");
    }
    open("1099511627776").unwrap();
    let pool = Posix.open_pool(&uri(folder.path(), "?checkpoint=1099511627776")).unwrap();
    pool.create_container(&"c".parse().unwrap(), &ContainerOptions::default()).unwrap();
    let container = pool.open_container(&"c".parse().unwrap()).unwrap();
    crate::put_frames(&*container, 0..3);
    crate::assert_holds(&*container, 0..3, "with the longest interval");
}
