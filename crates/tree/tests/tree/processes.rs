//! Processes that write and remove at the same time, and are killed.

use std::{
    env,
    ffi::OsString,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::*;

/// Where a child finds its pool, and what it does there.
const POOL: &str = "ISOTACH_TREE_TEST_POOL";
const ROLE: &str = "ISOTACH_TREE_TEST_ROLE";

const PATHS: usize = 12;

fn path(at: usize) -> String {
    format!("a/{}/{}", at % 3, at % PATHS)
}

/// Sets values, or removes directories, until it is killed.
fn work(pool: &dyn Pool, role: &str) {
    let tree = Tree::open(pool, &label()).unwrap();
    for at in 0.. {
        let outcome = match role {
            "writer" => tree.put(&path(at * 7 + at / PATHS), &vec![at as u8; 1 + at % 3 * 4096]),
            _ => tree.remove_below(["a", "a/0", "a/1", ""][at % 4]),
        };
        if !matches!(outcome, Err(Error::Conflict { .. })) {
            outcome.unwrap();
        }
    }
}

fn start(pool: &OsString, role: &str) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([
        "--exact",
        "processes::values_of_processes_that_are_killed_are_listed_and_whole",
        "--nocapture",
    ]);
    command.env(POOL, pool).env(ROLE, role).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn values_of_processes_that_are_killed_are_listed_and_whole() {
    let open = |uri: &OsString| Posix.open_pool(&uri.to_str().unwrap().parse().unwrap()).unwrap();
    if let (Some(uri), Ok(role)) = (env::var_os(POOL), env::var(ROLE)) {
        return work(&*open(&uri), &role);
    }
    let folder = tempfile::tempdir().unwrap();
    let uri = OsString::from(format!("posix:{}/pool", folder.path().display()));
    let pool = new_pool(&Posix, &uri.to_str().unwrap().parse().unwrap());
    let tree = Tree::create(&*pool, &label()).unwrap();
    for round in 0..8 {
        let (begin, last) = (Instant::now(), path(round));
        tree.put(&last, b"first").unwrap();
        let mut children = ["writer", "remover", "writer"].map(|role| start(&uri, role));
        // They work once this value is another one or gone.
        while read(&tree, &last).as_deref() == Some(b"first") {
            assert!(begin.elapsed() < Duration::from_secs(60), "no child works");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(10 + round as u64));
        for child in &mut children {
            assert!(child.try_wait().unwrap().is_none(), "a child ended by itself");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let tree = Tree::open(&*open(&uri), &label()).unwrap();
        let listed = paths(&tree, "");
        for path in (0..PATHS).map(path) {
            let value = read(&tree, &path);
            assert_eq!(value.is_some(), listed.contains(&path), "{path} in round {round}");
            assert!(
                value.is_none_or(|value| value.iter().all(|byte| *byte == value[0]) || value == b"first")
            );
        }
    }
}
