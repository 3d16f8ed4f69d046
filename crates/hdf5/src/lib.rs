//! HDF5's model on the object model: a file is a container, and its objects, links, attributes and chunks are entries and arrays in it.
//!
//! This crate knows no HDF5 library. Datatypes and property lists are bytes to it, and what it needs of them is in the [`Header`].
//! `docs/hdf5-layout.md` describes every record; `docs/decisions/030-hdf5.md` says why it is so.
//!
//! What must stay true: a commit is one transaction, so that a reader sees whole versions of a file. The array of a chunk never changes
//! once a committed entry names it.

mod attribute;
mod error;
mod file;
mod header;
mod link;
mod object;
mod site;

pub use attribute::Attribute;
pub use error::{Error, Result};
pub use file::{BlobId, File, Last, Resolved};
pub use header::{Data, Filter, Header, Kind, Space};
pub use link::{By, Charset, Link, Order, Target};
pub use object::{ChunkAt, ChunkInfo, Convert, CopyOptions, Object, Run};
pub use site::{Access, Creation, Site};
