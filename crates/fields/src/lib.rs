//! Fields: catalogue, store and the [`FieldStore`] handle, on the object model.
//!
//! A weather field is named by metadata, its key. A schema splits the key in three: the **dataset** (one forecast), the
//! **collocation** (fields with a common index) and the **element** (one field). The **catalogue** maps keys to
//! [`Location`]s and the **store** holds the bytes. Both are containers of the object model, on the same pool or on
//! different ones. This crate does not depend on particular engines: it opens pools through a registry.
//!
//! Guarantees on every engine:
//! - A field is visible and correctly indexed, or absent.
//! - [`FieldStore::archive`] returns when the library has a copy of the bytes, [`FieldStore::flush`] when everything
//!   archived through the handle is durable, indexed and visible to every reader, including open handles.
//! - Archiving a key again replaces the field. Readers see the old field until the new one is complete.
//! - Fields archived in a [`Transaction`] become visible together, or not at all.
//! - An absent field is not an error.

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
pub use admin::counts::Counts;
pub use admin::delete::{DeleteReport, DeletedFields};
pub use admin::dump::{CollocationDump, DatasetDump};
pub use admin::purge::PurgedDataset;
pub use admin::rights::ContainerRights;
pub use admin::stats::DatasetStats;
pub use admin::status::{DatasetStatus, SnapshotOnlyDataset};
pub use admin::wipe::{WipeReport, WipedDataset};
pub use answer::{Answer, DatasetsDone};
pub use archive::MessageKey;
pub use archive::transaction::Transaction;
pub use catalogue::location::{ContainerUri, Location, Place};
pub use catalogue::locks::{Action, Locks};
pub(crate) use catalogue::select::Selection;
pub use catalogue::snapshot_record::StoreSnapshot;
pub use config::forbidden::Forbidden;
pub use config::{Config, Pattern, Space, Spread};
pub use error::{Error, Result};
pub use isotach_engine_kit::checksum::crc32c;
pub use retrieve::Field;
pub use retrieve::axes::Axis;
pub use retrieve::buffers::FieldBytes;
pub use retrieve::inspect::{Inspected, Inspection, Missing};
pub use retrieve::jump::{JumpIndex, KeptIndexes};
pub use retrieve::list::{ListOptions, Listed, Listing};
pub use retrieve::parts::FieldParts;
pub use retrieve::retrieval::Retrieval;
pub use store::FieldStore;
pub use verify::{
    Damage, EndedWipes, Level, Repair, RepairReport, Repaired, RestoredContainer, UnnamedFields,
    VerifiedPart, VerifyOptions, VerifyProgress, VerifyReport,
};
