//! Blobs that are in no file: while a key or a value of a map is converted, its variable-length data is kept here.

use std::cell::RefCell;

use isotach_hdf5_types::Unpacked;

use crate::error::{Error, Result};

thread_local! {
    /// The blobs of the conversion that goes on in this thread. HDF5 asks for them in the thread that converts.
    static BLOBS: RefCell<Option<Vec<Vec<u8>>>> = const { RefCell::new(None) };
}

/// Converts with these blobs apart from the file. Returns all that there are afterwards.
pub(crate) fn with(blobs: Vec<Vec<u8>>, convert: impl FnOnce() -> Result<()>) -> Result<Vec<Vec<u8>>> {
    let outer = BLOBS.replace(Some(blobs));
    let _restored = Restored(outer);
    convert()?;
    BLOBS.take().ok_or_else(|| Error::argument("no conversion goes on"))
}

/// Puts back what was there before, also after a panic.
struct Restored(Option<Vec<Vec<u8>>>);

impl Drop for Restored {
    fn drop(&mut self) {
        BLOBS.set(self.0.take());
    }
}

/// Whether blobs are kept apart in this thread.
pub(crate) fn is_on() -> bool {
    BLOBS.with_borrow(Option::is_some)
}

/// Keeps a blob, if blobs are kept apart. Returns its name.
pub(crate) fn store(bytes: &[u8]) -> Option<[u8; 16]> {
    BLOBS.with_borrow_mut(|blobs| {
        let blobs = blobs.as_mut()?;
        blobs.push(bytes.to_vec());
        Some(Unpacked::name(blobs.len() - 1))
    })
}

/// A blob, if blobs are kept apart.
pub(crate) fn get(name: &[u8; 16]) -> Option<Result<Vec<u8>>> {
    BLOBS.with_borrow(|blobs| {
        let found = Unpacked::blob(blobs.as_ref()?, name).map(<[u8]>::to_vec);
        Some(found.ok_or_else(|| Error::argument("a blob that was not kept")))
    })
}
