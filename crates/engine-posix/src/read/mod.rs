//! Reading: from a request for cells to the state, and from there to the bytes of data files.
//!
//! What must stay true: no byte is given out that its checksum does not cover.

pub(crate) mod bytes;
pub(crate) mod listing;
pub(crate) mod look;
