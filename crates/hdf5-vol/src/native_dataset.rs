//! An open dataset of HDF5's own: of a native file, or in the shadow of one of ours.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use isotach_hdf5::Space;

use crate::{
    abi::{ConnectorClass, DatasetGet, DatasetGetArgs, Hid, INVALID, OptionalArgs, dataset_get},
    crossing::Crossing,
    error::{Error, Result},
    id::{Id, check},
    library::Library,
    pairs::Pair,
    space::{self, Wanted},
};

/// The callbacks of HDF5's own connector, which the first shadow of a library finds.
pub(crate) fn native_class(library: &Library) -> Result<&'static ConnectorClass> {
    library.native.get().copied().ok_or_else(|| Error::argument("the native connector is not known"))
}

/// An open native dataset, which closes with this.
pub(crate) struct NativeDataset {
    library: &'static Library,
    object: *mut c_void,
}

impl NativeDataset {
    /// Takes a dataset over that the native connector has opened or created.
    pub(crate) fn of(library: &'static Library, object: *mut c_void) -> Result<Self> {
        // So that it can be closed.
        native_class(library)?;
        Ok(Self { library, object })
    }

    /// The dataset that a path leads to in a native file.
    pub(crate) fn open(there: &Crossing) -> Result<Self> {
        let library = there.library;
        let loc = there.root();
        let open = native_class(library)?.dataset.open.ok_or(Error::Library("H5Dopen2"))?;
        let (dapl, dxpl) = (library.H5P_LST_DATASET_ACCESS_ID_g(), library.H5P_LST_DATASET_XFER_ID_g());
        // SAFETY: the file is native and open, the location is of its type, the name ends with a zero.
        let object = unsafe { open(there.file(), &raw const loc, there.name(), dapl, dxpl, ptr::null_mut()) };
        if object.is_null() {
            return Err(Error::not_found(format!("the dataset '{}' in a native file", there.path())));
        }
        Ok(Self { library, object })
    }

    fn transfer_list(&self) -> Hid {
        self.library.H5P_LST_DATASET_XFER_ID_g()
    }

    /// An answer that is an id.
    pub(crate) fn ask(&self, op: c_int) -> Result<Id> {
        let get = native_class(self.library)?.dataset.get.ok_or(Error::Library("H5Dget"))?;
        let mut arguments = DatasetGetArgs { op, args: DatasetGet { id: INVALID } };
        // SAFETY: the dataset is native and open, and the library sets the id in the arguments.
        let (status, id) = unsafe {
            let status = get(self.object, &raw mut arguments, self.transfer_list(), ptr::null_mut());
            (status, arguments.args.id)
        };
        check(status, "H5VLdataset_get")?;
        Id::new(self.library, id, "H5VLdataset_get")
    }

    pub(crate) fn extent(&self) -> Result<Space> {
        space::extent(self.library, self.ask(dataset_get::SPACE)?.raw())
    }

    /// Reads the selected elements.
    ///
    /// # Safety
    /// The buffer holds the selected elements of memory.
    pub(crate) unsafe fn read(&self, wanted: Wanted, buffer: *mut c_void) -> Result<()> {
        let call = native_class(self.library)?.dataset.read.ok_or(Error::Library("H5Dread"))?;
        let (mut object, mut buffer) = (self.object, buffer);
        let Wanted { mut memory_type, mut memory_space, mut file_space, dxpl } = wanted;
        let (kind, memory, file) = (&raw mut memory_type, &raw mut memory_space, &raw mut file_space);
        // SAFETY: the dataset is native and open, the arrays have one member; the rest is the caller's promise.
        let status = unsafe {
            let request = ptr::null_mut();
            call(1, &raw mut object, kind, memory, file, dxpl, &raw mut buffer, request)
        };
        check(status, "H5Dread")?;
        Ok(())
    }

    /// Writes the selected elements.
    ///
    /// # Safety
    /// As [`Self::read`].
    pub(crate) unsafe fn write(&self, wanted: Wanted, buffer: *const c_void) -> Result<()> {
        let call = native_class(self.library)?.dataset.write.ok_or(Error::Library("H5Dwrite"))?;
        let (mut object, mut buffer) = (self.object, buffer);
        let Wanted { mut memory_type, mut memory_space, mut file_space, dxpl } = wanted;
        let (kind, memory, file) = (&raw mut memory_type, &raw mut memory_space, &raw mut file_space);
        // SAFETY: as in `read`.
        let status = unsafe {
            let request = ptr::null_mut();
            call(1, &raw mut object, kind, memory, file, dxpl, &raw mut buffer, request)
        };
        check(status, "H5Dwrite")?;
        Ok(())
    }

    /// Calls `each` with the spaces of the parts that pairs have as boxes, and the first byte of each part in the buffer.
    pub(crate) fn boxes(
        &self,
        pairs: &[Pair],
        (memory_type, dxpl): (Hid, Hid),
        mut each: impl FnMut(Wanted, usize) -> Result<()>,
    ) -> Result<()> {
        let library = self.library;
        let extent = self.extent()?;
        let size = library.H5Tget_size(memory_type);
        for pair in pairs {
            let mut at = pair.memory as usize * size;
            for (start, count) in boxes(extent.dims(), pair.file, pair.count) {
                let number: u64 = count.iter().product();
                let file = space::create(library, &extent)?;
                if !start.is_empty() {
                    space::select_box(library, file.raw(), &start, &count)?;
                }
                let memory = space::create(library, &Space::fixed(&[number]))?;
                let (memory_space, file_space) = (memory.raw(), file.raw());
                each(Wanted { memory_type, memory_space, file_space, dxpl }, at)?;
                at += number as usize * size;
            }
        }
        Ok(())
    }

    /// An optional operation.
    ///
    /// # Safety
    /// The arguments are those of the operation.
    pub(crate) unsafe fn optional(&self, op: c_int, args: *mut c_void) -> Result<()> {
        let call = native_class(self.library)?.dataset.optional.ok_or(Error::Library("H5Dwrite_chunk"))?;
        let mut arguments = OptionalArgs { op, args };
        // SAFETY: the dataset is native and open; the rest is the caller's promise.
        let status = unsafe { call(self.object, &raw mut arguments, self.transfer_list(), ptr::null_mut()) };
        check(status, "H5VLdataset_optional")?;
        Ok(())
    }
}

impl Drop for NativeDataset {
    fn drop(&mut self) {
        let Ok(class) = native_class(self.library) else { return };
        if let Some(close) = class.dataset.close {
            // SAFETY: the dataset is native and open, and is closed once.
            unsafe { close(self.object, self.transfer_list(), ptr::null_mut()) };
        }
    }
}

/// Places that follow each other in an extent, as boxes: for each its first place, and its lengths.
fn boxes(dims: &[u64], first: u64, count: u64) -> Vec<(Vec<u64>, Vec<u64>)> {
    let Some((_, inner)) = dims.split_first() else { return vec![(Vec::new(), Vec::new())] };
    let row_size: u64 = inner.iter().product();
    let (mut at, end, mut all) = (first, first + count, Vec::new());
    while at < end && row_size > 0 {
        let (row, within) = (at / row_size, at % row_size);
        let rows = (end - at) / row_size;
        if within == 0 && rows > 0 {
            let zeros = vec![0; inner.len()];
            all.push(([&[row][..], &zeros].concat(), [&[rows][..], inner].concat()));
            at += rows * row_size;
            continue;
        }
        let part = (end - at).min(row_size - within);
        for (start, count) in boxes(inner, within, part) {
            all.push(([&[row][..], &start].concat(), [&[1][..], &count].concat()));
        }
        at += part;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::boxes;

    #[test]
    fn places_in_a_row_are_few_boxes() {
        assert_eq!(boxes(&[7], 2, 3), [(vec![2], vec![3])]);
        assert_eq!(boxes(&[4, 5], 0, 20), [(vec![0, 0], vec![4, 5])]);
        let parts = [(vec![0, 3], vec![1, 2]), (vec![1, 0], vec![2, 5]), (vec![3, 0], vec![1, 1])];
        assert_eq!(boxes(&[4, 5], 3, 13), parts);
        assert_eq!(boxes(&[2, 2, 2], 3, 2), [(vec![0, 1, 1], vec![1, 1, 1]), (vec![1, 0, 0], vec![1, 1, 1])]);
    }

    #[test]
    fn a_scalar_is_one_box_without_lengths() {
        assert_eq!(boxes(&[], 0, 1), [(vec![], vec![])]);
    }
}
