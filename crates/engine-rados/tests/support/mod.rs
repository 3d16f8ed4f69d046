//! Surroundings for the conformance suite: pools of ours in a pool of a cluster that `scripts/ceph-dev` has started.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "test code: a failure here is a failed test")]

use std::{
    env, process,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_engine_rados::{Rados, fault_injection};
use isotach_object::{Container, Engine, PoolUri};
use isotach_object_conformance::{FaultSet, Faults, Fixture};

/// The pool of Ceph's that `scripts/ceph-dev` makes and names.
fn ceph_pool() -> String {
    env::var("ISOTACH_RADOS_POOL").expect("a cluster: run this by `scripts/ceph-dev with`")
}

/// The pools of one test.
#[derive(Debug)]
pub(crate) struct RadosFixture {
    engine: Rados,
    options: &'static str,
    made: Mutex<Vec<PoolUri>>,
}

impl RadosFixture {
    pub(crate) fn new(options: &'static str) -> Self {
        Self { engine: Rados::new(), options, made: Mutex::default() }
    }
}

/// A name that no other test has, in this process or another.
fn unique() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    format!("test-{}-{time}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

impl Drop for RadosFixture {
    fn drop(&mut self) {
        for uri in self.made.lock().unwrap().iter() {
            let _ = self.engine.destroy_pool(uri);
        }
    }
}

impl Fixture for RadosFixture {
    fn engine(&self) -> Arc<dyn Engine> {
        // A connection takes some milliseconds and threads of its own; a new value has none of its state but that.
        Arc::new(self.engine.clone())
    }

    fn fresh_pool(&self) -> PoolUri {
        let options = if self.options.is_empty() { String::new() } else { format!("&{}", self.options) };
        let uri: PoolUri =
            format!("rados://{}/{}?timeout=60{options}", ceph_pool(), unique()).parse().unwrap();
        self.made.lock().unwrap().push(uri.clone());
        uri
    }

    fn faults(&self) -> Option<&dyn Faults> {
        Some(self)
    }
}

impl Faults for RadosFixture {
    fn set(&self) -> FaultSet {
        // A full cluster is met in the tests of three OSDs, since all pools of a cluster are full together.
        FaultSet { corruption: true, crash: true, out_of_space: false }
    }

    fn corrupt_stored(&self, uri: &PoolUri, needle: &[u8]) -> bool {
        fault_injection::corrupt_stored(uri, needle).unwrap()
    }

    fn crash(&self, container: Arc<dyn Container>) {
        std::mem::forget(container);
    }

    fn fill_up(&self, _: &PoolUri) {
        unreachable!("the set does not name it");
    }

    fn make_room(&self, _: &PoolUri) {
        unreachable!("the set does not name it");
    }
}
