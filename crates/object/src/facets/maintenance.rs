//! Looking after stored containers.

use std::fmt::Debug;

use crate::{Finding, Label, Purged, Result, SetAside, Verified, Verify, VerifyProgress};

/// Verification, quarantine and purge of containers.
pub trait Maintenance: Debug + Send + Sync {
    /// Checks whether everything stored of a container is as it was written, and goes on after damage. Reads all and
    /// changes nothing. Others may write at the same time.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `Io`: unreadable data is an error, corrupt data a finding.
    fn verify(&self, label: &Label, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified>;

    /// Moves the [`crate::Part::Derived`] files that `findings` name to a quarantine, and keeps `note` beside them for people
    /// to read. The engine makes such files again when it needs them. Other findings are ignored, and nothing is deleted. The
    /// note is durable when this returns.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `NoSpace`, `Io`.
    fn quarantine(&self, label: &Label, findings: &[Finding], note: &str) -> Result<SetAside>;

    /// Frees the space of replaced and removed data that no snapshot needs; without `carry_out` it only returns how
    /// much that is. Others may read and write at the same time, and what they see does not change. A handle whose
    /// process was stopped for long in a commit may fail with `Io`, because its outcome can no longer be known.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `NoSpace` for what must be copied first, `Corrupt`, `Io`; `Conflict` while another
    /// purge of the container runs.
    fn purge(&self, label: &Label, carry_out: bool) -> Result<Purged>;
}
