//! [`NativeFile`]: a native file that is read.

use std::{
    cell::{RefCell, RefMut},
    sync::Arc,
};

use isotach_hdf5::{Attribute, BlobId, ChunkInfo, Data, Error as FileError, Header, Kind, Link, Space};
use isotach_hdf5_types::{Stored, StoredCreation};

use super::{
    ffi::{Arena, Elements, Id, Layout, Library},
    find,
};
use crate::{Block, Result, Source};

/// A native file that is open for reading.
#[derive(Debug)]
pub struct NativeFile {
    name: String,
    file: Id,
    /// The dataset that was used last.
    dataset: RefCell<Option<Opened>>,
    arena: RefCell<Arena>,
}

/// An open dataset.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) number: u64,
    pub(super) id: Id,
    pub(super) elements: Elements,
    pub(super) space: Space,
}

impl Opened {
    pub(super) fn new(file: &Id, number: u64) -> Result<Self> {
        let id = file.object(number)?;
        let kind = id.dataset_type()?;
        let encoded = kind.encode_type()?;
        let space = id.dataset_space()?.extent()?;
        Ok(Self { number, elements: Elements::new(kind, &encoded)?, id, space })
    }

    /// The dataset's space with a block of it selected.
    pub(super) fn selected(&self, block: &Block) -> Result<Id> {
        let space = self.id.dataset_space()?;
        space.select(block)?;
        Ok(space)
    }
}

/// The open dataset with this number.
pub(super) fn opened<'o>(
    kept: &'o RefCell<Option<Opened>>,
    file: &Id,
    number: u64,
) -> Result<RefMut<'o, Opened>> {
    let mut kept = kept.borrow_mut();
    if kept.as_ref().is_none_or(|opened| opened.number != number) {
        *kept = None;
        *kept = Some(Opened::new(file, number)?);
    }
    let absent = || FileError::not_found(format!("the dataset at {number}"));
    RefMut::filter_map(kept, Option::as_mut).map_err(|_| absent().into())
}

impl NativeFile {
    /// Opens a file.
    ///
    /// # Errors
    /// `NotInstalled` and `Unusable` without an HDF5 library; `Library` with the library's reason.
    pub fn open(name: &str) -> Result<Self> {
        let file = find::library()?.open_file(name)?;
        Ok(Self { name: name.to_owned(), file, dataset: RefCell::default(), arena: RefCell::default() })
    }

    /// The stored form of a datatype.
    fn stored_type(kind: &Id) -> Result<Vec<u8>> {
        let committed = if kind.is_committed()? { kind.info()?.number } else { 0 };
        Ok(Stored { committed, encoded: &kind.encode_type()? }.to_vec())
    }

    /// Reads elements of which chunks may not be stored. HDF5 shows their fill value in files that it may write to, and not in others, if that
    /// has variable-length data.
    fn read_over_fill(&self, opened: &Opened, creation: &Id, block: &Block) -> Result<Vec<u8>> {
        let elements = &opened.elements;
        let size = elements.file_form().size as usize;
        let mut arena = self.arena.borrow_mut();
        let fill = elements.read_fill(creation, &self.file, &mut arena)?;
        let mut read = fill.repeat(block.elements() as usize);
        let (dims, chunk) = (opened.space.dims(), creation.chunk()?);
        for info in opened.id.chunks(dims.len())? {
            let Some(part) = Block::chunk(&info.offset, &chunk, dims).common(block) else { continue };
            let (selected, count) = (opened.selected(&part)?, part.elements() as usize);
            let stored = elements.read_dataset(&opened.id, &selected, count, &self.file, &mut arena)?;
            let mut left = stored.as_slice();
            for run in part.within(block).runs(&block.count) {
                let (first, length) = (run.first as usize * size, run.count as usize * size);
                let (bytes, rest) = left.split_at_checked(length).unwrap_or((left, &[]));
                if let Some(place) = read.get_mut(first..first + bytes.len()) {
                    place.copy_from_slice(bytes);
                }
                left = rest;
            }
        }
        Ok(read)
    }

    fn group(group: &Id, header: &mut Header) -> Result<()> {
        let creation = group.group_creation()?;
        header.tracks_link_order = creation.tracks_link_order()?;
        header.tracks_attribute_order = creation.tracks_attribute_order()?;
        header.creation = creation.encode_list()?;
        Ok(())
    }

    fn dataset(&self, number: u64, dataset: &Id, header: &mut Header) -> Result<bool> {
        let creation = dataset.dataset_creation()?;
        let opened = opened(&self.dataset, &self.file, number)?;
        let element = opened.elements.file_form().size;
        let is_chunked = creation.layout()? == Layout::Chunked;
        let chunk = match &opened.space {
            Space::Simple { .. } if is_chunked => creation.chunk()?,
            Space::Simple { dims, .. } => Data::auto_chunk(dims, element),
            Space::Null | Space::Scalar => Vec::new(),
        };
        let (mut fill, mut unused_fill) = (None, Vec::new());
        header.tracks_attribute_order = creation.tracks_attribute_order()?;
        if creation.has_fill()? {
            let value = opened.elements.read_fill(&creation, &self.file, &mut self.arena.borrow_mut())?;
            if creation.shows_fill()? {
                fill = Some(value);
            } else {
                unused_fill = value;
            }
            // It is kept beside the list: HDF5 encodes pointers of a value that has some.
            creation.clear_fill(opened.elements.kind())?;
        }
        let encoded = creation.encode_list()?;
        header.creation = StoredCreation { unused_fill: &unused_fill, encoded: &encoded }.to_vec();
        header.datatype = Self::stored_type(opened.elements.kind())?;
        let filters = creation.filters()?;
        header.data = Some(Data { element, space: opened.space.clone(), chunk, fill, filters, is_chunked });
        creation.tracks_times()
    }
}

impl Source for NativeFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn root(&self) -> Result<u64> {
        Ok(self.file.object_at("/")?.info()?.number)
    }

    fn properties(&self) -> Result<Vec<u8>> {
        self.file.file_creation()?.encode_list()
    }

    fn header(&self, object: u64) -> Result<Arc<Header>> {
        let id = self.file.object(object)?;
        let info = id.info()?;
        let mut header = Header::new(info.kind);
        header.references = info.references;
        let mut keeps_times = info.modified != 0;
        match info.kind {
            Kind::Group => Self::group(&id, &mut header)?,
            Kind::Dataset => keeps_times = self.dataset(object, &id, &mut header)?,
            Kind::Datatype => {
                header.datatype = Stored { committed: 0, encoded: &id.encode_type()? }.to_vec();
                header.creation = id.datatype_creation()?.encode_list()?;
            }
            Kind::Map => return Err(FileError::unsupported("maps in native files").into()),
        }
        if keeps_times {
            let time = |time: i64| (time != 0).then_some(time);
            header.created = time(info.born).or(time(info.modified));
            header.modified = time(info.modified);
        }
        header.comment = id.comment()?;
        Ok(Arc::new(header))
    }

    fn obstacle(&self, object: u64) -> Result<Option<String>> {
        let id = self.file.object(object)?;
        if id.info()?.kind != Kind::Dataset {
            return Ok(None);
        }
        let creation = id.dataset_creation()?;
        Ok(creation.has_external_files()?.then(|| "its elements are in external files".to_owned()))
    }

    fn moves_chunks(&self, dataset: u64) -> Result<bool> {
        let creation = self.file.object(dataset)?.dataset_creation()?;
        Ok(creation.layout()? == Layout::Chunked && !creation.keeps_edges_plain()?)
    }

    fn decodes(&self, header: &Header) -> bool {
        let mut filters = header.data.iter().flat_map(|data| &data.filters);
        filters.all(|filter| self.file.library().has_filter(filter.id))
    }

    fn links(&self, group: u64) -> Result<Vec<(String, Link)>> {
        let group = self.file.object(group)?;
        group.links(group.group_creation()?.tracks_link_order()?)
    }

    fn attributes(&self, object: u64) -> Result<Vec<String>> {
        let id = self.file.object(object)?;
        let creation = match id.info()?.kind {
            Kind::Group => Some(id.group_creation()?),
            Kind::Dataset => Some(id.dataset_creation()?),
            Kind::Datatype | Kind::Map => None,
        };
        id.attribute_names(creation.map_or(Ok(false), |creation| creation.tracks_attribute_order())?)
    }

    fn attribute(&self, object: u64, name: &str) -> Result<Attribute> {
        let id = self.file.object(object)?.attribute(name)?;
        let (kind, space, creation) =
            (id.attribute_type()?, id.attribute_space()?.extent()?, id.attribute_creation()?);
        let datatype = Self::stored_type(&kind)?;
        let elements =
            Elements::new(kind, Stored::parse(&datatype).map_err(crate::Error::at(name))?.encoded)?;
        let count = space.count()? as usize;
        let value = elements.read_attribute(&id, count, &self.file, &mut self.arena.borrow_mut())?;
        let (charset, creation) = (creation.charset()?, creation.encode_list()?);
        Ok(Attribute { name: name.to_owned(), charset, order: 0, datatype, space, creation, value })
    }

    fn storage_size(&self, dataset: u64) -> Result<u64> {
        Ok(self.file.object(dataset)?.storage_size())
    }

    fn chunks(&self, dataset: u64) -> Result<Vec<ChunkInfo>> {
        let opened = opened(&self.dataset, &self.file, dataset)?;
        opened.id.chunks(opened.space.dims().len())
    }

    fn stored(&self, dataset: u64) -> Result<Vec<Block>> {
        let opened = opened(&self.dataset, &self.file, dataset)?;
        let creation = opened.id.dataset_creation()?;
        match creation.layout()? {
            Layout::Chunked => {}
            Layout::Whole if opened.space != Space::Null && opened.id.is_allocated()? => {
                return Ok(vec![Block::whole(opened.space.dims())]);
            }
            Layout::Whole | Layout::Virtual => return Ok(Vec::new()),
        }
        let dims = opened.space.dims();
        let (chunks, chunk) = (opened.id.chunks(dims.len())?, creation.chunk()?);
        Ok(chunks.iter().map(|info| Block::chunk(&info.offset, &chunk, dims)).collect())
    }

    fn read_chunk(&self, dataset: u64, offset: &[u64]) -> Result<(u32, Vec<u8>)> {
        opened(&self.dataset, &self.file, dataset)?.id.read_chunk(offset)
    }

    fn reads_virtual(&self) -> bool {
        true
    }

    fn read(&self, dataset: u64, block: &Block) -> Result<Vec<u8>> {
        let opened = opened(&self.dataset, &self.file, dataset)?;
        let count = block.elements() as usize;
        if count == 0 {
            return Ok(Vec::new());
        }
        let elements = &opened.elements;
        if elements.file_form().is_bound_to_its_file() {
            let creation = opened.id.dataset_creation()?;
            if creation.has_fill()? && creation.layout()? == Layout::Chunked {
                return self.read_over_fill(&opened, &creation, block);
            }
        }
        let selected = opened.selected(block)?;
        elements.read_dataset(&opened.id, &selected, count, &self.file, &mut self.arena.borrow_mut())
    }

    fn map_keys(&self, _: u64) -> Result<Vec<Vec<u8>>> {
        Err(FileError::unsupported("maps in native files").into())
    }

    fn map_value(&self, _: u64, _: &[u8]) -> Result<Vec<u8>> {
        Err(FileError::unsupported("maps in native files").into())
    }

    fn blob(&self, id: &BlobId) -> Result<Vec<u8>> {
        let absent = || FileError::not_found("variable-length data that was forgotten");
        Ok(self.arena.borrow().get(&id.0).ok_or_else(absent)?.to_vec())
    }

    fn forget_blobs(&self) {
        self.arena.borrow_mut().clear();
    }
}

/// Kept for its library by targets.
pub(super) fn library() -> Result<&'static Library> {
    find::library()
}
