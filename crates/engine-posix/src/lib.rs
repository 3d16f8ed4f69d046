//! The posix engine: a container is one append-only log that all processes share, and data files for each writing process. There is no
//! server and no lock.
//!
//! The kernel orders appends, so the log is a total order of everything that happened in the container, and an epoch is a position in it.
//! Contention is settled by replaying that order: every process comes to the same verdict on every frame. `docs/FORMAT.md` specifies every
//! byte.
//!
//! From the bottom up: `format` encodes the bytes on the device, and `io` reads and writes them. `index` holds the state of a log.
//! `transaction` commits updates, `read` answers from the state, and `access` holds the rights. `purge` frees space, and `verify` finds and
//! repairs damage. `handle` joins these for one open container. `container`, `pool` and this file implement the object model's traits.
//! `simulation` is a disk for tests.

mod access;
mod capability;
mod container;
mod format;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod handle;
mod index;
mod io;
mod options;
mod pool;
mod purge;
mod read;
#[cfg(feature = "simulation")]
pub mod simulation;
mod sync;
#[cfg(test)]
mod testing;
mod transaction;
mod verify;

use std::sync::Arc;

use isotach_object::{Capabilities, Engine, Pool, PoolUri, Result};

use crate::{
    capability::{CAPABILITIES, SCHEME, capabilities},
    io::disk::{self, Folder},
    pool::PosixPool,
};

/// The posix engine: `posix:/path`, with the options `?sync=no` (a scratch store: `flush` makes visible but
/// does not wait for the device), `?checkpoint=BYTES` (of log between checkpoints; default 1 MiB) and `?segment=BYTES` (of
/// a staged transaction's records that are held in memory; default 4 MiB).
///
/// ```
/// use isotach_engine_posix::Posix;
/// use isotach_object::{ContainerOptions, Engine, KeyValue, ObjectClass, ObjectId, ObjectType, PoolUri};
///
/// let folder = tempfile::tempdir()?;
/// let uri: PoolUri = format!("posix:{}/pool", folder.path().display()).parse()?;
/// Posix.create_pool(&uri)?;
/// let pool = Posix.open_pool(&uri)?;
/// pool.create_container(&"forecast".parse()?, &ContainerOptions::default())?;
/// let container = pool.open_container(&"forecast".parse()?)?;
///
/// let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
/// KeyValue::new(&*container, object)?.put(b"step=6", b"somewhere")?;
/// container.flush()?;
///
/// let reader = pool.open_container(&"forecast".parse()?)?;
/// assert_eq!(KeyValue::new(&*reader, object)?.get(b"step=6")?, Some(b"somewhere".to_vec()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Posix;

/// The posix engine for programs that only read. Its handles make no runs, so reading a container writes nothing to it. Otherwise they are
/// those of [`Posix`].
#[derive(Debug, Clone, Copy, Default)]
pub struct PosixOnlooker;

/// The engine on any disk.
#[derive(Debug)]
struct OnDisk {
    disk: Arc<dyn Folder>,
    /// Whether its handles make runs.
    makes_runs: bool,
}

impl OnDisk {
    fn system(makes_runs: bool) -> Self {
        Self { disk: disk::system(), makes_runs }
    }
}

impl Engine for OnDisk {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(&*self.disk)
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        pool::create(&*self.disk, &options::parse(uri)?.0)
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        let (root, mut options) = options::parse(uri)?;
        if !self.makes_runs {
            options.checkpoint = options::CHECKPOINT_MAX;
        }
        Ok(Arc::new(PosixPool::open(&self.disk, uri, root, options)?))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        pool::destroy(&*self.disk, &options::parse(uri)?.0)
    }
}

macro_rules! engine_on_the_system {
    ($engine:ty, $makes_runs:literal) => {
        impl Engine for $engine {
            fn scheme(&self) -> &'static str {
                SCHEME
            }

            fn capabilities(&self) -> Capabilities {
                CAPABILITIES
            }

            fn create_pool(&self, uri: &PoolUri) -> Result<()> {
                OnDisk::system($makes_runs).create_pool(uri)
            }

            fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
                OnDisk::system($makes_runs).open_pool(uri)
            }

            fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
                OnDisk::system($makes_runs).destroy_pool(uri)
            }
        }
    };
}

engine_on_the_system!(Posix, true);
engine_on_the_system!(PosixOnlooker, false);
