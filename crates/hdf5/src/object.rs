//! [`Object`]: a handle on an object of a file.

use std::{fmt, sync::Arc};

use crate::{Error, File, Header, Kind, Result, file::check_header};

/// An open object. Clones count as handles; see [`File::create_object`].
#[derive(Debug)]
pub struct Object {
    file: Arc<File>,
    number: u64,
    kind: Kind,
}

impl Clone for Object {
    fn clone(&self) -> Self {
        Self::open(self.file.clone(), self.number, self.kind)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        self.file.remove_handle(self.number);
    }
}

/// Its number and its file, as errors name it.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {} of {}", self.number, self.file.name())
    }
}

impl Object {
    pub(crate) fn open(file: Arc<File>, number: u64, kind: Kind) -> Self {
        file.add_handle(number);
        Self { file, number, kind }
    }

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
        self.file.session().header(self.number)?.ok_or_else(|| Error::not_found(self.to_string()))
    }

    /// Replaces its header. To change an extent use [`Object::set_extent`].
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` for another kind or for data that cannot be stored; `Object`.
    pub fn set_header(&self, header: Header) -> Result<()> {
        self.file.check_writable()?;
        check_header(&header)?;
        if header.kind != self.kind {
            return Err(Error::invalid(
                format!("a header of a {:?}", header.kind),
                format!("{:?}", self.kind),
            ));
        }
        self.file.session().put_header(self.number, header);
        Ok(())
    }

    /// Sets how many hard links count as leading to it. With 0 it is removed when its last handle is dropped.
    ///
    /// # Errors
    /// As [`Object::set_header`].
    pub fn change_reference_count(&self, count: u32) -> Result<()> {
        self.set_header(Header { references: count, ..(*self.header()?).clone() })
    }
}
