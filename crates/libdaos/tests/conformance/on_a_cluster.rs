//! The conformance program on a cluster. Each subject has a process with a pool of its own: it waits for the cluster most of the time.

use std::{
    env,
    path::Path,
    process::{self, Command},
    thread,
    time::UNIX_EPOCH,
};

use isotach_engine_rados::Rados;
use isotach_object::Engine;

use super::{Checked, checked, compare, conformance};
use crate::bench::{Bench, printed};

/// All subjects but transactions and snapshots.
const SUBJECTS: [&str; 14] = [
    "pool.",
    "container.",
    "oid.",
    "kv.",
    "kv_list.",
    "array.",
    "array_size.",
    "object",
    "event.",
    "prop.",
    "acl.",
    "handle.",
    "errors.",
    "dfs_",
];

/// Programs, and the pool of Ceph's that their pools are in.
struct Cluster {
    bench: Bench,
    pool: String,
}

impl Cluster {
    /// Acts on a command of a program with a new pool of this name, its last word.
    fn with_pool<T>(&self, name: &str, program: &Path, words: &[&str], act: impl FnOnce(Command) -> T) -> T {
        let Self { bench, pool } = self;
        // A name that no other test has.
        let label = format!("daos-{}-{}-{name}", process::id(), UNIX_EPOCH.elapsed().unwrap().as_micros());
        let uri = format!("rados://{pool}/{label}?timeout=60").parse().unwrap();
        let engine = Rados::new();
        engine.create_pool(&uri).unwrap();
        let mut command = bench.command(program, &[words, &[&label]].concat());
        command.env("ISOTACH_DAOS_ROOT", format!("rados://{pool}?timeout=60"));
        command.env("D_LOG_FILE", bench.0.path().join(format!("log-{name}")));
        let found = act(command);
        engine.destroy_pool(&uri).unwrap();
        found
    }
}

#[test]
fn on_a_cluster_programs_find_all_but_what_the_engine_cannot_do() {
    let Ok(pool) = env::var("ISOTACH_RADOS_POOL") else { panic!("run this by `scripts/ceph-dev with`") };
    let cluster = Cluster { bench: Bench::new(), pool };
    let program = conformance(&cluster.bench);
    let check = &|number: usize| {
        let name = number.to_string();
        cluster.with_pool(&name, &program, &["--pool"], |command| checked(command, SUBJECTS[number]))
    };
    let mut all = Checked::default();
    thread::scope(|scope| {
        let checks: Vec<_> = (0..SUBJECTS.len()).map(|number| scope.spawn(move || check(number))).collect();
        for Checked { passed, failed, printed } in checks.into_iter().map(|check| check.join().unwrap()) {
            all.passed.extend(passed);
            all.failed.extend(failed);
            all.printed += &printed;
        }
    });
    compare(&all, "conformance/not-on-rados.txt");
    let fork = cluster.bench.program("fork");
    cluster.with_pool("fork", &fork, &[], |mut command| printed(&mut command));
}
