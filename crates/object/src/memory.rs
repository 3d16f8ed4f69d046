//! The memory engine: the simplest code that obeys the contract, and the model others are compared with.
//!
//! A [`Memory`] value and its clones share their pools. Each container is one map behind one lock, so all handles see every
//! write at once, and `flush` has nothing to do. Nothing outlives the last clone. A pool's URI is `memory:` or `memory:name`.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{Capabilities, Engine, Error, Pool, PoolUri, Result};

mod container;
mod extents;
mod pool;
mod state;

use pool::MemoryPool;

/// The scheme of the engine's URIs.
const SCHEME: &str = "memory";

/// What it can do beyond the core.
const CAPABILITIES: Capabilities = Capabilities {
    transactions: true,
    history: true,
    prepared_transactions: true,
    holes: true,
    snapshots: true,
    redundancy: false,
    ordered_listing: true,
    ordered_updates: true,
    pending_reads: false,
    lent_reads: true,
    multi_process: false,
    permissions: false,
    persistent: false,
};

/// An engine whose pools exist in this value and its clones.
///
/// ```
/// use isotach_object::{Engine, memory::Memory};
/// let engine = Memory::new();
/// let uri = "memory:scratch".parse()?;
/// engine.clone().create_pool(&uri)?;
/// assert!(engine.open_pool(&uri).is_ok(), "a clone has the same pools");
/// # Ok::<(), isotach_object::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Memory {
    pools: Arc<Mutex<BTreeMap<String, Arc<MemoryPool>>>>,
}

impl Memory {
    /// An engine without pools.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Engine for Memory {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        let name = pool_name(uri)?;
        let mut pools = lock(&self.pools);
        if pools.contains_key(name) {
            return Err(Error::AlreadyExists { what: format!("pool {uri}") });
        }
        pools.insert(name.to_owned(), Arc::new(MemoryPool::new(uri.clone())));
        Ok(())
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        match lock(&self.pools).get(pool_name(uri)?) {
            Some(pool) => Ok(Arc::<MemoryPool>::clone(pool)),
            None => Err(Error::not_found(format!("pool {uri}"))),
        }
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        let removed = lock(&self.pools).remove(pool_name(uri)?);
        removed.map(drop).ok_or_else(|| Error::not_found(format!("pool {uri}")))
    }
}

/// The name in a URI of this engine.
fn pool_name(uri: &PoolUri) -> Result<&str> {
    if uri.scheme() != SCHEME {
        return Err(Error::invalid(format!("store {uri}"), "a URI such as memory: or memory:name"));
    }
    uri.check_options(&[])?;
    Ok(uri.path())
}

/// Locks, even after another thread has panicked: every change is completed while the lock is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
