//! [`Site`]: where files are, and the process's open files.

use std::sync::Arc;

use isotach_object::{PoolUri, Registry};

use crate::{Error, File, Header, Result};

/// What becomes of a file that exists when one is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// It is replaced by an empty one.
    Truncate,
    /// It is kept, and the creation fails.
    New,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For reading.
    ReadOnly,
    /// For reading and writing.
    ReadWrite,
}

/// Where files are: in one pool, or each in a pool beside its path.
#[derive(Debug, Clone)]
pub struct Site {
    pool: Option<PoolUri>,
    registry: Registry,
}

impl Site {
    /// Files in this pool or, without one, in pools beside their paths.
    pub fn new(pool: Option<PoolUri>, registry: Registry) -> Self {
        Self { pool, registry }
    }

    /// The site that a text names (a pool's URI; empty for none), or else `ISOTACH_H5_POOL`.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is no URI of a pool.
    pub fn from_environment(info: Option<&str>) -> Result<Self> {
        let _ = info;
        Err(Error::unsupported("sites of the environment"))
    }

    /// Creates a file whose root group has this header and which has these encoded properties. It is there, with its root, once this returns.
    ///
    /// # Errors
    /// `AlreadyExists` (`errno = 17`) with [`Creation::New`]; `InvalidInput` for a path that holds something else; `Object`, `Io`.
    pub fn create(
        &self,
        name: &str,
        creation: Creation,
        root: &Header,
        properties: &[u8],
    ) -> Result<Arc<File>> {
        let _ = (name, creation, root, properties, &self.pool, &self.registry);
        Err(Error::unsupported("creating files"))
    }

    /// Opens a file. All handles of a process share one [`File`], which becomes writable when the first writer comes.
    ///
    /// # Errors
    /// `NotFound` (`errno = 2`); `InvalidInput` for a path that holds something else; `Object`, `Io`.
    pub fn open(&self, name: &str, access: Access) -> Result<Arc<File>> {
        let _ = (name, access);
        Err(Error::unsupported("opening files"))
    }

    /// Whether there is a file of this kind. False for a path that holds something else.
    ///
    /// # Errors
    /// `Object`, `Io`.
    pub fn exists(&self, name: &str) -> Result<bool> {
        let _ = name;
        Err(Error::unsupported("looking for files"))
    }

    /// Deletes a file.
    ///
    /// # Errors
    /// `NotFound` (`errno = 2`); `InvalidInput` for a path that holds something else; `Object`, `Io`.
    pub fn delete(&self, name: &str) -> Result<()> {
        let _ = name;
        Err(Error::unsupported("deleting files"))
    }
}
