//! Looking after stored containers.

use std::fmt::Debug;

use crate::{Finding, Label, Purged, Result, SetAside, Verified, Verify, VerifyProgress};

/// Verification, quarantine and purge of containers.
///
/// **Required**: every method. No capability names this facet: storage that repairs and frees itself has none.
///
/// **What an engine may assume**: one process at a time purges a container; another gets `Conflict`. Other processes read and write
/// the container during each call.
///
/// **Durability**: a crash during a quarantine or a purge loses nothing that counts; the next call completes the work. The space
/// that a purge reports as freed is free when it returns.
pub trait Maintenance: Debug + Send + Sync {
    /// Checks whether all stored data of a container is as it was written, and continues after damage. Changes nothing.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `Io`: unreadable data is an error, corrupt data a finding.
    fn verify(&self, label: &Label, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified>;

    /// Moves the [`crate::Part::Derived`] files that `findings` name to a quarantine, and stores `note` beside them for
    /// operators. The engine creates such files again when it needs them. Other findings are ignored, and nothing is deleted. The
    /// note is durable when this returns.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `NoSpace`, `Io`.
    fn quarantine(&self, label: &Label, findings: &[Finding], note: &str) -> Result<SetAside>;

    /// Frees the space of replaced and removed data that no snapshot needs; without `carry_out` it only returns how
    /// much that is. What readers see does not change. A handle whose process was stopped for long in a commit may fail
    /// with `Io`, because the outcome can no longer be known.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `NoSpace` for what must be copied first, `Corrupt`, `Io`; `Conflict` while another
    /// purge of the container runs.
    fn purge(&self, label: &Label, carry_out: bool) -> Result<Purged>;
}
