//! The engine's scheme, and its capabilities.

use isotach_object::Capabilities;

use crate::io::disk::Folder;

/// The scheme of this engine's URIs.
pub(crate) const SCHEME: &str = "posix";

pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    transactions: true,
    history: true,
    prepared_transactions: true,
    holes: true,
    snapshots: true,
    redundancy: false,
    ordered_listing: true,
    ordered_updates: true,
    pending_reads: false,
    lent_reads: true,
    multi_process: true,
    permissions: true,
    persistent: true,
};

/// The engine's capabilities on a disk.
pub(crate) fn capabilities(disk: &dyn Folder) -> Capabilities {
    Capabilities { multi_process: disk.is_shared(), permissions: disk.is_shared(), ..CAPABILITIES }
}
