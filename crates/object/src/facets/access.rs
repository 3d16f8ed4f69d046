//! Owners, groups and access control lists.

use std::fmt::Debug;

use crate::{Acl, Label, Result, Rights, RightsChange};

/// The rights of containers, enforced by the engine.
///
/// **Required**: every method. A pool has this facet exactly if its engine has
/// [`Capabilities::permissions`](crate::Capabilities). Without it, [`Pool::create_container`](crate::Pool::create_container) refuses
/// any rights but the default with `Unsupported`.
///
/// **What an engine may assume**: nothing of users and groups, which may not exist. Other processes change rights at the same time.
///
/// **Durability**: a change stays after a crash once the call has returned. A crash during the call leaves the old rights or the
/// new ones, and at no moment is more permitted than one of the two permits.
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
