//! Committing updates: gathering, staging, preparing, committing, and learning the verdict.
//!
//! What must stay true: nothing counts before its frame is in the log, and what a frame refers to is on the device before the frame.

pub(crate) mod commit;
pub(crate) mod prepared;
pub(crate) mod snapshot;
pub(crate) mod staging;
pub(crate) mod verdict;
pub(crate) mod writer;
