//! Fields: catalogue, store and the [`FieldStore`] handle, on the object model.
//!
//! A weather field is named by metadata. A schema splits its key in three: the **dataset** (one forecast), the
//! **collocation** (what belongs together in it) and the **element** (one field). The **catalogue** maps keys to
//! [`Location`]s and the **store** holds the bytes; both are containers of the object model, on the same pool or on
//! different ones. This crate does not know which engines exist: it opens pools through a registry.
//!
//! What holds, whatever the engine:
//! - A field is visible and correctly indexed, or it is not there.
//! - [`FieldStore::archive`] returns when the library has a copy of the bytes, [`FieldStore::flush`] when everything
//!   archived through the handle is durable, indexed and visible to every reader, handles already open included.
//! - Archiving a key again replaces the field: readers see the old one until the new one is complete.
//! - Fields archived in a [`Transaction`] become visible together, or not at all.
//! - A field that is not there is not an error.

mod adopt;
mod answer;
mod archive;
mod at_once;
mod axes;
mod batch;
mod buffers;
mod bytes;
mod checksum;
mod config;
mod control;
mod copy;
mod dataset;
mod dump;
mod error;
mod forbidden;
mod inspect;
mod kept;
mod layout;
mod list;
mod location;
mod overlay;
mod publish;
mod purge;
mod puts;
mod read;
mod reader;
mod record;
mod retrieval;
mod retrieve;
mod rights;
mod room;
mod root;
mod select;
mod snapshots;
mod stats;
mod status;
mod store;
mod sweep;
mod sync;
mod tally;
mod transaction;
mod verify;
mod wipe;
mod wipe_collocation;
mod writer;
mod writers;

pub use answer::{Answer, DatasetsDone};
pub use archive::MessageKey;
pub use axes::Axis;
pub use buffers::FieldBytes;
pub use checksum::crc32c;
pub use config::{Config, Pattern, Space, Spread};
pub use control::{Action, Locks};
pub use copy::CopyReport;
pub use dump::{CollocationDump, DatasetDump};
pub use error::{Error, Result};
pub use forbidden::Forbidden;
pub use inspect::{Inspected, Inspection, Missing};
pub use list::{ListOptions, Listed, Listing};
pub use location::{ContainerUri, Location, Place};
pub use purge::PurgedDataset;
pub use retrieval::Retrieval;
pub use retrieve::Field;
pub use rights::ContainerRights;
pub(crate) use select::Selection;
pub use snapshots::StoreSnapshot;
pub use stats::{Counts, DatasetStats};
pub use status::{DatasetStatus, KeptDataset};
pub use store::{FieldStore, SpaceInfo};
pub use transaction::Transaction;
pub use verify::{
    Damage, Level, Repair, RepairReport, Repaired, RestoredContainer, UnnamedFields, VerifiedPart,
    VerifyOptions, VerifyProgress, VerifyReport,
};
pub use wipe::{WipeReport, WipedDataset};
