//! The catalogue: which datasets there are, where their fields lie, and how a handle reads that.
//!
//! What must stay true: every byte that the field layer stores outside of fields is encoded here, as `docs/field-layout.md` says.

pub(crate) mod axes;
pub(crate) mod consistent_read;
pub(crate) mod counts;
pub(crate) mod dataset;
pub(crate) mod fence;
pub(crate) mod layout;
pub(crate) mod location;
pub(crate) mod reader;
pub(crate) mod record;
pub(crate) mod root;
pub(crate) mod select;
pub(crate) mod snapshot_record;
