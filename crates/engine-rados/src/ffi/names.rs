//! The names of the objects in a namespace.

use std::{ffi::c_char, ptr, slice};

use super::{
    Errno, Io,
    api::{Functions, ListCtx, functions},
};

/// The names of the objects in the namespace of an [`Io`], in no order that means anything.
pub(crate) struct Names<'io> {
    functions: &'static Functions,
    raw: ListCtx,
    _io: &'io Io,
}

/// One name, or why there are no more.
pub(crate) type Listed = Result<String, Errno>;

impl<'io> Names<'io> {
    pub(crate) fn of(io: &'io Io) -> Result<Self, Errno> {
        let functions = functions().map_err(|_| Errno(libc::ELIBACC))?;
        let mut raw: ListCtx = ptr::null_mut();
        // SAFETY: the handle is live, and outlives this; `raw` is written on success.
        Errno::check(unsafe { (functions.rados_nobjects_list_open)(io.raw, &raw mut raw) })?;
        Ok(Self { functions, raw, _io: io })
    }
}

impl Iterator for Names<'_> {
    type Item = Listed;

    fn next(&mut self) -> Option<Listed> {
        let [mut name, mut key, mut space] = [ptr::null::<c_char>(); 3];
        let (mut length, mut of_key, mut of_space) = (0, 0, 0);
        let next = self.functions.rados_nobjects_list_next2;
        // SAFETY: the listing is open; what it points to lives until the next call, and is copied before.
        let result = unsafe {
            let result =
                next(self.raw, &mut name, &mut key, &mut space, &mut length, &mut of_key, &mut of_space);
            Errno::check(result).map(|_| slice::from_raw_parts(name.cast::<u8>(), length))
        };
        match result {
            Ok(name) => Some(Ok(String::from_utf8_lossy(name).into_owned())),
            Err(Errno::NOT_FOUND) => None,
            Err(errno) => Some(Err(errno)),
        }
    }
}

impl Drop for Names<'_> {
    fn drop(&mut self) {
        // SAFETY: opened by `of`, and closed once.
        unsafe { (self.functions.rados_nobjects_list_close)(self.raw) };
    }
}
