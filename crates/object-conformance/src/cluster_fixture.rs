//! A [`Fixture`] on a system that tests share: pools whose names no other test has, in this process or another.

use std::{
    fmt, process,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_object::{Engine, PoolUri};

use crate::{FaultSet, Faults, Fixture};

/// The function that injects [`Faults::corrupt_stored`].
type Corrupt = fn(&PoolUri, &[u8]) -> bool;

/// The pools of one test.
pub struct ClusterFixture {
    engine: Arc<dyn Engine>,
    uri_of: Box<dyn Fn(String) -> String + Send + Sync>,
    corrupt: Option<Corrupt>,
    made: Mutex<Vec<PoolUri>>,
}

impl ClusterFixture {
    /// Pools at the URIs of their names. A connection takes some time and threads of its own, so a test has one.
    pub fn new(
        engine: impl Engine + 'static,
        uri_of: impl Fn(String) -> String + Send + Sync + 'static,
    ) -> Self {
        Self { engine: Arc::new(engine), uri_of: Box::new(uri_of), corrupt: None, made: Mutex::default() }
    }

    /// With a way to damage what is stored.
    #[must_use]
    pub fn corrupted_by(mut self, corrupt: fn(&PoolUri, &[u8]) -> bool) -> Self {
        self.corrupt = Some(corrupt);
        self
    }
}

impl fmt::Debug for ClusterFixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterFixture").field("made", &self.made).finish_non_exhaustive()
    }
}

impl Drop for ClusterFixture {
    fn drop(&mut self) {
        for uri in self.made.lock().unwrap().iter() {
            let _ = self.engine.destroy_pool(uri);
        }
    }
}

impl Fixture for ClusterFixture {
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.engine)
    }

    fn fresh_pool(&self) -> PoolUri {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
        let name = format!("test-{}-{time}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let uri: PoolUri = (self.uri_of)(name).parse().unwrap();
        self.made.lock().unwrap().push(uri.clone());
        uri
    }

    fn faults(&self) -> Option<&dyn Faults> {
        Some(self)
    }
}

impl Faults for ClusterFixture {
    fn set(&self) -> FaultSet {
        // All pools of a cluster are full together.
        FaultSet { corruption: self.corrupt.is_some(), crash: true, out_of_space: false }
    }

    fn corrupt_stored(&self, uri: &PoolUri, needle: &[u8]) -> bool {
        self.corrupt.is_some_and(|corrupt| corrupt(uri, needle))
    }

    fn fill_up(&self, _: &PoolUri) {
        unreachable!("the set does not name it");
    }

    fn make_room(&self, _: &PoolUri) {
        unreachable!("the set does not name it");
    }
}
