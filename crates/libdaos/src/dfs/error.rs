//! Failures of the file system as numbers of the operating system, as in libdfs.

use crate::{
    abi::errors::*,
    runtime::{error::Der, log},
};

/// An error number of the operating system, above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

/// The result of an operation.
pub(crate) type Result<T> = std::result::Result<T, Errno>;

/// Refuses with a number, and logs why.
pub(crate) fn refuse<T>(number: i32, why: &str) -> Result<T> {
    log::line("libdfs", why);
    Err(Errno(number))
}

impl From<Der> for Errno {
    fn from(Der(number): Der) -> Self {
        Self(match number {
            DER_NO_PERM | DER_EP_RO | DER_EP_OLD => libc::EPERM,
            DER_ENOENT | DER_NONEXIST => libc::ENOENT,
            DER_INVAL | DER_NOTYPE | DER_NO_HDL | DER_IO_INVAL => libc::EINVAL,
            DER_KEY2BIG | DER_REC2BIG => libc::E2BIG,
            DER_EXIST => libc::EEXIST,
            DER_UNREACH => libc::EHOSTUNREACH,
            DER_NOSPACE => libc::ENOSPC,
            DER_ALREADY => libc::EALREADY,
            DER_NOMEM => libc::ENOMEM,
            DER_NOSYS => libc::ENOSYS,
            DER_NOTSUPPORTED => libc::ENOTSUP,
            DER_TIMEDOUT => libc::ETIMEDOUT,
            DER_BUSY | DER_EQ_BUSY => libc::EBUSY,
            DER_AGAIN | DER_TX_RESTART => libc::EAGAIN,
            DER_PROTO => libc::EPROTO,
            DER_TRUNC => libc::ENOBUFS,
            DER_CANCELED => libc::ECANCELED,
            DER_OVERFLOW => libc::EOVERFLOW,
            DER_BADPATH | DER_NOTDIR => libc::ENOTDIR,
            DER_STALE => libc::ESTALE,
            _ => libc::EIO,
        })
    }
}

impl From<isotach_object::Error> for Errno {
    fn from(error: isotach_object::Error) -> Self {
        Der::from(error).into()
    }
}
