//! HDF5 files of either kind through one interface: files of the connector, and native files through an HDF5 library that is loaded at run time.
//!
//! A [`Source`] is read: its headers, links, attributes and elements have the form of a file of the connector, whatever kind of file it is.
//!
//! What must stay true: a file of the connector is read without any HDF5 library.

mod blocks;
mod error;
mod find;
mod model;
mod open;
mod paths;
mod source;

pub use blocks::{Block, Blocks};
pub use error::{Error, Result};
pub use find::{find, parse_path};
pub use model::ModelFile;
pub use open::{Kind, kind_of, open, split};
pub use paths::Paths;
pub use source::Source;
