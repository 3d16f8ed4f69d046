//! The surroundings of the memory engine, which are none.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::Fixture;
use isotach_object::{Engine, PoolUri, memory::Memory};

/// The fixture of [`Memory`]: all its engine values are clones of one.
#[derive(Debug, Default)]
pub struct MemoryFixture {
    engine: Memory,
    pools: AtomicU64,
}

impl MemoryFixture {
    /// A fixture without pools.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Fixture for MemoryFixture {
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(self.engine.clone())
    }

    fn fresh_pool(&self) -> PoolUri {
        let number = self.pools.fetch_add(1, Ordering::Relaxed);
        format!("memory:pool-{number}").parse().unwrap()
    }
}
