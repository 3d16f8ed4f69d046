//! Snapshots: past states that have a name and stay readable.

use std::{fmt::Debug, sync::Arc};

use crate::{Container, Epoch, Label, Result, Snapshot};

/// The snapshots of a container. A snapshot shows the container at one epoch, and never changes.
///
/// **Required**: every method.
///
/// **What an engine may assume**: names are well formed ([`Label`] checks them). Several handles may create and destroy snapshots
/// at the same time; of several that give one name, one succeeds.
///
/// **Durability**: as a commit. [`Snapshots::create`] and [`Snapshots::destroy`] decide before they return, and are durable after
/// the next [`Container::flush`]. No purge takes what a snapshot shows.
pub trait Snapshots: Debug + Send + Sync {
    /// Names the present state, so that it stays readable: everything that this handle updated, and every update of another
    /// handle that counts before it.
    ///
    /// # Errors
    /// `AlreadyExists`; otherwise as `commit`.
    fn create(&self, name: &Label) -> Result<Epoch>;

    /// All snapshots, oldest first. A handle on the past lists the snapshots of its epoch, its own included.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    fn list(&self) -> Result<Vec<Snapshot>>;

    /// A read-only handle on the state that a snapshot names. It never changes, and refuses every write with
    /// `PermissionDenied`. An open handle may outlive its snapshot.
    ///
    /// # Errors
    /// `NotFound`.
    fn open(&self, name: &Label) -> Result<Arc<dyn Container>>;

    /// A read-only handle, as [`Snapshots::open`] returns it, on the state at an epoch, which includes the updates of that epoch.
    /// The present epoch and those of the snapshots can be opened; an engine may retain others.
    ///
    /// # Errors
    /// `NotFound` for an epoch that is not retained or lies in the future. The error names the retained epochs.
    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Container>>;

    /// Removes a snapshot. Handles on it stay open.
    ///
    /// # Errors
    /// `NotFound`; otherwise as `commit`.
    fn destroy(&self, name: &Label) -> Result<()>;
}
