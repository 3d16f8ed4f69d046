//! Translates elements that are copied to another place: their blobs are copied with them.

use std::sync::Arc;

use isotach_hdf5::{Convert, Error as FileError, Result as FileResult};

use crate::{
    abi::DEFAULT,
    error::{Error, Result},
    space, transfer,
    view::View,
};

/// From the view of the source to that of the target.
pub(crate) struct Values<'a> {
    pub(crate) from: &'a Arc<View>,
    pub(crate) to: &'a Arc<View>,
}

impl Convert for Values<'_> {
    fn applies(&self, datatype: &[u8]) -> FileResult<bool> {
        let kind = self.from.file_type(datatype).map_err(outward)?;
        Ok(kind.contents.has_blobs)
    }

    fn convert(&self, datatype: &[u8], elements: Vec<u8>) -> FileResult<Vec<u8>> {
        self.translate(datatype, elements).map_err(outward)
    }
}

impl Values<'_> {
    fn translate(&self, datatype: &[u8], mut elements: Vec<u8>) -> Result<Vec<u8>> {
        let library = self.from.library;
        let (from, to) = (self.from.file_type(datatype)?, self.to.file_type(datatype)?);
        let count = elements.len() / from.size;
        let memory = from.memory.raw();
        let size = library.H5Tget_size(memory);
        let width = size.max(from.size);
        elements.resize(width * count, 0);
        let mut background = vec![0; width * count];
        transfer::convert(
            self.from,
            from.file.raw(),
            memory,
            count,
            &mut elements,
            &mut background,
            DEFAULT,
        )?;
        // What the first conversion allocated is given back through a copy, since the second one works in place.
        let mut allocated = elements.clone();
        background.fill(0);
        let result =
            transfer::convert(self.to, memory, to.file.raw(), count, &mut elements, &mut background, DEFAULT);
        let all = space::create(library, &isotach_hdf5::Space::fixed(&[count as u64]))?;
        // SAFETY: the copy holds `count` elements as the conversion made them.
        unsafe { library.H5Treclaim(memory, all.raw(), DEFAULT, allocated.as_mut_ptr().cast()) };
        result?;
        elements.truncate(to.size * count);
        Ok(elements)
    }
}

fn outward(error: Error) -> FileError {
    match error {
        Error::File(error) | Error::At(_, error) => error,
        other => FileError::unsupported(format!("copying these elements: {other}")),
    }
}
