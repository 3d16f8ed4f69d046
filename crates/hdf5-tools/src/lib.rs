//! HDF5 files of either kind through one interface: files of the connector, and native files through an HDF5 library that is loaded at run time.
//!
//! A [`Source`] is read: its headers, links, attributes and elements have the form of a file of the connector, whatever kind of file it is.
//! [`copy`] creates a file of either kind from one.
//!
//! What must stay true: a file of the connector is read without any HDF5 library.

mod blocks;
mod compare;
mod copy;
mod error;
mod find;
mod model;
mod native;
mod open;
mod paths;
mod place;
mod plan;
mod source;
mod target;
mod translate;

pub use blocks::{Block, Blocks};
pub use copy::{Copied, CopyOptions, Step, copy};
pub use error::{Error, Refusal, Result};
pub use find::{find, parse_path};
pub use model::ModelFile;
pub use native::{NativeFile, forget_connector, library_version};
pub use open::{Kind, kind_of, open, split};
pub use paths::Paths;
pub use source::Source;
