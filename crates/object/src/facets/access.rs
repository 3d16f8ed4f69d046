//! Owners, groups and access control lists.

use std::fmt::Debug;

use crate::{Acl, Label, Result, Rights, RightsChange};

/// The rights of containers, enforced by the engine.
pub trait AccessControl: Debug + Send + Sync {
    /// The owner, group and access control list of a container.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `Io`.
    fn rights(&self, label: &Label) -> Result<Rights>;

    /// Changes the rights of a container and returns the new ones. Open handles keep what they have.
    ///
    /// # Errors
    /// `Unsupported` for a list that the storage cannot enforce, naming the entry; `InvalidInput` for an unknown user or group;
    /// `NotFound`, `PermissionDenied`, `Io`.
    fn set_rights(&self, label: &Label, change: &RightsChange) -> Result<Rights>;
}

/// The right to create containers in a pool, where this program grants it. On DAOS an administrator does, with
/// `dmg pool update-acl`.
pub trait CreationRights: Debug + Send + Sync {
    /// Grants container creation to every principal with write permission in the list. The pool owner always has it; no other
    /// principal has. Creators own what they create.
    ///
    /// # Errors
    /// As [`AccessControl::set_rights`].
    fn grant_create(&self, acl: &Acl) -> Result<()>;
}
