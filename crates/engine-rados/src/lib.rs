//! The engine on Ceph's object store, RADOS: `rados://POOL[/NAME][?OPTION=VALUE&...]`.
//!
//! A pool is a namespace of a Ceph pool, with an object that lists its containers. A container is a namespace with a header object.
//! A key-value or general object is an omap, and several omaps once it is large. An array is an object with its bytes and a table
//! of pieces. `docs/engines/rados.md` says why, and what an administrator has to know.
//!
//! librados is loaded at run time, so that the program builds and starts without Ceph. The modules, from the bottom:
//! `ffi` (librados), `omaps` (entries), `arrays` (bytes), `pipeline` (what a handle has taken), `container`, `pool`.
//!
//! ```no_run
//! use isotach_engine_rados::Rados;
//! use isotach_object::Engine;
//!
//! let uri = "rados://fields?user=isotach".parse()?;
//! Rados::new().create_pool(&uri)?;
//! # Ok::<(), isotach_object::Error>(())
//! ```

mod arrays;
mod commit;
mod container;
mod entry;
mod failure;
#[cfg(feature = "cluster")]
pub mod fault_injection;
mod ffi;
mod ids;
mod keys;
mod listing;
mod omaps;
mod options;
mod pipeline;
mod pool;
mod purge;
#[cfg(feature = "cluster")]
pub mod raw;
mod registry;
mod space;
mod table;
mod verify;

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use isotach_object::{Capabilities, Engine, Error, Pool, PoolUri, Result};

use ffi::{Cluster, Errno};
use options::{Options, SCHEME};
use pool::RadosPool;

/// What the engine can do beyond the core.
const CAPABILITIES: Capabilities = Capabilities {
    transactions: false,
    history: false,
    prepared_transactions: false,
    holes: true,
    snapshots: false,
    redundancy: false,
    ordered_listing: false,
    ordered_updates: false,
    pending_reads: true,
    lent_reads: false,
    multi_process: true,
    permissions: false,
    persistent: true,
};

/// What decides which connection a pool needs.
type Key = (Option<String>, String, Option<String>, u64);

/// The engine. Pools of one cluster that are opened by one value, as one user, share a connection.
#[derive(Debug, Clone, Default)]
pub struct Rados {
    clusters: Arc<Mutex<HashMap<Key, Weak<Cluster>>>>,
}

impl Rados {
    /// The engine, without any connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether librados is on this machine.
    pub fn is_installed() -> bool {
        ffi::is_installed()
    }

    fn pool(&self, uri: &PoolUri) -> Result<RadosPool> {
        let options = Options::of(uri)?;
        let cluster = self.cluster(&options)?;
        RadosPool::at(uri, cluster, options)
    }

    /// The existing connection, or a new one.
    fn cluster(&self, options: &Options) -> Result<Arc<Cluster>> {
        let seconds = options.timeout.as_secs();
        let key = (options.conf.clone(), options.user.clone(), options.keyring.clone(), seconds);
        let mut clusters = self.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cluster) = clusters.get(&key).and_then(Weak::upgrade) {
            return Ok(cluster);
        }
        let cluster = connect(options)?;
        clusters.insert(key, Arc::downgrade(&cluster));
        Ok(cluster)
    }
}

fn connect(options: &Options) -> Result<Arc<Cluster>> {
    let seconds = options.timeout.as_secs().to_string();
    let timeouts = ["client_mount_timeout", "rados_mon_op_timeout", "rados_osd_op_timeout"];
    let mut settings = timeouts.map(|name| (name, seconds.clone())).to_vec();
    // What librados has to say is in its errors; an error of ours is one line.
    settings.extend(["log_to_stderr", "err_to_stderr"].map(|name| (name, "false".to_owned())));
    settings.extend(options.keyring.clone().map(|keyring| ("keyring", keyring)));
    Cluster::connect(&options.user, options.conf.as_deref(), &settings)
        .map_err(|(what, errno)| refused(&what, errno, options))
}

/// Why there is no connection, and what to do.
fn refused(what: &str, errno: Option<Errno>, options: &Options) -> Error {
    let Some(errno) = errno else {
        return Error::Unsupported {
            engine: SCHEME,
            what: format!("a machine without librados ({what}); install it (Debian: librados2)"),
        };
    };
    let source = io::Error::from_raw_os_error(errno.0);
    let what = format!("Ceph cluster of pool {:?}, as user {:?}: {what}", options.pool, options.user);
    match errno.0 {
        libc::EPERM | libc::EACCES => Error::PermissionDenied {
            what: format!("{what}: {source}; check that the key in the keyring is this user's"),
            source: Some(source),
        },
        libc::ENOENT => Error::Io {
            what: format!(
                "{what}: a configuration or keyring does not exist; name them by the options conf and keyring, or by CEPH_CONF and CEPH_KEYRING"
            ),
            source: Box::new(source),
        },
        libc::ETIMEDOUT => Error::Io {
            what: format!(
                "{what}: no monitor answers within {} s; look at `ceph status`, and at mon_host in the configuration",
                options.timeout.as_secs()
            ),
            source: Box::new(source),
        },
        _ => Error::Io { what, source: Box::new(source) },
    }
}

impl Engine for Rados {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        self.pool(uri)?.create()
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        let pool = self.pool(uri)?;
        pool.check()?;
        Ok(Arc::new(pool))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        self.pool(uri)?.destroy()
    }
}
