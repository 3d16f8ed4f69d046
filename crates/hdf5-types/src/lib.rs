//! HDF5 datatypes without an HDF5 library: their encoded form, and the values of elements.
//!
//! [`Datatype::decode`] reads what `H5Tencode` writes: the datatype message of the HDF5 file format, versions 1 to 5. [`Stored`] is the
//! form in which the connector keeps it. [`Datatype::file_form`] is the layout of elements in a file of the connector,
//! [`Datatype::memory_form`] that in a program's memory, and [`Datatype::value`] reads an element. [`Datatype::pack`] makes it independent of its file.
//!
//! What must stay true: no input panics, recurses without bound, or allocates more than a small multiple of its length.

mod datatype;
mod decode;
mod error;
mod form;
mod number;
mod packed;
mod stored;
mod text;
mod value;

pub use datatype::{ByteOrder, Charset, Class, Datatype, Float, Member, Padding, ReferenceKind};
pub use error::{Error, Result};
pub use form::Elements;
pub use packed::Unpacked;
pub use stored::{Stored, StoredCreation};
pub use value::{BlobFault, Reference, Value};
