//! Snapshots: past states that have a name and stay readable.

use std::{fmt::Debug, sync::Arc};

use crate::{Container, Epoch, Label, Result, Snapshot};

/// The snapshots of a container. A snapshot shows the container at one place of its history, and the same for ever.
pub trait Snapshots: Debug + Send + Sync {
    /// Names the present state, so that it stays readable: everything that this handle updated, and of the others all
    /// that counts before. It decides at once, as [`Container::commit`] does, and is durable as that is.
    ///
    /// # Errors
    /// `AlreadyExists`; otherwise as `commit`.
    fn create(&self, name: &Label) -> Result<Epoch>;

    /// All snapshots, oldest first. A handle on the past lists those that there were then, its own included.
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

    /// A read-only handle, as [`Snapshots::open`] gives one, on the state at an epoch: what counted up to and with
    /// it. The present epoch and those of the snapshots are kept; an engine may keep others.
    ///
    /// # Errors
    /// `NotFound` for an epoch that is not kept or has not come yet, naming those that are kept.
    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Container>>;

    /// Forgets a snapshot.
    ///
    /// # Errors
    /// `NotFound`; otherwise as `commit`.
    fn destroy(&self, name: &Label) -> Result<()>;
}
