//! [`Source`]: a file that is read.

use std::sync::Arc;

use isotach_hdf5::{Attribute, BlobId, ChunkInfo, Header, Link};

use crate::{Block, Result};

/// A file that is read. Objects have numbers, which links and references name. Headers, attributes and elements have the form of a file of
/// the connector: see [`isotach_hdf5_types::Stored`] and [`isotach_hdf5_types::Datatype::file_form`].
pub trait Source {
    /// Its name.
    fn name(&self) -> &str;
    /// The number of the root group.
    fn root(&self) -> Result<u64>;
    /// The encoded creation property list of the file.
    fn properties(&self) -> Result<Vec<u8>>;
    /// What an object is.
    fn header(&self, object: u64) -> Result<Arc<Header>>;
    /// The links of a group, in the order of creation if the group keeps it, otherwise by name.
    fn links(&self, group: u64) -> Result<Vec<(String, Link)>>;
    /// The names of the attributes of an object, in the order of creation if the object keeps it, otherwise sorted.
    fn attributes(&self, object: u64) -> Result<Vec<String>>;
    /// An attribute.
    fn attribute(&self, object: u64, name: &str) -> Result<Attribute>;
    /// The bytes that the elements of a dataset take.
    fn storage_size(&self, dataset: u64) -> Result<u64>;
    /// The stored chunks of a dataset.
    fn chunks(&self, dataset: u64) -> Result<Vec<ChunkInfo>>;
    /// A chunk as it is stored, and the mask of the filters that were skipped.
    fn read_chunk(&self, dataset: u64, offset: &[u64]) -> Result<(u32, Vec<u8>)>;
    /// Whether the elements of virtual datasets can be read.
    fn reads_virtual(&self) -> bool;
    /// The elements of a block of a dataset.
    fn read(&self, dataset: u64, block: &Block) -> Result<Vec<u8>>;
    /// The keys of a map, each packed: see [`isotach_hdf5_types::Datatype::pack`].
    fn map_keys(&self, map: u64) -> Result<Vec<Vec<u8>>>;
    /// The packed value of a key of a map.
    fn map_value(&self, map: u64, key: &[u8]) -> Result<Vec<u8>>;
    /// A piece of variable-length data.
    fn blob(&self, id: &BlobId) -> Result<Vec<u8>>;
    /// Gives up the variable-length data of what was read so far.
    fn forget_blobs(&self);
    /// Why an object cannot be carried over to another file. Nothing for most.
    fn obstacle(&self, object: u64) -> Result<Option<String>>;
    /// Whether chunks of a dataset can be carried over as they are stored.
    fn moves_chunks(&self, dataset: u64) -> Result<bool>;
    /// Whether elements that went through the filters of a dataset can be read.
    fn decodes(&self, header: &Header) -> bool;
    /// The parts of a dataset that are stored.
    fn stored(&self, dataset: u64) -> Result<Vec<Block>>;
}
