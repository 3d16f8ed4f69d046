//! The seam: what an engine implements.
//!
//! [`Engine`], [`Pool`](crate::Pool) and [`Container`](crate::Container) are the core: every method, no default bodies, so that a
//! wrapper that forgets one does not compile. What only some engines have is a [facet](crate::facets), a small trait of its own.
//! `docs/engines/writing-one.md` describes a new engine step by step.
//!
//! Promises that hold for every engine:
//! - A reader sees each update whole or not at all, at every moment.
//! - A handle sees its own updates at once. Others see them at the latest when [`Container::flush`](crate::Container::flush) has
//!   returned, and in the order of the handle where the engine has [`Capabilities::ordered_updates`].
//! - One call of `get_many`, `size_many`, `read_many` or a list answers from one state of the container, where the engine has
//!   [`Capabilities::transactions`]: of what a transaction changed it shows all or nothing.
//! - Flushed updates are durable, if the engine is [`Capabilities::persistent`].
//! - Every stored byte is checked against its checksum when it is read: wrong bytes are [`crate::Error::Corrupt`], never an answer.
//! - No call blocks another process, and every trait may be used from several threads at once.

use std::{fmt::Debug, sync::Arc};

use crate::{Capabilities, Pool, PoolUri, Result};

/// A kind of storage, named by the scheme of its URIs.
///
/// **Required**: every method.
///
/// **What an engine may assume**: nothing of the URI but that its scheme is the engine's: it checks path and options, and refuses an
/// option that it does not know. Several engine values, in this and other processes, create, open and destroy pools at the same
/// time; of several that create one pool, one succeeds. An engine value and its pools are used from several threads.
///
/// **Durability**: a pool that was created or destroyed stays so after a crash once the call has
/// returned, where the engine is [`Capabilities::persistent`].
pub trait Engine: Debug + Send + Sync {
    /// The scheme of this engine's URIs: `posix`, `memory`, ...
    fn scheme(&self) -> &'static str;

    /// The guarantees of this engine beyond the core, and the facets that its pools and containers have.
    fn capabilities(&self) -> Capabilities;

    /// Creates an empty pool.
    ///
    /// # Errors
    /// `AlreadyExists`, `InvalidInput` for a URI that the engine cannot use, `PermissionDenied`, `Io`;
    /// `Unsupported` where the storage cannot keep the engine's promises.
    fn create_pool(&self, uri: &PoolUri) -> Result<()>;

    /// Connects to a pool.
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput` when the storage holds something else than a pool, `Unsupported` when it has a newer format.
    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>>;

    /// Removes a pool with everything in it.
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput` when the storage holds something else than a pool.
    fn destroy_pool(&self, uri: &PoolUri) -> Result<()>;
}
