//! [`File`]: an open file, shared by all its handles in the process.

use std::sync::Arc;

use crate::{Error, Header, Link, Object, Result};

/// The name of a blob: a piece of variable-length data. All zeros are no blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId(pub [u8; 16]);

impl BlobId {
    /// The name of no blob.
    pub const NULL: Self = Self([0; 16]);

    /// Whether it names no blob.
    pub fn is_null(&self) -> bool {
        *self == Self::NULL
    }
}

/// What is done with a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// It is followed.
    Follow,
    /// It is the result.
    Keep,
}

/// What a path leads to.
#[derive(Debug, Clone)]
pub enum Resolved {
    /// An object.
    Object(Object),
    /// A link: any with [`Last::Keep`], else a soft link to nothing.
    Link {
        /// The group that holds it.
        parent: Object,
        /// Its name.
        name: String,
        /// The link.
        link: Link,
    },
    /// Nothing: the last name is not in its group.
    Absent {
        /// The group.
        parent: Object,
        /// The name.
        name: String,
    },
    /// A path in another file. The caller opens it and goes on.
    External {
        /// The name of the file, as in the link.
        file: String,
        /// The path of the link, and what followed the link in the path.
        path: String,
        /// The group that holds the link.
        link_parent: Object,
    },
    /// A link of a program's own class. The caller follows it and goes on.
    UserDefined {
        /// The number of the class.
        class: u8,
        /// The bytes of the link.
        bytes: Vec<u8>,
        /// The group that holds the link.
        parent: Object,
        /// The name of the link.
        name: String,
        /// What followed the link in the path.
        rest: String,
    },
}

/// An open file: one per container and process, shared by all its handles. What is written is seen through every handle of the process
/// at once and by others after [`File::commit`]. Dropping the last handle gives up what was not committed.
#[derive(Debug)]
pub struct File {
    name: String,
    number: u64,
}

impl File {
    /// The name it was first opened with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A number that no other open file of the process has.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether it may be written.
    pub fn is_writable(&self) -> bool {
        false
    }

    /// The encoded creation property list of the file.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn properties(&self) -> Result<Vec<u8>> {
        Err(Error::unsupported("properties of files"))
    }

    /// The root group.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn root(self: &Arc<Self>) -> Result<Object> {
        Err(Error::unsupported("root groups"))
    }

    /// The object with this number.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Object`.
    pub fn object(self: &Arc<Self>, number: u64) -> Result<Object> {
        let _ = number;
        Err(Error::unsupported("objects by number"))
    }

    /// Creates an object without a link; [`Header::references`] counts as 0. It is removed when its last handle is dropped and no hard link
    /// leads to it.
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` for data that cannot be stored; `Unsupported` for a required filter that is not known; `Object`.
    pub fn create_object(self: &Arc<Self>, header: Header) -> Result<Object> {
        let _ = header;
        Err(Error::unsupported("creating objects"))
    }

    /// Commits everything that was written through this process's handles, as one version, and makes it durable. Returns the new version.
    /// Of several processes that change one entry the last one wins; ranges of a chunk are merged.
    ///
    /// # Errors
    /// `AlreadyExists` if another process has created one of the links; what was written stays uncommitted. `Object`.
    pub fn commit(&self) -> Result<u64> {
        Err(Error::unsupported("commits"))
    }

    /// Gives up what was not committed.
    ///
    /// # Errors
    /// `Object`.
    pub fn discard(&self) -> Result<()> {
        Err(Error::unsupported("giving up changes"))
    }

    /// Goes to the newest version. What was written and not committed stays.
    ///
    /// # Errors
    /// `Object`.
    pub fn refresh(&self) -> Result<()> {
        Err(Error::unsupported("refreshing files"))
    }

    /// Whether something was written and not committed.
    pub fn has_changes(&self) -> bool {
        false
    }

    /// The number of the version that is read: greater is newer.
    pub fn version(&self) -> u64 {
        0
    }

    /// What a path leads to, from a group or, with a slash in front, from the root. Empty names and `.` are skipped. Soft links are
    /// followed from the group that holds them.
    ///
    /// # Errors
    /// `NotFound` if a name before the last one leads nowhere; `InvalidInput` if one leads to no group, or for more than 16 links that
    /// are followed; `Corrupt`, `Object`.
    pub fn resolve(self: &Arc<Self>, from: &Object, path: &str, last: Last) -> Result<Resolved> {
        let _ = (from, path, last);
        Err(Error::unsupported("paths"))
    }

    /// Stores a piece of variable-length data. An empty one is [`BlobId::NULL`].
    ///
    /// # Errors
    /// `ReadOnly`; `InvalidInput` for 4 GiB and more; `Object`.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<BlobId> {
        let _ = bytes;
        Err(Error::unsupported("blobs"))
    }

    /// The bytes of a blob.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Object`.
    pub fn blob(&self, id: &BlobId) -> Result<Vec<u8>> {
        let _ = id;
        Err(Error::unsupported("blobs"))
    }

    /// Removes a blob; one that is not there is fine.
    ///
    /// # Errors
    /// `ReadOnly`, `Corrupt`, `Object`.
    pub fn remove_blob(&self, id: &BlobId) -> Result<()> {
        let _ = id;
        Err(Error::unsupported("blobs"))
    }
}
