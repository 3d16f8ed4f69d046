//! [`ModelFile`]: a file of the connector.

mod target;

use std::{ops::ControlFlow, sync::Arc};

use isotach_hdf5::{Attribute, BlobId, By, ChunkInfo, Data, Error as FileError, File, Header, Link, Order};
use isotach_hdf5_types::Stored;

pub(crate) use self::target::{ModelLimits, ModelTarget};
use crate::{Block, Error, Result, Source};

/// A file of the connector.
#[derive(Debug)]
pub struct ModelFile {
    pub(crate) file: Arc<File>,
}

impl ModelFile {
    /// The file as a source.
    pub fn new(file: Arc<File>) -> Self {
        Self { file }
    }

    pub(crate) fn object(&self, number: u64) -> Result<isotach_hdf5::Object> {
        Ok(self.file.object(number)?)
    }

    fn place(&self, number: u64) -> String {
        format!("object {number} of {}", self.file.name())
    }

    /// Refuses a dataset whose elements have another size than its datatype says.
    fn check(&self, number: u64, header: &Header) -> Result<()> {
        let Some(data) = &header.data else { return Ok(()) };
        let datatype = Stored::parse(&header.datatype).and_then(|stored| stored.datatype()?.file_form());
        let datatype = datatype.map_err(Error::at(self.place(number)))?;
        if datatype.size == data.element {
            return Ok(());
        }
        let what = format!("elements of {} bytes, of a datatype of {}", data.element, datatype.size);
        Err(FileError::corrupt(what, self.place(number)).into())
    }
}

/// What a sorted list is sorted by.
fn order(is_tracked: bool) -> By {
    if is_tracked { By::CreationOrder } else { By::Name }
}

/// How a dataset's elements are stored.
pub(crate) fn data_of<'h>(header: &'h Header, what: &dyn Fn() -> String) -> Result<&'h Data> {
    header.data.as_ref().ok_or_else(|| FileError::invalid(what(), "a dataset").into())
}

impl Source for ModelFile {
    fn name(&self) -> &str {
        self.file.name()
    }

    fn root(&self) -> Result<u64> {
        Ok(self.file.root()?.number())
    }

    fn properties(&self) -> Result<Vec<u8>> {
        Ok(self.file.properties()?)
    }

    fn header(&self, object: u64) -> Result<Arc<Header>> {
        let header = self.object(object)?.header()?;
        self.check(object, &header)?;
        Ok(header)
    }

    fn links(&self, group: u64) -> Result<Vec<(String, Link)>> {
        let group = self.object(group)?;
        Ok(group.links(order(group.header()?.tracks_link_order), Order::Increasing)?)
    }

    fn attributes(&self, object: u64) -> Result<Vec<String>> {
        let object = self.object(object)?;
        let names = object.attributes(order(object.header()?.tracks_attribute_order), Order::Increasing)?;
        Ok(names.into_iter().map(|(name, _)| name).collect())
    }

    fn attribute(&self, object: u64, name: &str) -> Result<Attribute> {
        let attribute = self.object(object)?.attribute(name)?;
        let absent = || FileError::not_found(format!("attribute {name} of {}", self.place(object)));
        Ok(attribute.ok_or_else(absent)?)
    }

    fn storage_size(&self, dataset: u64) -> Result<u64> {
        Ok(self.object(dataset)?.storage_size()?)
    }

    fn chunks(&self, dataset: u64) -> Result<Vec<ChunkInfo>> {
        let mut chunks = Vec::new();
        self.object(dataset)?.each_chunk(&mut |chunk| {
            chunks.push(chunk.clone());
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(chunks)
    }

    fn read_chunk(&self, dataset: u64, offset: &[u64]) -> Result<(u32, Vec<u8>)> {
        Ok(self.object(dataset)?.read_chunk(offset)?)
    }

    fn reads_virtual(&self) -> bool {
        // That takes HDF5's selections.
        false
    }

    fn read(&self, dataset: u64, block: &Block) -> Result<Vec<u8>> {
        let object = self.object(dataset)?;
        let header = object.header()?;
        let data = data_of(&header, &|| self.place(dataset))?;
        let mut elements = vec![0; block.elements() as usize * data.element as usize];
        object.read(&block.runs(data.space.dims()), &mut elements)?;
        Ok(elements)
    }

    fn map_keys(&self, map: u64) -> Result<Vec<Vec<u8>>> {
        Ok(self.object(map)?.map_keys()?)
    }

    fn map_value(&self, map: u64, key: &[u8]) -> Result<Vec<u8>> {
        let value = self.object(map)?.map_value(key)?;
        Ok(value.ok_or_else(|| FileError::not_found(format!("a key of {}", self.place(map))))?)
    }

    fn blob(&self, id: &BlobId) -> Result<Vec<u8>> {
        Ok(self.file.blob(id)?)
    }

    fn forget_blobs(&self) {}

    fn obstacle(&self, _: u64) -> Result<Option<String>> {
        Ok(None)
    }

    fn moves_chunks(&self, dataset: u64) -> Result<bool> {
        Ok(self.object(dataset)?.header()?.data.as_ref().is_some_and(|data| data.is_chunked))
    }

    fn decodes(&self, _: &Header) -> bool {
        // Chunks with other filters cannot be created.
        true
    }

    fn stored(&self, dataset: u64) -> Result<Vec<Block>> {
        let header = self.object(dataset)?.header()?;
        let data = data_of(&header, &|| self.place(dataset))?;
        let (dims, chunks) = (data.space.dims(), self.chunks(dataset)?);
        if dims.is_empty() {
            return Ok(chunks.iter().take(1).map(|_| Block::whole(dims)).collect());
        }
        Ok(chunks.iter().map(|info| Block::chunk(&info.offset, &data.chunk, dims)).collect())
    }
}
