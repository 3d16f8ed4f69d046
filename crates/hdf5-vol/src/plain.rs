//! Transfers that need nothing of HDF5: elements have one form in the file and in memory, and the model finds their chunks. So any thread can do them.

use std::slice;

use isotach_hdf5::Object;

use crate::{
    error::{Error, Result},
    space::Selection,
    transfer::{self, Part},
};

/// Such a transfer, and the program's buffer.
pub(crate) struct Plain {
    pub(crate) object: Object,
    pub(crate) in_file: Selection,
    pub(crate) in_memory: Selection,
    /// Bytes of an element.
    pub(crate) size: usize,
    pub(crate) buffer: Buffer,
    /// The path by which the dataset was opened.
    pub(crate) path: Option<String>,
}

/// A place in the program's memory.
#[derive(Clone, Copy)]
pub(crate) struct Buffer(pub(crate) *mut u8);

// SAFETY: an address is the same in every thread. Users of the memory state their own safety.
unsafe impl Send for Buffer {}

impl Plain {
    /// Reads into the buffer.
    ///
    /// # Safety
    /// The buffer holds the selected elements of memory, and nobody else uses these meanwhile.
    pub(crate) unsafe fn read(&self) -> Result<()> {
        if let Some((first, length)) = self.block() {
            // SAFETY: the caller's promise, for the one block of the selection.
            let target = unsafe { slice::from_raw_parts_mut(self.buffer.0.add(first), length) };
            return Ok(self.object.read(&self.in_file.runs, target)?);
        }
        self.pieces(|part, bytes| {
            self.object.read(&part.in_file, bytes)?;
            // SAFETY: the caller's promise.
            unsafe { transfer::scatter(bytes, &part.in_memory, self.size, self.buffer.0) };
            Ok(())
        })
    }

    /// Writes from the buffer.
    ///
    /// # Safety
    /// The buffer holds the selected elements of memory, and nobody changes these meanwhile.
    pub(crate) unsafe fn write(&self) -> Result<()> {
        if let Some((first, length)) = self.block() {
            // SAFETY: the caller's promise, for the one block of the selection.
            let source = unsafe { slice::from_raw_parts(self.buffer.0.add(first), length) };
            return Ok(self.object.write(&self.in_file.runs, source)?);
        }
        self.pieces(|part, bytes| {
            // SAFETY: the caller's promise.
            unsafe { transfer::gather(self.buffer.0, &part.in_memory, self.size, bytes) };
            Ok(self.object.write(&part.in_file, bytes)?)
        })
    }

    /// The one block of the buffer in bytes, if all selected elements are one.
    fn block(&self) -> Option<(usize, usize)> {
        match self.in_memory.runs.as_slice() {
            [] => Some((0, 0)),
            [run] => Some((run.first as usize * self.size, run.count as usize * self.size)),
            _ => None,
        }
    }

    fn pieces(&self, mut each: impl FnMut(&Part, &mut [u8]) -> Result<()>) -> Result<()> {
        transfer::pieces(&self.in_file, &self.in_memory, self.size, false, |part, bytes, _| {
            each(part, &mut bytes[..part.count * self.size])
        })
    }

    /// The error of this transfer, as the program gets it.
    pub(crate) fn text(&self, error: Error) -> String {
        error.at(|| self.path.clone()).to_string()
    }
}
