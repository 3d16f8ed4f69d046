//! Facets: the parts of the contract that only some engines have, each a small trait of its own.
//!
//! [`Container::facets`] and [`Pool::facets`] return the facets that exist. An engine starts from
//! [`ContainerFacets::none`] and sets those that it implements. A caller that requires a facet takes it by the method of
//! its name, as in `container.snapshots()?`, which fails with `Unsupported` where the engine lacks it.
//!
//! ```
//! # use isotach_object::{ContainerOptions, Engine, memory::Memory};
//! # let engine = Memory::new();
//! # engine.create_pool(&"memory:doc".parse()?)?;
//! # let pool = engine.open_pool(&"memory:doc".parse()?)?;
//! # pool.create_container(&"c".parse()?, &ContainerOptions::default())?;
//! # let container = pool.open_container(&"c".parse()?)?;
//! container.snapshots()?.create(&"monday".parse()?)?;
//! assert!(container.facets().pending_reads.is_none(), "memory does not wait");
//! assert_eq!(container.pending_reads().unwrap_err().code(), "unsupported");
//! # Ok::<(), isotach_object::Error>(())
//! ```

mod access;
mod extents;
mod maintenance;
mod properties;
mod reads;
mod snapshots;
mod transactions;

pub use access::{AccessControl, CreationRights};
pub use extents::{Extents, extents_of, merge_extents};
pub use maintenance::Maintenance;
pub use properties::{Property, StorageProperties};
pub use reads::{LentReads, PendingRead, PendingReads};
pub use snapshots::Snapshots;
pub use transactions::{PreparableStaging, PreparedTransactions, StagedTransactions, Staging};

use crate::{Container, Error, Pool, Result};

/// The facets of a container.
#[derive(Debug, Clone, Copy)]
pub struct ContainerFacets<'c> {
    /// The scheme of the engine, for errors.
    pub engine: &'static str,
    /// Past states can be named and stay readable.
    pub snapshots: Option<&'c dyn Snapshots>,
    /// A transaction can be given in pieces.
    pub staged_transactions: Option<&'c dyn StagedTransactions>,
    /// A staged transaction can be kept under a name for another process to commit.
    pub prepared_transactions: Option<&'c dyn PreparedTransactions>,
    /// Bytes can be lent without a copy.
    pub lent_reads: Option<&'c dyn LentReads>,
    /// Reads can be under way while the caller does something else.
    pub pending_reads: Option<&'c dyn PendingReads>,
    /// Holes are distinguished from zeros that were written.
    pub extents: Option<&'c dyn Extents>,
}

impl ContainerFacets<'_> {
    /// No facet, for the engine with this scheme.
    pub const fn none(engine: &'static str) -> Self {
        Self {
            engine,
            snapshots: None,
            staged_transactions: None,
            prepared_transactions: None,
            lent_reads: None,
            pending_reads: None,
            extents: None,
        }
    }
}

/// The facets of a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolFacets<'p> {
    /// The scheme of the engine, for errors.
    pub engine: &'static str,
    /// Containers have an owner, a group and an access control list, and they are enforced.
    pub access_control: Option<&'p dyn AccessControl>,
    /// The right to create containers can be granted.
    pub creation_rights: Option<&'p dyn CreationRights>,
    /// The storage's own tools know properties of a container that the model does not.
    pub properties: Option<&'p dyn StorageProperties>,
    /// Containers can be verified and purged.
    pub maintenance: Option<&'p dyn Maintenance>,
}

impl PoolFacets<'_> {
    /// No facet, for the engine with this scheme.
    pub const fn none(engine: &'static str) -> Self {
        Self { engine, access_control: None, creation_rights: None, properties: None, maintenance: None }
    }
}

fn required<T>(facet: Option<T>, engine: &'static str, what: &str) -> Result<T> {
    facet.ok_or_else(|| Error::Unsupported { engine, what: what.to_owned() })
}

/// The facets of a container, for callers that need them. Each method fails with `Unsupported` where there is none.
impl<'c> dyn Container + 'c {
    /// Its snapshots.
    pub fn snapshots(&self) -> Result<&dyn Snapshots> {
        let facets = self.facets();
        required(facets.snapshots, facets.engine, "snapshots")
    }

    /// Its staged transactions.
    pub fn staged_transactions(&self) -> Result<&dyn StagedTransactions> {
        let facets = self.facets();
        required(facets.staged_transactions, facets.engine, "staged transactions")
    }

    /// Its prepared transactions.
    pub fn prepared_transactions(&self) -> Result<&dyn PreparedTransactions> {
        let facets = self.facets();
        required(facets.prepared_transactions, facets.engine, "prepared transactions")
    }

    /// Reads without a copy.
    pub fn lent_reads(&self) -> Result<&dyn LentReads> {
        let facets = self.facets();
        required(facets.lent_reads, facets.engine, "reads without a copy")
    }

    /// Reads that are not waited for.
    pub fn pending_reads(&self) -> Result<&dyn PendingReads> {
        let facets = self.facets();
        required(facets.pending_reads, facets.engine, "reads that are not waited for")
    }
}

/// The facets of a pool, for callers that need them. Each method fails with `Unsupported` where there is none.
impl<'p> dyn Pool + 'p {
    /// Owners, groups and access control lists of its containers.
    pub fn access_control(&self) -> Result<&dyn AccessControl> {
        let facets = self.facets();
        required(facets.access_control, facets.engine, "access control of containers")
    }

    /// Properties of its containers beyond the model.
    pub fn storage_properties(&self) -> Result<&dyn StorageProperties> {
        let facets = self.facets();
        required(facets.properties, facets.engine, "properties of containers beyond the model")
    }

    /// Verification and purge of its containers.
    pub fn maintenance(&self) -> Result<&dyn Maintenance> {
        let facets = self.facets();
        required(facets.maintenance, facets.engine, "verifying, repairing and purging containers")
    }
}
