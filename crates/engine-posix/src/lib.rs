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

impl Engine for Posix {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        OnDisk(disk::system()).create_pool(uri)
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        OnDisk(disk::system()).open_pool(uri)
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        OnDisk(disk::system()).destroy_pool(uri)
    }
}

/// The posix engine for programs that only read. Its handles make no runs, so reading a container writes nothing to it. Otherwise they are
/// those of [`Posix`].
#[derive(Debug, Clone, Copy, Default)]
pub struct PosixOnlooker;

impl Engine for PosixOnlooker {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        Posix.create_pool(uri)
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        let (root, options) = options::parse(uri)?;
        let options = options::Options { checkpoint: options::CHECKPOINT_MAX, ..options };
        Ok(Arc::new(PosixPool::open(&disk::system(), uri, root, options)?))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        Posix.destroy_pool(uri)
    }
}

/// The engine on any disk.
#[derive(Debug)]
struct OnDisk(Arc<dyn Folder>);

impl Engine for OnDisk {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(&*self.0)
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        pool::create(&*self.0, &options::parse(uri)?.0)
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        let (root, options) = options::parse(uri)?;
        Ok(Arc::new(PosixPool::open(&self.0, uri, root, options)?))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        pool::destroy(&*self.0, &options::parse(uri)?.0)
    }
}
