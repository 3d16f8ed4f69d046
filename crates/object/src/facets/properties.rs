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

/// The properties that the storage's own tools show.
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
