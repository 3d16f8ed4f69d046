//! Ids that are closed when they are dropped, and the checks of what HDF5's functions return.

use std::ffi::c_int;

use crate::{
    abi::{Hid, Htri},
    error::{Error, Result},
    library::Library,
};

/// An id of one library, closed on drop.
pub(crate) struct Id {
    library: &'static Library,
    id: Hid,
}

impl Id {
    /// Takes an id that `function` returned.
    pub(crate) fn new(library: &'static Library, id: Hid, function: &'static str) -> Result<Self> {
        if id < 0 { Err(Error::Library(function)) } else { Ok(Self { library, id }) }
    }

    /// Another handle on what an id of the program's stands for.
    pub(crate) fn share(library: &'static Library, id: Hid) -> Result<Self> {
        check(library.H5Iinc_ref(id), "H5Iinc_ref")?;
        Ok(Self { library, id })
    }

    pub(crate) fn raw(&self) -> Hid {
        self.id
    }

    /// Gives the id away: the program closes it.
    pub(crate) fn give(self) -> Hid {
        let id = self.id;
        std::mem::forget(self);
        id
    }
}

impl Drop for Id {
    fn drop(&mut self) {
        self.library.H5Idec_ref(self.id);
    }
}

/// Checks a status.
pub(crate) fn check(status: c_int, function: &'static str) -> Result<c_int> {
    if status < 0 { Err(Error::Library(function)) } else { Ok(status) }
}

/// Checks a yes or no.
pub(crate) fn yes(answer: Htri, function: &'static str) -> Result<bool> {
    check(answer, function).map(|answer| answer > 0)
}
