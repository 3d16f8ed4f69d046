//! The only unsafe code of this crate: librados' C interface, loaded at run time, behind safe types.
//!
//! What must stay true:
//! - a loaded library is never unloaded, so function pointers taken from it are good for ever;
//! - a cluster outlives the pools that were opened on it, and a pool the operations that were begun on it;
//! - what librados writes into while an operation is under way lives until the operation has ended: the outputs of a read
//!   belong to it, and buffers are borrowed by [`Io::read_together`], which returns when all its reads have ended, or belong to
//!   an [`OwnedRead`], which gives them back when its read has ended;
//! - what an operation writes is copied by librados when the operation is put together.
//!
//! The signatures are those of `rados/librados.h` of Ceph 14.2 and later.

#![expect(unsafe_code, reason = "librados is a C library; all calls into it are made in this module")]

mod api;
mod cluster;
mod names;
mod read;
mod write;

use std::fmt;

pub(crate) use api::is_installed;
pub(crate) use cluster::{Cluster, Io, OwnedRead};
pub(crate) use names::Names;
pub(crate) use read::{Answer, ReadOp};
pub(crate) use write::{Pending, WriteOp};

/// How librados says that an operation failed: the system's number of the error, positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl Errno {
    pub(crate) const NOT_FOUND: Self = Self(libc::ENOENT);
    pub(crate) const EXISTS: Self = Self(libc::EEXIST);
    /// A comparison with an entry failed.
    pub(crate) const CANCELED: Self = Self(libc::ECANCELED);
    /// There is no such attribute to compare with.
    pub(crate) const NO_DATA: Self = Self(libc::ENODATA);

    fn check(result: i32) -> Result<i32, Self> {
        if result < 0 { Err(Self(-result)) } else { Ok(result) }
    }

    /// Whether a condition of the operation did not hold, so that it changed nothing.
    pub(crate) fn is_refusal(self) -> bool {
        [Self::CANCELED, Self::NO_DATA, Self::NOT_FOUND, Self::EXISTS].contains(&self)
    }
}

/// Shows of what has handles of librados' the name alone.
macro_rules! opaque {
    ($($name:ident: $type:ty),*) => {
        $(
            impl fmt::Debug for $type {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.debug_struct(stringify!($name)).finish_non_exhaustive()
                }
            }
        )*
    };
}

opaque! {
    Cluster: Cluster, Io: Io, OwnedRead: OwnedRead, Entries: read::Entries, Outputs: read::Outputs<'_>,
    WriteOp: WriteOp, Pending: Pending
}

/// Separates an absent object from other failures.
pub(crate) trait IfFound<T> {
    /// `None` if the object does not exist.
    fn if_found(self) -> Result<Option<T>, Errno>;
}

impl<T> IfFound<T> for Result<T, Errno> {
    fn if_found(self) -> Result<Option<T>, Errno> {
        match self {
            Err(Errno::NOT_FOUND) => Ok(None),
            outcome => outcome.map(Some),
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&std::io::Error::from_raw_os_error(self.0), f)
    }
}

/// How an entry or attribute is compared: what is stored, with what is given.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Compare {
    /// It is the same. What is not there is the same as no bytes.
    Equal = 1,
    /// It is greater.
    Greater = 3,
}
