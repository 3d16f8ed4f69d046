//! What is at the name of a file.

use std::sync::Arc;

use isotach_object::{Container, Error as ObjectError};

use super::{Access, Site};
use crate::{
    Error, Result, layout,
    stub::{self, Found},
};

impl Site {
    /// Whether there is a file of this kind, or a snapshot of one. False for a path that holds something else.
    ///
    /// # Errors
    /// `Object`, `Io`.
    pub fn exists(&self, name: &str) -> Result<bool> {
        if self.is_there(name)? {
            return Ok(true);
        }
        let Some((file, snapshot)) = self.parts(name) else { return Ok(false) };
        let Some(container) = self.found(&file)? else { return Ok(false) };
        match container.facets().snapshots {
            Some(snapshots) => Ok(snapshots.list()?.iter().any(|found| found.name == snapshot)),
            None => Ok(false),
        }
    }

    pub(super) fn is_there(&self, name: &str) -> Result<bool> {
        Ok(self.found(name)?.is_some())
    }

    /// The container of a file, if there is one.
    fn found(&self, name: &str) -> Result<Option<Arc<dyn Container>>> {
        let (uri, label) = match self.locate(name, Access::ReadOnly) {
            Ok(found) => found,
            Err(Error::NotFound { .. } | Error::InvalidInput { .. } | Error::Foreign { .. }) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        match self.registry.open_pool(&uri).and_then(|pool| pool.open_container(&label)) {
            Ok(container) => {
                let is_file = !matches!(layout::check(&*container, name), Err(Error::InvalidInput { .. }));
                Ok(is_file.then_some(container))
            }
            Err(ObjectError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a path holds a file of others, such as a native HDF5 file.
    ///
    /// # Errors
    /// `InvalidInput`, `Io`.
    pub fn is_foreign(&self, name: &str) -> Result<bool> {
        Ok(self.foreign(name)?.is_some())
    }

    /// The error of a path that holds a file of others.
    pub(super) fn foreign(&self, name: &str) -> Result<Option<Error>> {
        let Some(path) = self.place(name)?.path() else { return Ok(None) };
        Ok(match stub::read(&path)? {
            Found::Other(what) => Some(Error::Foreign { name: name.to_owned(), what }),
            _ => None,
        })
    }
}
