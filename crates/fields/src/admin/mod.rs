//! Looking after a store: locks, rights, wipes, purges, snapshots, copies, and what there is.
//!
//! What must stay true: whatever removes something has a form that only tells what it would remove.

pub(crate) mod copy;
pub(crate) mod dump;
pub(crate) mod forbidden;
pub(crate) mod locks;
pub(crate) mod overlay;
pub(crate) mod purge;
pub(crate) mod rights;
pub(crate) mod snapshots;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod sweep;
pub(crate) mod wipe;
pub(crate) mod wipe_collocation;
