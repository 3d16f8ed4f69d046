//! [`ModelTarget`]: a new file of the connector.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use isotach_engine_kit::random;
use isotach_hdf5::{
    Attribute, BlobId, Charset, Creation, Error as FileError, File, Header, Kind, Link, Object, Site,
};

use super::{ModelFile, data_of};
use crate::{
    Block, Error, Result, Source,
    place::{Temporary, check_free, is_uri},
    target::{Limits, Target},
};

/// A new file of the connector. It is one version, which is committed when it is complete.
pub(crate) struct ModelTarget {
    site: Site,
    /// Nothing once the file has its name.
    unfinished: Option<Unfinished>,
    file: Option<Arc<File>>,
    /// The objects that have no link so far, and the dataset that was used last.
    objects: RefCell<HashMap<u64, Object>>,
}

/// A file that goes if it is not published.
enum Unfinished {
    /// Its stub is at another path.
    Beside(Temporary),
    /// It has its name in a pool, which cannot be changed; until the commit it is empty.
    InPool(String),
}

impl ModelTarget {
    /// Creates a file whose root group has this header.
    pub(crate) fn create(site: &Site, name: &str, root: &Header, properties: &[u8]) -> Result<Self> {
        let unfinished = if is_in_pool(name) {
            if site.exists(name)? {
                return Err(Error::Exists { name: name.to_owned() });
            }
            if !is_uri(name) {
                check_free(name.as_ref())?;
            }
            Unfinished::InPool(name.to_owned())
        } else {
            Unfinished::Beside(Temporary::beside(name)?)
        };
        let at = match &unfinished {
            Unfinished::Beside(temporary) => temporary.text(),
            Unfinished::InPool(name) => name.clone(),
        };
        let file = match site.create(&at, Creation::New, root, properties) {
            Err(FileError::AlreadyExists { .. }) => return Err(Error::Exists { name: name.to_owned() }),
            created => created?,
        };
        let (unfinished, file) = (Some(unfinished), Some(file));
        Ok(Self { site: site.clone(), unfinished, file, objects: RefCell::default() })
    }

    fn file(&self) -> Result<&Arc<File>> {
        self.file.as_ref().ok_or_else(|| FileError::invalid("a file that is closed", "an open one").into())
    }

    fn object(&self, number: u64) -> Result<Object> {
        let known = self.objects.borrow().get(&number).cloned();
        known.map_or_else(|| Ok(self.file()?.object(number)?), Ok)
    }
}

/// Whether a file of this name is in a pool, and not beside its path.
fn is_in_pool(name: &str) -> bool {
    let pool = std::env::var("ISOTACH_H5_POOL").unwrap_or_default();
    is_uri(name) || !(pool.trim().is_empty() || pool.trim().starts_with('?'))
}

/// What a file of the connector can hold.
pub(crate) struct ModelLimits {
    /// A file in memory, where objects are tried.
    trial: Arc<File>,
}

impl ModelLimits {
    pub(crate) fn new() -> Result<Self> {
        let site = Site::new(None, isotach_open::registry());
        // Each has a pool of its own: they last as long as the process.
        let name = format!("memory:h5-trial-{:016x}/file", random::number().map_err(FileError::from)?);
        Ok(Self { trial: site.create(&name, Creation::New, &Header::new(Kind::Group), &[])? })
    }
}

impl Limits for ModelLimits {
    fn obstacle(&self, header: &Header) -> Result<Option<String>> {
        match self.trial.create_object(header.clone()) {
            Ok(_) => Ok(None),
            Err(FileError::Object(error)) => Err(FileError::Object(error).into()),
            Err(error) => Ok(Some(error.to_string())),
        }
    }

    fn takes_chunks(&self, header: &Header) -> Result<bool> {
        // An unknown filter is no obstacle if it is optional, but chunks that went through it cannot be read.
        let mut header = header.clone();
        header.data.iter_mut().flat_map(|data| &mut data.filters).for_each(|filter| filter.flags = 0);
        Ok(self.obstacle(&header)?.is_none())
    }

    fn link_obstacle(&self, _: &Link) -> Option<String> {
        None
    }
}

impl Target for ModelTarget {
    fn root(&self) -> Result<u64> {
        Ok(self.file()?.root()?.number())
    }

    fn create(&self, header: &Header) -> Result<u64> {
        let object = self.file()?.create_object(header.clone())?;
        let number = object.number();
        self.objects.borrow_mut().insert(number, object);
        Ok(number)
    }

    fn link(&self, group: u64, name: &str, target: &isotach_hdf5::Target, charset: Charset) -> Result<()> {
        self.object(group)?.insert_link(name, target.clone(), charset)?;
        if let isotach_hdf5::Target::Hard { number, .. } = target {
            self.objects.borrow_mut().remove(number);
        }
        Ok(())
    }

    fn put_attribute(&self, object: u64, attribute: Attribute) -> Result<()> {
        Ok(self.object(object)?.put_attribute(attribute)?)
    }

    fn write_chunk(&self, dataset: u64, offset: &[u64], mask: u32, bytes: &[u8]) -> Result<()> {
        Ok(self.object(dataset)?.write_chunk(offset, mask, bytes)?)
    }

    fn write(&self, dataset: u64, block: &Block, elements: &[u8]) -> Result<()> {
        let object = self.object(dataset)?;
        let header = object.header()?;
        let data = data_of(&header, &|| format!("object {dataset}"))?;
        Ok(object.write(&block.runs(data.space.dims()), elements)?)
    }

    fn put_map_value(&self, map: u64, key: &[u8], value: Vec<u8>) -> Result<()> {
        Ok(self.object(map)?.put_map_value(key, value)?)
    }

    fn put_blob(&self, bytes: Vec<u8>) -> Result<BlobId> {
        Ok(self.file()?.put_blob(&bytes)?)
    }

    fn forget_blobs(&self) {}

    fn complete(&mut self) -> Result<Box<dyn Source>> {
        let file = self.file()?;
        file.commit()?;
        Ok(Box::new(ModelFile::new(Arc::clone(file))))
    }

    fn publish(mut self: Box<Self>) -> Result<()> {
        self.objects.borrow_mut().clear();
        self.file = None;
        match self.unfinished.take() {
            Some(Unfinished::Beside(temporary)) => {
                let name = temporary.text();
                let published = temporary.publish();
                if published.is_err() {
                    let _ = self.site.delete(&name);
                }
                published
            }
            Some(Unfinished::InPool(_)) | None => Ok(()),
        }
    }
}

impl Drop for ModelTarget {
    fn drop(&mut self) {
        self.objects.borrow_mut().clear();
        self.file = None;
        // Nothing more can be done for a file that cannot be deleted; it is empty, or has no name that anybody looks for.
        let _ = match self.unfinished.take() {
            Some(Unfinished::Beside(temporary)) => self.site.delete(&temporary.text()),
            Some(Unfinished::InPool(name)) => self.site.delete(&name),
            None => Ok(()),
        };
    }
}
