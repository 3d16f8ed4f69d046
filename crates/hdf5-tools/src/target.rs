//! [`Target`]: a new file that is written. What is written has the form of a file of the connector, as in a [`crate::Source`].

use isotach_hdf5::{Attribute, BlobId, Charset, Header, Link};

use crate::{Block, Result};

/// What a kind of file can hold.
pub(crate) trait Limits {
    /// Why an object like this one cannot be created. Nothing for most.
    fn obstacle(&self, header: &Header) -> Result<Option<String>>;
    /// Whether chunks of such a dataset can be stored as they are in another file.
    fn takes_chunks(&self, header: &Header) -> Result<bool>;
    /// Why a link cannot be created. Nothing for most.
    fn link_obstacle(&self, link: &Link) -> Option<String>;
}

/// A new file, which appears when it is finished.
pub(crate) trait Target {
    /// The number of the root group.
    fn root(&self) -> Result<u64>;
    /// Creates an object. It stays if it is linked.
    fn create(&self, header: &Header) -> Result<u64>;
    /// Creates a link in a group.
    fn link(&self, group: u64, name: &str, target: &isotach_hdf5::Target, charset: Charset) -> Result<()>;
    /// Creates an attribute.
    fn put_attribute(&self, object: u64, attribute: Attribute) -> Result<()>;
    /// Stores a chunk as it is.
    fn write_chunk(&self, dataset: u64, offset: &[u64], mask: u32, bytes: &[u8]) -> Result<()>;
    /// Writes the elements of a block.
    fn write(&self, dataset: u64, block: &Block, elements: &[u8]) -> Result<()>;
    /// Sets the value of a key of a map; both are packed.
    fn put_map_value(&self, map: u64, key: &[u8], value: Vec<u8>) -> Result<()>;
    /// Keeps a piece of variable-length data for elements that are written next.
    fn put_blob(&self, bytes: Vec<u8>) -> Result<BlobId>;
    /// The elements with the data that was put are written.
    fn forget_blobs(&self);
    /// Writes everything to the device. Returns the file, for reading, under the name that it has so far.
    fn complete(&mut self) -> Result<Box<dyn crate::Source>>;
    /// Gives the file its name.
    fn publish(self: Box<Self>) -> Result<()>;
}
