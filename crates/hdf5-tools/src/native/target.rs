//! [`NativeTarget`]: a new native file.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

use isotach_hdf5::{Attribute, BlobId, Charset, Error as FileError, Filter, Header, Kind, Link};
use isotach_hdf5_types::{Stored, StoredCreation};

use super::{
    NativeFile,
    ffi::{Arena, Elements, Id, Library, PropertyClass},
    source::{Opened, library, opened},
};
use crate::{
    Block, Error, Result, Source,
    place::Temporary,
    target::{Limits, Target},
};

/// A new native file, at a temporary path.
pub(crate) struct NativeTarget {
    /// The objects that have no link so far.
    pending: RefCell<HashMap<u64, Id>>,
    dataset: RefCell<Option<Opened>>,
    arena: RefCell<Arena>,
    /// Nothing once it is complete.
    file: Option<Id>,
    temporary: Option<Temporary>,
    links: [Id; 2],
    root: Cell<u64>,
}

impl NativeTarget {
    /// Creates a file whose root group has this header.
    pub(crate) fn create(name: &str, root: &Header, properties: &[u8]) -> Result<Self> {
        let library = library()?;
        let temporary = Temporary::beside(name)?;
        let creation = library.list(properties, PropertyClass::FileCreation)?;
        creation.track_orders(root.tracks_link_order, root.tracks_attribute_order)?;
        let access = library.new_list(PropertyClass::FileAccess)?;
        access.set_formats()?;
        let links =
            [library.new_list(PropertyClass::LinkCreation)?, library.new_list(PropertyClass::LinkCreation)?];
        links[1].set_charset(Charset::Utf8)?;
        let file = library.create_file(&temporary.path, &creation, &access)?;
        let group = file.object_at("/")?;
        if let Some(comment) = &root.comment {
            group.set_comment(comment)?;
        }
        let root = Cell::new(group.info()?.number);
        drop(group);
        Ok(Self {
            pending: RefCell::default(),
            dataset: RefCell::default(),
            arena: RefCell::default(),
            file: Some(file),
            temporary: Some(temporary),
            links,
            root,
        })
    }

    fn file(&self) -> Result<&Id> {
        self.file.as_ref().ok_or_else(|| FileError::invalid("a file that is closed", "an open one").into())
    }

    fn elements(&self, stored: &[u8]) -> Result<Elements> {
        let Stored { encoded, .. } = Stored::parse(stored).map_err(Error::at("a datatype"))?;
        Elements::new(self.file()?.library().datatype(encoded)?, encoded)
    }

    /// The committed datatype that a stored type is, if it is one.
    fn committed(&self, stored: &[u8]) -> Result<Option<Id>> {
        let Stored { committed, .. } = Stored::parse(stored).map_err(Error::at("a datatype"))?;
        if committed == 0 { Ok(None) } else { self.file()?.object(committed).map(Some) }
    }

    fn new_group(&self, header: &Header) -> Result<Id> {
        let file = self.file()?;
        let creation = file.library().list(&header.creation, PropertyClass::GroupCreation)?;
        creation.track_orders(header.tracks_link_order, header.tracks_attribute_order)?;
        file.new_group(&creation)
    }

    fn new_datatype(&self, header: &Header) -> Result<Id> {
        let file = self.file()?;
        let Stored { encoded, .. } = Stored::parse(&header.datatype).map_err(Error::at("a datatype"))?;
        let kind = file.library().datatype(encoded)?;
        // The class of these lists has no properties of its own.
        let creation = if header.creation.is_empty() {
            None
        } else {
            Some(file.library().list(&header.creation, PropertyClass::GroupCreation)?)
        };
        file.commit_type(&kind, creation.as_ref())?;
        Ok(kind)
    }

    fn new_dataset(&self, header: &Header) -> Result<Id> {
        let file = self.file()?;
        let library = file.library();
        let data = header.data.as_ref().ok_or_else(|| FileError::invalid("an object", "a dataset"))?;
        let elements = self.elements(&header.datatype)?;
        let stored = StoredCreation::parse(&header.creation).map_err(Error::at("a dataset"))?;
        let creation = library.list(stored.encoded, PropertyClass::DatasetCreation)?;
        if header.creation.is_empty() && data.is_chunked {
            creation.set_chunk(&data.chunk)?;
            data.filters.iter().try_for_each(|filter| creation.add_filter(filter))?;
        }
        let unused_fill = Some(stored.unused_fill).filter(|fill| !fill.is_empty());
        if let Some(fill) = data.fill.as_deref().or(unused_fill) {
            elements.write_fill(&creation, fill, file, &self.arena.borrow())?;
        }
        let space = library.space(&data.space)?;
        let committed = self.committed(&header.datatype)?;
        file.new_dataset(committed.as_ref().unwrap_or(elements.kind()), &space, &creation)
    }

    fn object(&self, number: u64) -> Result<Option<Id>> {
        if self.pending.borrow().contains_key(&number) {
            Ok(None)
        } else {
            self.file()?.object(number).map(Some)
        }
    }

    /// Calls `with` with an object, which may have no link.
    fn with<T>(&self, number: u64, with: impl FnOnce(&Id) -> Result<T>) -> Result<T> {
        if let Some(object) = self.object(number)? {
            return with(&object);
        }
        let pending = self.pending.borrow();
        with(pending.get(&number).ok_or_else(|| FileError::not_found(format!("the object at {number}")))?)
    }

    fn close(&mut self) -> Result<()> {
        self.dataset.replace(None);
        self.pending.borrow_mut().clear();
        let Some(file) = self.file.take() else { return Ok(()) };
        file.flush()?;
        file.close("close the file")
    }
}

/// What a native file can hold.
pub(crate) struct NativeLimits {
    library: &'static Library,
}

impl NativeLimits {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { library: library()? })
    }
}

impl Limits for NativeLimits {
    fn obstacle(&self, header: &Header) -> Result<Option<String>> {
        if header.kind == Kind::Map {
            return Ok(Some("native files have no maps".to_owned()));
        }
        let library = self.library;
        let filters = header.data.iter().flat_map(|data| &data.filters);
        let absent =
            |filter: &&Filter| filter.flags & Filter::OPTIONAL == 0 && !library.has_filter(filter.id);
        let mut absent = filters.filter(absent);
        Ok(absent
            .next()
            .map(|Filter { id, name, .. }| format!("HDF5 {} has no filter {id} ({name})", library.version())))
    }

    fn takes_chunks(&self, _: &Header) -> Result<bool> {
        // A filter that this library lacks is one that the program which reads them may have.
        Ok(true)
    }

    fn link_obstacle(&self, link: &Link) -> Option<String> {
        match &link.target {
            isotach_hdf5::Target::User { class, .. } => {
                Some(format!("a link of the user-defined class {class}"))
            }
            _ => None,
        }
    }
}

impl Target for NativeTarget {
    fn root(&self) -> Result<u64> {
        Ok(self.root.get())
    }

    fn create(&self, header: &Header) -> Result<u64> {
        let object = match header.kind {
            Kind::Group => self.new_group(header)?,
            Kind::Dataset => self.new_dataset(header)?,
            Kind::Datatype => self.new_datatype(header)?,
            Kind::Map => return Err(FileError::unsupported("maps in native files").into()),
        };
        if let Some(comment) = &header.comment {
            object.set_comment(comment)?;
        }
        let number = object.info()?.number;
        self.pending.borrow_mut().insert(number, object);
        Ok(number)
    }

    fn link(&self, group: u64, name: &str, target: &isotach_hdf5::Target, charset: Charset) -> Result<()> {
        let properties = &self.links[usize::from(charset == Charset::Utf8)];
        self.with(group, |group| match target {
            isotach_hdf5::Target::Hard { number, .. } => {
                self.with(*number, |object| group.link_object(object, name, properties))
            }
            isotach_hdf5::Target::Soft(path) => group.link_path(path, name, properties),
            isotach_hdf5::Target::External { file, path } => group.link_file(file, path, name, properties),
            isotach_hdf5::Target::User { .. } => Err(FileError::unsupported("user-defined links").into()),
        })?;
        if let isotach_hdf5::Target::Hard { number, .. } = target {
            self.pending.borrow_mut().remove(number);
        }
        Ok(())
    }

    fn put_attribute(&self, object: u64, attribute: Attribute) -> Result<()> {
        let file = self.file()?;
        let elements = self.elements(&attribute.datatype)?;
        let committed = self.committed(&attribute.datatype)?;
        let space = file.library().space(&attribute.space)?;
        let creation = if attribute.creation.is_empty() {
            None
        } else {
            Some(file.library().list(&attribute.creation, PropertyClass::LinkCreation)?)
        };
        self.with(object, |object| {
            let kind = committed.as_ref().unwrap_or(elements.kind());
            let created = object.new_attribute(&attribute.name, kind, &space, creation.as_ref())?;
            elements.write_attribute(&created, &attribute.value, file, &self.arena.borrow())
        })
    }

    fn write_chunk(&self, dataset: u64, offset: &[u64], mask: u32, bytes: &[u8]) -> Result<()> {
        opened(&self.dataset, self.file()?, dataset)?.id.write_chunk(offset, mask, bytes)
    }

    fn write(&self, dataset: u64, block: &Block, elements: &[u8]) -> Result<()> {
        if elements.is_empty() {
            return Ok(());
        }
        let file = self.file()?;
        let opened = opened(&self.dataset, file, dataset)?;
        let selected = opened.selected(block)?;
        opened.elements.write_dataset(&opened.id, &selected, elements, file, &self.arena.borrow())
    }

    fn put_map_value(&self, _: u64, _: &[u8], _: Vec<u8>) -> Result<()> {
        Err(FileError::unsupported("maps in native files").into())
    }

    fn put_blob(&self, bytes: Vec<u8>) -> Result<BlobId> {
        Ok(BlobId(self.arena.borrow_mut().put(bytes)))
    }

    fn forget_blobs(&self) {
        self.arena.borrow_mut().clear();
    }

    fn complete(&mut self) -> Result<Box<dyn Source>> {
        self.close()?;
        let temporary = self.temporary.as_ref().ok_or_else(|| FileError::invalid("a file twice", "once"))?;
        let name = temporary.text();
        let sync = std::fs::File::open(&temporary.path).and_then(|file| file.sync_all());
        sync.map_err(Error::io(format!("write {name}")))?;
        Ok(Box::new(NativeFile::open(&name)?))
    }

    fn publish(mut self: Box<Self>) -> Result<()> {
        match self.temporary.take() {
            Some(temporary) => {
                let path = temporary.path.clone();
                let published = temporary.publish();
                if published.is_err() {
                    let _ = std::fs::remove_file(path);
                }
                published
            }
            None => Ok(()),
        }
    }
}

impl Drop for NativeTarget {
    fn drop(&mut self) {
        // Of a file that is not complete nothing is kept, so its errors do not matter.
        let _ = self.close();
        if let Some(temporary) = self.temporary.take() {
            let _ = std::fs::remove_file(&temporary.path);
        }
    }
}
