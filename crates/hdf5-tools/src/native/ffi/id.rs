//! [`Id`]: an open object of HDF5.

use super::{api::Library, call, raw::Hid};
use crate::Result;

/// An id, which is given back at the end.
#[derive(Debug)]
pub(crate) struct Id {
    pub(super) library: &'static Library,
    pub(super) raw: Hid,
}

impl Id {
    /// An id that a call returned, or the call's error.
    pub(super) fn of(library: &'static Library, raw: Hid, what: &str) -> Result<Self> {
        if raw < 0 { Err(library.error(what)) } else { Ok(Self { library, raw }) }
    }

    /// Gives the id back, with the error of what had to be finished.
    pub(crate) fn close(self, what: &str) -> Result<()> {
        let status = call!(self.library, H5Idec_ref(self.raw));
        let library = self.library;
        std::mem::forget(self);
        library.check(status, what).map(|_| ())
    }
}

impl Drop for Id {
    fn drop(&mut self) {
        call!(self.library, H5Idec_ref(self.raw));
    }
}
