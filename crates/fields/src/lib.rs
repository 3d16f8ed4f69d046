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

mod admin;
mod answer;
mod archive;
mod catalogue;
mod config;
mod error;
mod handle_budget;
mod retrieve;
mod store;
mod sync;
mod verify;

pub use admin::copy::CopyReport;
pub use admin::dump::{CollocationDump, DatasetDump};
pub use admin::forbidden::Forbidden;
pub use admin::locks::{Action, Locks};
pub use admin::purge::PurgedDataset;
pub use admin::rights::ContainerRights;
pub use admin::snapshots::StoreSnapshot;
pub use admin::stats::{Counts, DatasetStats};
pub use admin::status::{DatasetStatus, KeptDataset};
pub use admin::wipe::{WipeReport, WipedDataset};
pub use answer::{Answer, DatasetsDone};
pub use archive::MessageKey;
pub use archive::transaction::Transaction;
pub use catalogue::axes::Axis;
pub use catalogue::location::{ContainerUri, Location, Place};
pub(crate) use catalogue::select::Selection;
pub use config::{Config, Pattern, Space, Spread};
pub use error::{Error, Result};
pub use isotach_engine_kit::checksum::crc32c;
pub use retrieve::Field;
pub use retrieve::answer::Retrieval;
pub use retrieve::buffers::FieldBytes;
pub use retrieve::inspect::{Inspected, Inspection, Missing};
pub use retrieve::list::{ListOptions, Listed, Listing};
pub use store::{FieldStore, SpaceInfo};
pub use verify::{
    Damage, EndedWipes, Level, Repair, RepairReport, Repaired, RestoredContainer, UnnamedFields,
    VerifiedPart, VerifyOptions, VerifyProgress, VerifyReport,
};
