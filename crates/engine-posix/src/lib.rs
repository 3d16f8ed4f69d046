//! The posix engine: a container is one append-only log that all processes share, and a data file per
//! writing process. No server, no lock.
//!
//! The kernel orders appends, so the log is a total order of everything that happened in the container, and
//! an epoch is a position in it. Contention is settled by replaying that order: every process comes to the
//! same verdict about every frame. `docs/FORMAT.md` specifies every byte.
//!
//! From the bottom up: `superblock`, `extent`, `path`, `record` and `frame` are the
//! format; `disk` is the way to files; `directory`, `log`, `data` and `map` do the I/O; `ops`, `entry`, `raw`, `table`, `run` and `merge`
//! are the state that a log amounts to, `state` replays it, `checkpoint` writes it down as runs, `chain` chooses among
//! them and `purge` makes them anew, with a `floor` below which the log says nothing any more, `room` says who may take the
//! last of the disk; `writer` appends, `boot` and
//! `lost` tell what a power failure took and `staging` gathers what is to count together, `commit` learns whether it does;
//! `prepared` keeps it for whoever commits it; `handle` joins the two, `rights`, `posix_acl` and `people` say who may; `look`,
//! `reading` and `listing` look, `snapshot` names what was; `verify` looks at everything
//! and `aside` keeps what it found damaged; `container`, `pool` and this file are the object model's traits. `simulation`
//! is a disk for tests.

mod aside;
mod boot;
mod chain;
mod checkpoint;
mod commit;
mod container;
mod data;
mod directory;
mod disk;
mod entry;
mod extent;
mod filesystem;
mod floor;
mod flushed;
mod frame;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod handle;
mod listing;
mod log;
mod look;
mod lost;
mod map;
mod merge;
mod ops;
mod options;
mod path;
mod people;
mod pool;
mod posix_acl;
mod prepared;
mod purge;
mod raw;
mod reading;
mod record;
mod restore;
mod rights;
mod room;
mod run;
#[cfg(feature = "simulation")]
pub mod simulation;
mod snapshot;
mod staging;
mod state;
mod superblock;
mod sync;
mod table;
mod verdict;
mod verify;
mod writeback;
mod writer;

use std::sync::Arc;

use isotach_object::{Capabilities, Engine, Pool, PoolUri, Result};

use crate::{disk::Folder, pool::PosixPool};

/// The scheme of this engine's URIs.
const SCHEME: &str = "posix";

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
    multi_process: true,
    permissions: true,
    persistent: true,
};

/// What the engine can do on a disk.
fn capabilities(disk: &dyn Folder) -> Capabilities {
    Capabilities { multi_process: disk.is_shared(), permissions: disk.is_shared(), ..CAPABILITIES }
}

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

/// The posix engine of a program that only looks. Its handles make no runs, so that nothing is written to a container that
/// is read; all else they do as those of [`Posix`].
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
        let options = options::Options { checkpoint: options::MAX_CHECKPOINT, ..options };
        Ok(Arc::new(PosixPool::open(&disk::system(), uri, root, options)?))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        Posix.destroy_pool(uri)
    }
}

/// The engine on some disk.
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
