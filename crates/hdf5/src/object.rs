//! [`Object`]: a handle on an object of a file.

use std::{ops::ControlFlow, sync::Arc};

use crate::{Attribute, By, Charset, Error, File, Header, Kind, Link, Order, Result, Target};

/// Elements that follow each other, counted in row-major order of the extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u64,
}

/// Which chunk is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkAt<'a> {
    /// The one with this number among those that are stored, in the order of their places.
    Index(u64),
    /// The one whose first element is here.
    Offset(&'a [u64]),
}

/// A stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkInfo {
    /// The place of its first element.
    pub offset: Vec<u64>,
    /// The filters that were skipped: bit n for filter n.
    pub mask: u32,
    /// Its length as stored, in bytes.
    pub stored_length: u64,
}

/// Translates elements that cannot be copied to another file as bytes: blobs, references, committed datatypes.
pub trait Convert {
    /// Whether elements of this encoded datatype need it.
    ///
    /// # Errors
    /// Those of the caller.
    fn applies(&self, datatype: &[u8]) -> Result<bool>;

    /// The elements of the source as elements of the target.
    ///
    /// # Errors
    /// Those of the caller.
    fn convert(&self, datatype: &[u8], elements: Vec<u8>) -> Result<Vec<u8>>;
}

/// How an object is copied. The default copies the whole tree below it with attributes, soft links as links, and all bytes as they are.
#[derive(Default, Clone, Copy)]
pub struct CopyOptions<'a> {
    /// Of the members of a group, copies only those directly in it; groups among them are empty.
    pub is_shallow: bool,
    /// Soft links become the objects that they lead to.
    pub expand_soft: bool,
    /// Leaves the attributes out.
    pub without_attributes: bool,
    /// Translates elements.
    pub convert: Option<&'a dyn Convert>,
}

/// An open object. Clones count as handles; see [`File::create_object`].
#[derive(Debug, Clone)]
pub struct Object {
    file: Arc<File>,
    number: u64,
    kind: Kind,
}

impl Object {
    /// Its file.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Its number, which no other object of the file ever has.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its header.
    ///
    /// # Errors
    /// `NotFound` if another process has removed the object; `Corrupt`, `Object`.
    pub fn header(&self) -> Result<Arc<Header>> {
        Err(Error::unsupported("headers"))
    }

    /// Replaces its header. To change an extent use [`Object::set_extent`].
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` for another kind or for data that cannot be stored; `Object`.
    pub fn set_header(&self, header: Header) -> Result<()> {
        let _ = header;
        Err(Error::unsupported("headers"))
    }

    /// Sets how many hard links count as leading to it. With 0 it is removed when its last handle is dropped.
    ///
    /// # Errors
    /// As [`Object::set_header`].
    pub fn change_reference_count(&self, count: u32) -> Result<()> {
        let _ = count;
        Err(Error::unsupported("reference counts"))
    }

    /// A link of the group.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn link(&self, name: &str) -> Result<Option<Link>> {
        let _ = name;
        Err(Error::unsupported("links"))
    }

    /// Adds a link to the group. A hard one counts as a reference to its target, which is in the same file.
    ///
    /// # Errors
    /// `AlreadyExists`; `ReadOnly`; `InvalidInput` for an empty name, one with a slash, `.`, or for an object that is no group; `NotFound`
    /// for the target of a hard link; `Object`.
    pub fn insert_link(&self, name: &str, target: Target, charset: Charset) -> Result<()> {
        let _ = (name, target, charset);
        Err(Error::unsupported("links"))
    }

    /// Removes a link. The target of a hard link loses a reference and is removed with its last one, once no handle is open.
    ///
    /// # Errors
    /// `NotFound`, `ReadOnly`, `Corrupt`, `Object`.
    pub fn remove_link(&self, name: &str) -> Result<()> {
        let _ = name;
        Err(Error::unsupported("links"))
    }

    /// Moves a link to a group of the same file, under a new name.
    ///
    /// # Errors
    /// As [`Object::insert_link`] and [`Object::remove_link`].
    pub fn move_link(&self, name: &str, to: &Self, new_name: &str) -> Result<()> {
        let _ = (name, to, new_name);
        Err(Error::unsupported("links"))
    }

    /// Copies a link, not its target, to a group of the same file.
    ///
    /// # Errors
    /// As [`Object::insert_link`]; `NotFound`.
    pub fn copy_link(&self, name: &str, to: &Self, new_name: &str) -> Result<()> {
        let _ = (name, to, new_name);
        Err(Error::unsupported("links"))
    }

    /// All links of the group.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn links(&self, by: By, order: Order) -> Result<Vec<(String, Link)>> {
        let _ = (by, order);
        Err(Error::unsupported("links"))
    }

    /// How many links the group has.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn link_count(&self) -> Result<u64> {
        Err(Error::unsupported("links"))
    }

    /// An attribute with its value.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        let _ = name;
        Err(Error::unsupported("attributes"))
    }

    /// Sets an attribute, replacing one of its name.
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` for an empty name; `Object`.
    pub fn put_attribute(&self, attribute: Attribute) -> Result<()> {
        let _ = attribute;
        Err(Error::unsupported("attributes"))
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// `NotFound`, `ReadOnly`, `Object`.
    pub fn remove_attribute(&self, name: &str) -> Result<()> {
        let _ = name;
        Err(Error::unsupported("attributes"))
    }

    /// Gives an attribute another name, and keeps its place in the order of creation.
    ///
    /// # Errors
    /// `NotFound`, `AlreadyExists`, `ReadOnly`, `Object`.
    pub fn rename_attribute(&self, name: &str, new_name: &str) -> Result<()> {
        let _ = (name, new_name);
        Err(Error::unsupported("attributes"))
    }

    /// The names of all attributes with their numbers in the order of creation.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn attributes(&self, by: By, order: Order) -> Result<Vec<(String, u64)>> {
        let _ = (by, order);
        Err(Error::unsupported("attributes"))
    }

    /// How many attributes there are.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn attribute_count(&self) -> Result<u64> {
        Err(Error::unsupported("attributes"))
    }

    /// Copies the object with what is below it into a file, which may be its own. The copy has no link yet.
    ///
    /// # Errors
    /// `ReadOnly`, `Corrupt`, `Object`; those of [`Convert`].
    pub fn copy_to(&self, file: &Arc<File>, options: &CopyOptions<'_>) -> Result<Self> {
        let _ = (file, options);
        Err(Error::unsupported("copies of objects"))
    }

    /// Reads elements of a dataset: packed, in the order of the runs. Those that were never written read as the fill value.
    ///
    /// # Errors
    /// `InvalidInput` for a run outside of the extent or a buffer of another length; `Unsupported` for a filter that is not known;
    /// `Corrupt`, `Object`.
    pub fn read(&self, runs: &[Run], packed: &mut [u8]) -> Result<()> {
        let _ = (runs, packed);
        Err(Error::unsupported("reading datasets"))
    }

    /// Writes elements of a dataset: packed, in the order of the runs. Runs that cover whole chunks go to the store without a copy.
    ///
    /// # Errors
    /// As [`Object::read`]; `ReadOnly`.
    pub fn write(&self, runs: &[Run], packed: &[u8]) -> Result<()> {
        let _ = (runs, packed);
        Err(Error::unsupported("writing datasets"))
    }

    /// Changes the extent. What is cut off is gone: growing again shows the fill value.
    ///
    /// # Errors
    /// `InvalidInput` for another number of dimensions or lengths beyond their limits; `ReadOnly`, `Object`.
    pub fn set_extent(&self, dims: &[u64]) -> Result<()> {
        let _ = dims;
        Err(Error::unsupported("changing extents"))
    }

    /// The bytes of all stored chunks, after their filters.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn storage_size(&self) -> Result<u64> {
        Err(Error::unsupported("storage sizes"))
    }

    /// How many chunks are stored.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn chunk_count(&self) -> Result<u64> {
        Err(Error::unsupported("chunks"))
    }

    /// A stored chunk.
    ///
    /// # Errors
    /// `NotFound` if it is not stored; `InvalidInput` for a place where no chunk begins; `Corrupt`, `Object`.
    pub fn chunk_info(&self, chunk: ChunkAt<'_>) -> Result<ChunkInfo> {
        let _ = chunk;
        Err(Error::unsupported("chunks"))
    }

    /// The bytes of a chunk as stored, after its filters, and the mask of those that were skipped.
    ///
    /// # Errors
    /// As [`Object::chunk_info`].
    pub fn read_chunk(&self, offset: &[u64]) -> Result<(u32, Vec<u8>)> {
        let _ = offset;
        Err(Error::unsupported("chunks"))
    }

    /// Stores a chunk that the caller has filtered, but for the filters of the mask.
    ///
    /// # Errors
    /// `InvalidInput` for a place where no chunk of the extent begins; `ReadOnly`, `Object`.
    pub fn write_chunk(&self, offset: &[u64], mask: u32, bytes: &[u8]) -> Result<()> {
        let _ = (offset, mask, bytes);
        Err(Error::unsupported("chunks"))
    }

    /// Calls `each` with every stored chunk in the order of their places, until it breaks.
    ///
    /// # Errors
    /// `Corrupt`, `Object`, and those of `each`.
    pub fn each_chunk(&self, each: &mut dyn FnMut(&ChunkInfo) -> Result<ControlFlow<()>>) -> Result<()> {
        let _ = each;
        Err(Error::unsupported("chunks"))
    }
}
