//! Reading: from a request for cells to the state, and from there to the bytes of data files.
//!
//! What must stay true: every byte that is returned was checked against its checksum.

mod batch;
pub(crate) mod bytes;
pub(crate) mod listing;
pub(crate) mod lookup;
