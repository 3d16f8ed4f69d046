//! Properties of containers that the storage knows and the model does not.

use std::fmt::Debug;

use crate::{Label, Result};

/// A property of a container that its storage knows and the model does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name, as the storage's own tools have it.
    pub name: String,
    /// Its value as text.
    pub value: String,
}

/// The properties of containers that the storage's own tools show.
///
/// **Required**: both methods. No capability names this facet: it depends on the pool.
///
/// **What an engine may assume**: nothing of names and values, which it checks before it changes anything.
///
/// **Durability**: a change stays after a crash once the call has returned.
pub trait StorageProperties: Debug + Send + Sync {
    /// The properties of a container.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `Io`.
    fn properties(&self, label: &Label) -> Result<Vec<Property>>;

    /// Changes properties of a container, all or none.
    ///
    /// # Errors
    /// `InvalidInput` for an unknown name or value, and the storage's own error for a property that cannot be changed;
    /// `NotFound`, `PermissionDenied`, `Io`.
    fn set_properties(&self, label: &Label, properties: &[Property]) -> Result<()>;
}
