//! Pools and containers as C programs meet them that others make, remove, or die at.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

mod bench;

use bench::Bench;

#[test]
fn a_root_without_pools_is_told_to_be_wrong_and_how() {
    let bench = Bench::new();
    let fields = bench.compile("fields", &["tests/c/fields.c"]);
    let folder = bench.0.path();
    for (root, why) in [("absent", "No such file"), ("root/tank", "is a pool itself")] {
        let mut command = bench.command(&fields, &["read", "tank", "fields"]);
        let told = command.env("ISOTACH_DAOS_ROOT", folder.join(root)).output().unwrap();
        let said = String::from_utf8_lossy(&told.stderr);
        let line = said.lines().find(|line| line.contains("DER_NONEXIST: no pool is found in")).unwrap();
        assert!(!told.status.success() && line.contains(root) && line.contains(why), "{said}");
    }
}

#[test]
fn a_process_that_is_killed_while_it_makes_containers_leaves_each_whole_or_none() {
    let bench = Bench::new();
    let program = bench.compile("killed", &["tests/c/killed.c"]);
    bench.run(&program, &["tank", "60"]);
}

#[test]
fn what_is_open_in_a_container_that_is_destroyed_is_of_nothing_any_more() {
    let bench = Bench::new();
    let program = bench.compile("destroyed", &["tests/c/destroyed.c"]);
    bench.run(&program, &["tank"]);
}

#[test]
fn processes_that_make_the_same_pool_at_once_all_connect_to_it() {
    let bench = Bench::new();
    let program = bench.compile("pool_race", &["tests/c/pool_race.c"]);
    bench.run(&program, &["60"]);
}

#[test]
fn properties_and_attributes_are_kept_copied_and_told() {
    let bench = Bench::new();
    let kept = bench.compile("kept", &["tests/c/kept.c"]);
    bench.run(&kept, &["tank"]);
}
