//! Surroundings for the conformance suite: pools that `dmg` makes.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

use std::{
    env, process,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_engine_daos::Daos;
use isotach_object::{Container, Engine, PoolUri};
use isotach_object_conformance::{FaultSet, Faults, Fixture};

/// The pools of one test.
#[derive(Debug)]
pub(crate) struct DaosFixture {
    engine: Daos,
    options: &'static str,
    made: Mutex<Vec<PoolUri>>,
}

impl DaosFixture {
    pub(crate) fn new(options: &'static str) -> Self {
        Self { engine: Daos::new(), options, made: Mutex::default() }
    }
}

/// A name that no other test has, in this process or another.
fn unique() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    format!("test-{}-{time}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

impl Drop for DaosFixture {
    fn drop(&mut self) {
        for uri in self.made.lock().unwrap().iter() {
            let _ = self.engine.destroy_pool(uri);
        }
    }
}

impl Fixture for DaosFixture {
    fn engine(&self) -> Arc<dyn Engine> {
        // A connection is for the life of a process; a new value has none of its state but that.
        Arc::new(self.engine.clone())
    }

    fn fresh_pool(&self) -> PoolUri {
        // On a DAOS system the pools of tests share it: ISOTACH_DAOS_POOL_SIZE says how large each is, as `dmg` takes it.
        let size = env::var("ISOTACH_DAOS_POOL_SIZE").unwrap_or_default();
        let uri: PoolUri = format!("daos://{}?size={size}{}", unique(), self.options).parse().unwrap();
        self.made.lock().unwrap().push(uri.clone());
        uri
    }

    fn faults(&self) -> Option<&dyn Faults> {
        Some(self)
    }
}

impl Faults for DaosFixture {
    fn set(&self) -> FaultSet {
        // What is stored is DAOS's, and so is the space.
        FaultSet { corruption: false, crash: true, out_of_space: false }
    }

    fn corrupt_stored(&self, _: &PoolUri, _: &[u8]) -> bool {
        unreachable!("the set does not name it");
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
