//! HDF5's model on the object model: a file is a container, and its objects, links, attributes and chunks are entries and arrays in it.
//!
//! This crate knows no HDF5 library. Property lists are bytes to it, and datatypes to all but queries ([`Condition`]): what it needs of them
//! is in the [`Header`].
//! `docs/hdf5-layout.md` describes every record; `docs/decisions/030-hdf5.md` says why it is so.
//!
//! What must stay true: a commit is one transaction, so that a reader sees whole versions of a file. The array of a chunk never changes
//! once a committed entry names it.

mod attribute;
mod attributes;
mod blobs;
mod changes;
mod chunk;
mod chunks;
mod commit;
mod copy;
mod creation;
mod error;
mod exchange;
mod extent;
mod fence;
mod file;
mod filters;
mod gone;
mod grid;
mod header;
mod layout;
mod link;
mod links;
mod map_entry;
mod map_exchange;
mod maps;
mod names;
mod object;
mod one_by_one;
mod open_files;
mod parallel;
mod participant;
mod query;
mod ranges;
mod ranks;
mod read;
mod records;
mod removal;
mod resolve;
mod session;
mod signature;
mod site;
mod snapshots;
mod stay;
mod store;
mod stored;
mod stub;
mod sweep;
mod together;
mod transactions;
mod unlinked;
mod value_index;
mod write;

pub use attribute::Attribute;
pub use blobs::BlobId;
pub use chunks::{ChunkAt, ChunkInfo};
pub use copy::{Convert, CopyOf, CopyOptions};
pub use error::{Error, Result};
pub use file::File;
pub use header::{Data, Filter, Header, Kind, Space};
pub use link::{By, Charset, Link, Order, Target};
pub use object::Object;
pub use query::{
    Comparison, Condition, Findings, Found, Literal, Selection, Test, Unsearched, Work, parse_member,
};
pub use ranks::{Ranks, agree_before};
pub use resolve::{Last, Resolved};
pub use site::{Access, Creation, Site};
pub use snapshots::Snapshot;
pub use stay::Stay;
pub use transactions::TransactionStatus;
pub use value_index::{IndexInfo, IndexOptions};

/// Elements that follow each other, counted in row-major order of the extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
// The connector shows C programs runs as they are.
#[repr(C)]
pub struct Run {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u64,
}
