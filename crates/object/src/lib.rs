//! The object model: what every engine stores and promises, and nothing about how.
//!
//! A **pool** holds **containers**. A container has its own address space of **objects** and its own
//! history of **transactions**, counted in **epochs**. An object has a 128-bit [`ObjectId`], which carries
//! its type and its object class, and is a key-value object, an array of bytes, or is addressed in the
//! general form by distribution key and attribute key. This is the model of DAOS; see `docs/concepts.md`.
//!
//! Engines implement [`Engine`], [`Pool`] and [`Container`]: synchronous, in batches, no default bodies.
//! Callers mostly use the typed handles [`KeyValue`] and [`Array`]. An engine is right when the exported
//! `conformance` suite says so; [`memory`] is the executable model that the others are compared with. The
//! suite is behind the feature `conformance`, which the tests of an engine crate turn on:
//! `isotach-object = { workspace = true, features = ["conformance"] }` under `[dev-dependencies]`.
//!
//! ```
//! use isotach_object::{Array, KeyValue, Label, ObjectClass, ObjectId, ObjectType, PoolUri, memory::Memory};
//! use isotach_object::{Container, Engine, Pool};
//!
//! let engine = Memory::new();
//! let uri: PoolUri = "memory:doc".parse()?;
//! engine.create_pool(&uri)?;
//! let pool = engine.open_pool(&uri)?;
//! let label: Label = "forecast".parse()?;
//! pool.create_container(&label)?;
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
#[cfg(feature = "conformance")]
pub mod conformance;
mod engine;
mod epoch;
mod error;
mod extents;
mod handles;
mod label;
pub mod memory;
mod oid;
mod owned;
mod page;
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
pub use engine::{ArrayRead, Container, Engine, PendingRead, Pool, PoolUsage, Property, Staging};
pub use epoch::{Epoch, Snapshot};
pub use error::{Error, Result};
pub use extents::merge_extents;
pub use handles::{Array, KeyValue, Records, Single};
pub use label::{Label, check_distinct};
pub use oid::{IdRange, ObjectId, ObjectType};
pub use owned::OwnedUpdate;
pub use page::{Anchor, Page, PageBuilder};
pub use purge::Purged;
pub use registry::Registry;
pub use retry::{Backoff, retry};
pub use rights::{NewRights, Rights, RightsChange};
pub use shared::SharedBytes;
pub use transaction::{Cell, MAX_KEY, MAX_VALUE, Precondition, Transaction, Update};
pub use uri::PoolUri;
pub use verify::{Finding, FoundCell, Part, Restored, SetAside, Unnamed, Verified, Verify, VerifyProgress};
pub use versions::{NumberedTransaction, Outcome, Status, Versions};
