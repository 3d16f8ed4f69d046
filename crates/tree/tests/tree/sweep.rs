//! Sweeps of what dead processes left.

use std::{
    env,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::*;

/// Where a child finds its pool.
const POOL: &str = "ISOTACH_TREE_TEST_SWEPT_POOL";
/// How many values the child writes.
const WRITTEN: usize = 5;

/// Writes values in a transaction that never ends.
fn write_until_killed(uri: &str) -> ! {
    let pool = Posix.open_pool(&uri.parse().unwrap()).unwrap();
    let tree = Tree::open(&*pool, &label()).unwrap();
    tree.begin().unwrap();
    (0..WRITTEN).for_each(|at| tree.put(&format!("a/{at}"), &vec![9; LARGE]).unwrap());
    tree.flush().unwrap();
    loop {
        thread::park();
    }
}

#[test]
fn a_sweep_destroys_the_arrays_of_a_process_that_was_killed_in_a_transaction() {
    if let Ok(uri) = env::var(POOL) {
        write_until_killed(&uri);
    }
    let folder = tempfile::tempdir().unwrap();
    let uri = format!("posix:{}/pool", folder.path().display());
    let pool = new_pool(&Posix, &uri.parse().unwrap());
    let tree = Tree::create(&*pool, &label()).unwrap();
    tree.put("a/0", &vec![1; LARGE]).unwrap();
    tree.put("small", b"1").unwrap();
    tree.flush().unwrap();
    let name = "sweep::a_sweep_destroys_the_arrays_of_a_process_that_was_killed_in_a_transaction";
    let mut child = Command::new(env::current_exe().unwrap());
    let child = child.args(["--exact", name]).env(POOL, &uri).stdout(Stdio::null());
    let (mut child, begin) = (child.spawn().unwrap(), Instant::now());
    while arrays(&*pool) < 1 + WRITTEN {
        assert!(begin.elapsed() < Duration::from_secs(60), "the child writes nothing");
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((tree.sweep().unwrap(), arrays(&*pool)), (WRITTEN as u64, 1));
    assert_eq!(tree.sweep().unwrap(), 0);
    let other = Tree::open(&*pool, &label()).unwrap();
    assert_eq!(
        (paths(&other, ""), read(&other, "a/0")),
        (vec!["a/0".into(), "small".into()], Some(vec![1; LARGE]))
    );
}

#[test]
fn a_transaction_during_a_sweep_fails_and_can_be_begun_again() {
    on_each(|pool| {
        let (tree, other) = (Tree::create(pool, &label()).unwrap(), Tree::open(pool, &label()).unwrap());
        if !pool.open_container(&label()).unwrap().capabilities().transactions {
            return assert_eq!(tree.sweep().unwrap_err().code(), "unsupported");
        }
        tree.begin().unwrap();
        tree.put("a/0", &vec![1; LARGE]).unwrap();
        tree.flush().unwrap();
        assert_eq!(tree.sweep().unwrap_err().code(), "invalid-input");
        assert_eq!(other.sweep().unwrap(), 1);
        let error = tree.commit().unwrap_err();
        assert!(error.code() == "conflict" && error.to_string().contains("a sweep began"), "{error}");
        assert!(paths(&other, "").is_empty());
        tree.begin().unwrap();
        tree.put("a/0", &vec![2; LARGE]).unwrap();
        tree.commit().unwrap();
        assert_eq!((other.sweep().unwrap(), read(&other, "a/0")), (0, Some(vec![2; LARGE])));
        // Small values are in their entries, which no sweep removes.
        tree.begin().unwrap();
        tree.put("b", b"small").unwrap();
        other.sweep().unwrap();
        tree.commit().unwrap();
        assert_eq!(read(&other, "b").unwrap(), b"small");
    });
}

#[test]
fn a_swept_tree_has_a_layout_that_programs_without_fences_refuse() {
    let pool = new_pool(&Memory::new(), &"memory:pool".parse().unwrap());
    let layout = || {
        let container = pool.open_container(&label()).unwrap();
        let settings = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 0);
        container.get_many(&[Cell::kv(settings, b"layout")]).unwrap().remove(0).unwrap()
    };
    let tree = Tree::create(&*pool, &label()).unwrap();
    tree.put("a/0", b"value").unwrap();
    assert_eq!(layout(), b"tree 1");
    for _ in 0..2 {
        tree.sweep().unwrap();
        assert_eq!(layout(), b"tree 2");
        assert_eq!(read(&Tree::create(&*pool, &label()).unwrap(), "a/0"), Some(b"value".to_vec()));
    }
}

#[test]
fn a_handle_that_was_open_before_a_sweep_sets_and_removes_values_after_it() {
    on_each(|pool| {
        let (tree, other) = (Tree::create(pool, &label()).unwrap(), Tree::open(pool, &label()).unwrap());
        if !pool.open_container(&label()).unwrap().capabilities().transactions {
            return;
        }
        tree.put("a/0", &vec![1; LARGE]).unwrap();
        other.sweep().unwrap();
        tree.put("a/0", &vec![2; LARGE]).unwrap();
        assert!(tree.put_if_absent("a/1", &vec![3; LARGE]).unwrap());
        other.sweep().unwrap();
        tree.remove("a/1").unwrap();
        tree.flush().unwrap();
        assert_eq!((read(&other, "a/0"), arrays(pool)), (Some(vec![2; LARGE]), 1));
    });
}

#[test]
fn values_set_beside_sweeps_stay_whole() {
    const ROUNDS: usize = 60;
    on_each(|pool| {
        let tree = Tree::create(pool, &label()).unwrap();
        if !pool.open_container(&label()).unwrap().capabilities().transactions {
            return;
        }
        thread::scope(|scope| {
            let writers: Vec<_> = (0..3)
                .map(|writer| {
                    scope.spawn(move || {
                        let tree = Tree::open(pool, &label()).unwrap();
                        for round in 0..ROUNDS {
                            tree.put(&format!("{writer}/{}", round % 4), &vec![round as u8; 5000]).unwrap();
                        }
                    })
                })
                .collect();
            while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
                tree.sweep().unwrap();
            }
        });
        for path in paths(&tree, "") {
            let value = read(&tree, &path).unwrap();
            assert!(value.len() == 5000 && value.iter().all(|byte| *byte as usize >= ROUNDS - 4), "{path}");
        }
        tree.sweep().unwrap();
        assert_eq!(arrays(pool), 12);
    });
}
