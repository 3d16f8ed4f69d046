//! The object model: what every engine stores and promises, and nothing about how.
//!
//! A **pool** holds **containers**. A container has its own address space of **objects** and its own
//! history of **transactions**, counted in **epochs**. An object has a 128-bit [`ObjectId`], which carries
//! its type and its object class, and is a key-value object, an array of bytes, or is addressed in the
//! general form by distribution key and attribute key. This is the model of DAOS; see `docs/concepts.md`.
//!
//! Engines implement [`Engine`], [`Pool`] and [`Container`]: synchronous, in batches, no default bodies. What only some engines
//! have is in [`facets`]. Callers mostly use the typed handles [`KeyValue`] and [`Array`]. [`memory`] is the executable model that
//! other engines are compared with by the suite in the crate `isotach-object-conformance`.
//!
//! ```
//! use isotach_object::{Array, ContainerOptions, Engine, KeyValue, Label, ObjectClass, ObjectId, ObjectType, PoolUri};
//! use isotach_object::memory::Memory;
//!
//! let engine = Memory::new();
//! let uri: PoolUri = "memory:doc".parse()?;
//! engine.create_pool(&uri)?;
//! let pool = engine.open_pool(&uri)?;
//! let label: Label = "forecast".parse()?;
//! pool.create_container(&label, &ContainerOptions::default())?;
//! let container = pool.open_container(&label)?;
//!
//! let index = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
//! KeyValue::new(&*container, index)?.put(b"step=6", b"somewhere")?;
//!
//! let field = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 2);
//! let array = Array::new(&*container, field)?;
//! array.write(0, b"GRIB")?;
//! container.flush()?;
//! assert_eq!(array.read(0, 100)?, b"GRIB", "a read past the end is short");
//! # Ok::<(), isotach_object::Error>(())
//! ```

mod acl;
mod capability;
mod class;
mod container;
mod engine;
mod epoch;
mod error;
pub mod facets;
mod handles;
mod label;
pub mod memory;
mod oid;
mod owned;
mod page;
mod pool;
mod purge;
mod registry;
mod retry;
mod rights;
mod shared;
mod transaction;
mod uri;
mod verify;
mod versions;

pub use acl::{Acl, Permissions, Principal};
pub use capability::Capabilities;
pub use class::ObjectClass;
pub use container::{ArrayRead, Container};
pub use engine::Engine;
pub use epoch::{Epoch, Snapshot};
pub use error::{Error, Result};
pub use facets::{
    AccessControl, ContainerFacets, CreationRights, Extents, LentReads, Maintenance, PendingRead,
    PendingReads, PoolFacets, PreparableStaging, PreparedTransactions, Property, Snapshots,
    StagedTransactions, Staging, StorageProperties, extents_of, merge_extents,
};
pub use handles::{Array, KeyValue};
pub use label::{Label, check_distinct};
pub use oid::{IdRange, ObjectId, ObjectType};
pub use owned::OwnedUpdate;
pub use page::{Anchor, Page, PageBuilder, check_limit};
pub use pool::{ContainerOptions, Pool, PoolUsage};
pub use purge::Purged;
pub use registry::Registry;
pub use retry::{Backoff, retry};
pub use rights::{NewRights, Rights, RightsChange};
pub use shared::SharedBytes;
pub use transaction::{Brief, Cell, MAX_KEY, MAX_VALUE, Precondition, Transaction, Update};
pub use uri::PoolUri;
pub use verify::{Finding, FoundCell, Part, Restored, SetAside, Unnamed, Verified, Verify, VerifyProgress};
pub use versions::{NumberedTransaction, Outcome, Status, Versions};
