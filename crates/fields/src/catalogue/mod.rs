//! The catalogue: the datasets of a store, the locations of their fields, and the handles that read them.
//!
//! What must stay true: every byte that the field layer stores outside of fields is encoded here, as
//! `docs/field-layout.md` specifies.

pub(crate) mod axes;
pub(crate) mod axes_reader;
pub(crate) mod collocation;
pub(crate) mod consistent_read;
pub(crate) mod dataset;
pub(crate) mod dataset_reader;
pub(crate) mod fence;
pub(crate) mod history;
pub(crate) mod jump;
pub(crate) mod layers;
pub(crate) mod layout;
pub(crate) mod location;
pub(crate) mod locks;
pub(crate) mod open;
pub(crate) mod open_containers;
pub(crate) mod record;
pub(crate) mod root;
pub(crate) mod root_snapshots;
pub(crate) mod select;
pub(crate) mod snapshot_record;
pub(crate) mod split_texts;
pub(crate) mod stored;
