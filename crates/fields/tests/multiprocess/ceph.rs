//! The tests on a disposable Ceph cluster: `ISOTACH_RADOS_POOL` names its pool. Without one they are reported as
//! skipped.

use std::{
    env, process,
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_engine_rados::Rados;
use isotach_needs::{Need, skip};
use isotach_object::{Engine, PoolUri};

use crate::{kills, number, run_processes};

const SECONDS: u64 = 10;
/// Writers, and as many readers.
const SIZE: u64 = 4;
const KILLS: u64 = 10;

/// A pool of a test's own.
struct OwnPool(PoolUri);

impl OwnPool {
    /// `None` without a cluster, which is reported.
    fn new(test: &str) -> Option<Self> {
        let Some(ceph_pool) = env::var("ISOTACH_RADOS_POOL").ok().filter(|pool| !pool.is_empty()) else {
            skip(Need::Ceph, "ISOTACH_RADOS_POOL names no pool of a Ceph cluster");
            return None;
        };
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
        let uri = format!("rados://{ceph_pool}/{test}-{}-{time}", process::id());
        Some(Self(uri.parse().unwrap()))
    }
}

impl Drop for OwnPool {
    fn drop(&mut self) {
        let _ = Rados::new().destroy_pool(&self.0);
    }
}

#[test]
fn concurrent_processes_on_rados_see_whole_fields_and_the_same_history() {
    let Some(pool) = OwnPool::new("processes") else { return };
    run_processes(&pool.0.to_string(), number("ISOTACH_MULTIPROCESS_SECONDS", SECONDS), SIZE);
}

#[test]
fn processes_with_a_posix_catalogue_and_a_rados_store_see_the_same_history() {
    let Some(pool) = OwnPool::new("processes-bytes") else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = format!("posix:{}/catalogue?checkpoint=262144|{}", folder.path().display(), pool.0);
    run_processes(&place, number("ISOTACH_MULTIPROCESS_SECONDS", SECONDS), SIZE);
}

#[test]
fn no_flushed_field_on_rados_is_lost_when_processes_are_killed_at_any_moment() {
    let Some(pool) = OwnPool::new("kills") else { return };
    kills::kill_again_and_again(&pool.0.to_string(), number("ISOTACH_KILLS", KILLS));
}
