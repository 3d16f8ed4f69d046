//! Administration of a store: locks, rights, wipes, deletions, purges, snapshots, copies, moves and statistics.
//!
//! What must stay true: every operation that removes something has a dry run.

pub(crate) mod control;
pub(crate) mod copy;
pub(crate) mod counts;
pub(crate) mod delete;
pub(crate) mod deletion_records;
pub(crate) mod dump;
pub(crate) mod move_datasets;
pub(crate) mod overlay;
pub(crate) mod purge;
pub(crate) mod rights;
pub(crate) mod shared_arrays;
pub(crate) mod snapshots;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod sweep;
pub(crate) mod wipe;
pub(crate) mod wipe_collocation;
