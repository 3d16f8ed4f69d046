//! The engine on DAOS: `daos://POOL[?OPTION=VALUE&...]`.
//!
//! A pool is one of DAOS's, a container is a container, and objects are objects, with the ids that they have here: DAOS's model
//! is ours. `docs/engines/daos.md` has the knowledge for administrators and the differences of the two.
//!
//! libdaos is loaded at run time, so that the program builds and starts without DAOS; it must be the site's own, of the release of
//! its agent. The modules, from the bottom: `ffi` (libdaos), `space` (an open container), `keys` (how cells lie in objects), `read`,
//! `changes` and `edits` (what is to change), `apply` and `commit` (how), `pipeline` (what a handle has taken), `container`, `pool`.
//!
//! ```no_run
//! use isotach_engine_daos::Daos;
//! use isotach_object::Engine;
//!
//! let pool = Daos::new().open_pool(&"daos://tank".parse()?)?;
//! println!("{:?}", pool.list_containers()?);
//! # Ok::<(), isotach_object::Error>(())
//! ```

mod apply;
mod changes;
mod commit;
mod container;
mod dmg;
mod edits;
mod failure;
mod ffi;
mod keys;
mod listing;
mod options;
mod pipeline;
mod pool;
mod properties;
mod read;
mod rights;
mod snapshots;
mod space;
mod walk;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use isotach_object::{Capabilities, Engine, Error, Pool, PoolUri, Result};

use failure::{failed, not_installed};
use ffi::Session;
use options::{CAPABILITIES, Options, SCHEME};
use pool::{DaosPool, not_connected};

/// The connected pools, by label and system.
type Pools = HashMap<(String, Option<String>), Arc<ffi::Pool>>;

#[derive(Debug, Default)]
struct Connections {
    pools: Pools,
    session: Option<Arc<Session>>,
}

/// The engine. A pool stays connected until this value and its copies are dropped.
#[derive(Debug, Clone, Default)]
pub struct Daos {
    connections: Arc<Mutex<Connections>>,
}

impl Daos {
    /// The engine, without any connection.
    pub fn new() -> Self {
        Self::default()
    }

    fn connect(&self, uri: &PoolUri, options: &Options) -> Result<(Arc<Session>, Arc<ffi::Pool>)> {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let session = match &connections.session {
            Some(session) if session.is_of_this_process() => Arc::clone(session),
            _ => {
                let begun = Session::begin().map_err(not_installed)?;
                let session = begun.map_err(|der| failed(der, "begin to use DAOS"))?;
                *connections = Connections { pools: Pools::new(), session: Some(Arc::clone(&session)) };
                session
            }
        };
        let key = (options.pool.clone(), options.system.clone());
        // A pool that was removed and created anew has the same label.
        if let Some(pool) = connections.pools.get(&key).filter(|pool| pool.ping().is_ok()) {
            return Ok((session, Arc::clone(pool)));
        }
        let pool = ffi::Pool::connect(&session, &options.pool, options.system.as_deref());
        let pool = Arc::new(pool.map_err(|der| not_connected(der, uri))?);
        connections.pools.insert(key, Arc::clone(&pool));
        Ok((session, pool))
    }

    fn disconnect(&self, options: &Options) {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.pools.remove(&(options.pool.clone(), options.system.clone()));
    }
}

impl Engine for Daos {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        let options = Options::of(uri)?;
        // A user of a pool is no administrator, and may not have `dmg`.
        match self.connect(uri, &options) {
            Ok(_) => Err(Error::AlreadyExists { what: format!("pool {uri}") }),
            Err(Error::NotFound { .. }) => dmg::create(uri, &options),
            Err(error) => Err(error),
        }
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        let options = Options::of(uri)?;
        let (session, pool) = self.connect(uri, &options)?;
        Ok(Arc::new(DaosPool::new(uri, options, session, pool)))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        let options = Options::of(uri)?;
        self.disconnect(&options);
        dmg::destroy(uri, &options)
    }
}
