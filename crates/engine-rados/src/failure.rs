//! What an error number of librados means to the caller, and writes that may be refused.

use std::io;

use isotach_engine_kit::context::{Context, VendorError};
use isotach_object::{Error, Result};

use crate::ffi::{Errno, Io, WriteOp};

impl VendorError for Errno {
    type Error = Error;

    fn during(self, attempted: String) -> Error {
        failed(self, attempted)
    }
}

impl Io {
    /// Does one write. Returns the version of the object, or `None` if a condition of the write does not hold.
    pub(crate) fn write_if(
        &self,
        name: &str,
        what: impl Fn() -> String,
        put_together: impl FnOnce(&mut WriteOp) -> &mut WriteOp,
    ) -> Result<Option<u64>> {
        let mut op = WriteOp::new().context(&what)?;
        match self.write(name, put_together(&mut op)) {
            Ok(version) => Ok(Some(version)),
            Err(errno) if errno.is_refusal() => Ok(None),
            Err(errno) => Err(failed(errno, what())),
        }
    }
}

/// The error for an operation that failed so.
pub(crate) fn failed(errno: Errno, what: String) -> Error {
    let source = io::Error::from_raw_os_error(errno.0);
    match errno.0 {
        libc::EPERM | libc::EACCES => Error::PermissionDenied {
            what: format!(
                "{what}: {source}; see docs/engines/rados.md for what a user must be allowed to do"
            ),
            source: Some(source),
        },
        libc::ENOSPC | libc::EDQUOT => Error::NoSpace {
            what: format!("{what}: {source}; the cluster or its pool is full: remove data, or add storage"),
        },
        libc::ETIMEDOUT => Error::Io {
            what: format!(
                "{what}: no answer in time, so a change may or may not have been made; look at `ceph status`, or raise \
                 the option timeout of the store"
            ),
            source: Box::new(source),
        },
        // A caller that has set a condition checks for its failure before.
        libc::ENOENT => Error::not_found(what),
        libc::EEXIST => Error::AlreadyExists { what },
        _ => Error::Io { what, source: Box::new(source) },
    }
}
