//! `H5D`: datasets.

use std::{
    ffi::{c_char, c_void},
    slice,
    sync::Arc,
};

use isotach_hdf5::{File, Kind, Object};

use crate::{
    abi::{
        DEFAULT, DatasetGetArgs, DatasetSpecificArgs, Herr, Hid, Hsize, LocParams, OptionalArgs, dataset_get,
        dataset_specific,
    },
    background::{self, Work},
    create::{self, Spot},
    error::{Error, Result},
    external,
    handle::{Node, handle, handle_without_wait, take},
    id::Id,
    layout,
    library::Library,
    native,
    native_dataset::NativeDataset,
    out::put,
    plain::Plain,
    space::{self, Wanted},
    transfer::Transfer,
    types,
    view::View,
    virtual_data::{self, Virtual},
};

/// What the program passes for a new dataset.
#[derive(Clone, Copy)]
pub(crate) struct NewDataset {
    pub(crate) lcpl: Hid,
    pub(crate) kind: Hid,
    pub(crate) space: Hid,
    pub(crate) dcpl: Hid,
    pub(crate) dapl: Hid,
}

/// Creates a dataset, with a link or without a name.
pub(crate) unsafe fn create(
    _: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    name: *const c_char,
    new: NewDataset,
) -> Result<*mut c_void> {
    // SAFETY: HDF5 passes an object of this connector, a location and a text or null.
    let spot = unsafe { Spot::find(object, loc, name, new.lcpl) }?;
    let header = layout::header(spot.view(), new)?;
    spot.create(header)?.open_dataset(new.dapl)
}

/// Opens a dataset.
pub(crate) unsafe fn open(
    _: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    name: *const c_char,
    dapl: Hid,
) -> Result<*mut c_void> {
    // SAFETY: HDF5 passes an object of this connector, a location and a text.
    let found = unsafe { create::existing(object, loc, name, Kind::Dataset) }?;
    found.open_dataset(dapl)
}

/// Where HDF5 takes the request of an asynchronous call from; null for other calls.
pub(crate) type Request = *mut *mut c_void;

/// What HDF5 passes to read or write several datasets at once: arrays of one length.
#[derive(Clone, Copy)]
pub(crate) struct Many {
    pub(crate) count: usize,
    pub(crate) datasets: *mut *mut c_void,
    pub(crate) memory_types: *mut Hid,
    pub(crate) memory_spaces: *mut Hid,
    pub(crate) file_spaces: *mut Hid,
    pub(crate) dxpl: Hid,
}

impl Many {
    /// The file of a collective transfer, if several ranks have it open together.
    ///
    /// # Safety
    /// The arrays have as many entries as they say.
    unsafe fn file_of_ranks(&self, library: &'static Library) -> Result<Option<Arc<File>>> {
        let Some(mpi) = library.mpi.as_ref().filter(|_| self.count > 0 && self.dxpl != DEFAULT) else {
            return Ok(None);
        };
        // SAFETY: the caller's promise; HDF5 passes datasets of this connector.
        let view = unsafe { handle_without_wait(*self.datasets) }?.view()?;
        let is_together = view.file.is_shared() && mpi.is_collective(self.dxpl)?;
        Ok(is_together.then(|| Arc::clone(&view.file)))
    }

    /// The transfers, if the program is content with a request, and they need neither HDF5 nor other ranks nor another file.
    ///
    /// # Safety
    /// The arrays have as many entries as they say, and the request is null or a place for one.
    unsafe fn for_background(
        &self,
        buffers: *mut *const c_void,
        request: Request,
        writes: bool,
    ) -> Result<Option<(Arc<File>, Vec<Plain>)>> {
        if request.is_null() || self.count == 0 {
            return Ok(None);
        }
        // SAFETY: the caller's promise; HDF5 passes datasets of this connector.
        let file = Arc::clone(&unsafe { handle_without_wait(*self.datasets) }?.view()?.file);
        if file.is_shared() {
            return Ok(None);
        }
        let mut transfers = Vec::with_capacity(self.count);
        for index in 0..self.count {
            // SAFETY: the caller's promise.
            let ((view, moved, node), buffer) = unsafe { (self.transfer(index)?, *buffers.add(index)) };
            if writes {
                view.writable()?;
            }
            let plain = match moved {
                Moved::Own(transfer) if view.file.number() == file.number() => {
                    transfer.into_plain(buffer, node.path.as_deref())
                }
                _ => None,
            };
            match plain {
                Some(plain) => transfers.push(plain),
                None => return Ok(None),
            }
        }
        Ok(Some((file, transfers)))
    }

    /// The dataset with this number, alone.
    ///
    /// # Safety
    /// The arrays have this many entries.
    pub(crate) unsafe fn only(&self, index: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                count: 1,
                datasets: self.datasets.add(index),
                memory_types: self.memory_types.add(index),
                memory_spaces: self.memory_spaces.add(index),
                file_spaces: self.file_spaces.add(index),
                dxpl: self.dxpl,
            }
        }
    }

    /// The transfer of the dataset with this number, and its view.
    ///
    /// # Safety
    /// The arrays have this many entries.
    unsafe fn transfer(&self, index: usize) -> Result<(Arc<View>, Moved<'_>, &Node)> {
        // SAFETY: the caller's promise; HDF5 passes datasets of this connector.
        let (handle, wanted) = unsafe {
            let wanted = Wanted {
                memory_type: *self.memory_types.add(index),
                memory_space: *self.memory_spaces.add(index),
                file_space: *self.file_spaces.add(index),
                dxpl: self.dxpl,
            };
            (handle_without_wait(*self.datasets.add(index))?, wanted)
        };
        let view = handle.view()?;
        let dataset = handle.dataset()?;
        if let Some(files) = external::of_dataset(&view, dataset)? {
            return Ok((view, Moved::External(files, wanted), &dataset.node));
        }
        let sources = virtual_data::of_dataset(&view, dataset)?;
        let extent = sources.map(|sources| sources.extent(&view, &dataset.node.object)).transpose()?;
        let transfer = Transfer::new(&view, &dataset.node.object, wanted, extent.as_ref())?;
        let moved = match sources {
            Some(sources) => Moved::Virtual(sources, transfer),
            None => Moved::Own(transfer),
        };
        Ok((view, moved, &dataset.node))
    }
}

/// The transfer of one dataset: of its own elements, of those that it is mapped from, or of those in plain files.
enum Moved<'a> {
    Own(Transfer),
    Virtual(&'a Virtual, Transfer),
    External(NativeDataset, Wanted),
}

impl Moved<'_> {
    /// # Safety
    /// As [`Transfer::read`].
    unsafe fn read(&self, buffer: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Own(transfer) => transfer.read(buffer),
                Self::Virtual(sources, transfer) => sources.read(transfer, buffer),
                Self::External(files, wanted) => files.read(*wanted, buffer),
            }
        }
    }

    /// # Safety
    /// As [`Transfer::write`].
    unsafe fn write(&self, buffer: *const c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Own(transfer) => transfer.write(buffer),
                Self::Virtual(sources, transfer) => sources.write(transfer, buffer),
                Self::External(files, wanted) => files.write(*wanted, buffer),
            }
        }
    }
}

/// Reads elements of datasets. A collective transfer reads what all ranks have written before. If the program waits for the request, they may be read
/// in the background.
pub(crate) unsafe fn read(
    library: &'static Library,
    many: Many,
    buffers: *mut *mut c_void,
    request: Request,
) -> Result<Herr> {
    // SAFETY: HDF5 passes arrays of this length, and a place for the request or null.
    if unsafe { begin(&many, buffers.cast(), request, false) }? {
        return Ok(0);
    }
    // SAFETY: as above.
    let Some(file) = (unsafe { many.file_of_ranks(library) })? else {
        // SAFETY: as above.
        return unsafe { read_each(many, buffers) };
    };
    file.exchange(Ok::<_, Error>(()))?;
    // SAFETY: as above.
    file.agree(unsafe { read_each(many, buffers) })
}

/// Begins transfers in the background, if they can go on there. False if nothing was begun.
///
/// # Safety
/// The arrays have as many entries as they say, and the request is null or a place for one.
unsafe fn begin(many: &Many, buffers: *mut *const c_void, request: Request, writes: bool) -> Result<bool> {
    // SAFETY: the caller's promise.
    let Some((file, transfers)) = (unsafe { many.for_background(buffers, request, writes) })? else {
        return Ok(false);
    };
    let each = move |plain: &Plain| {
        // SAFETY: until it has waited, a program leaves the buffers of `H5Dread_async` alone, and does not change those of `H5Dwrite_async`.
        let done = unsafe { if writes { plain.write() } else { plain.read() } };
        done.map_err(|error| plain.text(error))
    };
    let act = Box::new(move || transfers.iter().try_for_each(each));
    let operation = background::start(file.number(), Work { act, file: file.stay(), writes });
    // SAFETY: there are transfers, so the request is not null.
    unsafe { put(request, operation.into_request()) };
    Ok(true)
}

/// # Safety
/// As [`read`].
unsafe fn read_each(many: Many, buffers: *mut *mut c_void) -> Result<Herr> {
    for index in 0..many.count {
        // SAFETY: HDF5 passes arrays of this length.
        let (_, transfer, node) = unsafe { many.transfer(index) }?;
        // SAFETY: the program's buffers are as large as it says.
        unsafe { transfer.read(*buffers.add(index)) }.map_err(|error| error.at(|| node.path.clone()))?;
    }
    Ok(0)
}

/// Writes elements of datasets. After a collective transfer all ranks see what each of them has written. If the program waits for the request, they
/// may be written in the background: after a failure nothing is committed, as after any other.
pub(crate) unsafe fn write(
    library: &'static Library,
    many: Many,
    buffers: *mut *const c_void,
    request: Request,
) -> Result<Herr> {
    // SAFETY: HDF5 passes arrays of this length, and a place for the request or null.
    if unsafe { begin(&many, buffers, request, true) }? {
        return Ok(0);
    }
    // SAFETY: as above.
    let file = unsafe { many.file_of_ranks(library) }?;
    // SAFETY: as above.
    let outcome = unsafe { write_each(many, buffers) };
    match file {
        Some(file) => file.exchange(outcome),
        None => outcome,
    }
}

/// # Safety
/// As [`write`].
unsafe fn write_each(many: Many, buffers: *mut *const c_void) -> Result<Herr> {
    for index in 0..many.count {
        // SAFETY: HDF5 passes arrays of this length.
        let (view, transfer, node) = unsafe { many.transfer(index) }?;
        view.writable()?;
        // SAFETY: the program's buffers are as large as it says.
        unsafe { transfer.write(*buffers.add(index)) }.map_err(|error| error.at(|| node.path.clone()))?;
    }
    Ok(0)
}

/// Answers what a dataset is.
pub(crate) unsafe fn get(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut DatasetGetArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, and an object of this connector.
    let (arguments, handle) = unsafe {
        (arguments.as_mut().ok_or_else(|| Error::argument("no arguments"))?, handle_without_wait(object)?)
    };
    let view = handle.view()?;
    if matches!(arguments.op, dataset_get::SPACE_STATUS | dataset_get::STORAGE_SIZE) {
        view.wait();
    }
    let dataset = handle.dataset()?;
    let object = &dataset.node.object;
    match arguments.op {
        dataset_get::DAPL => {
            let class = library.H5P_CLS_DATASET_ACCESS_ID_g();
            let list = dataset.dapl.as_ref();
            let list = list.map_or_else(|| library.H5Pcreate(class), |list| library.H5Pcopy(list.raw()));
            let list = Id::new(library, list, "H5Pcopy")?;
            external::set_prefix(&view, &*object.header()?, list.raw())?;
            arguments.args.id = list.give();
        }
        dataset_get::DCPL => arguments.args.id = layout::creation_list(&view, object)?,
        dataset_get::SPACE => {
            let header = object.header()?;
            let data = header.data.as_ref().ok_or_else(|| Error::argument("not a dataset"))?;
            arguments.args.id = match virtual_data::of_dataset(&view, dataset)? {
                Some(sources) => space::create(library, &sources.extent(&view, object)?)?.give(),
                None => space::create(library, &data.space)?.give(),
            };
        }
        dataset_get::SPACE_STATUS => {
            let is_external = external::is_external(&view, &*object.header()?)?;
            let status = if is_external { ALLOCATED } else { space_status(object)? };
            // SAFETY: the number says which member of the union is set.
            unsafe { put(arguments.args.space_status, status) };
        }
        dataset_get::STORAGE_SIZE => {
            let header = object.header()?;
            let size = match &header.data {
                Some(data) if external::is_external(&view, &header)? => {
                    data.space.count()?.saturating_mul(data.element.into())
                }
                _ => object.storage_size()?,
            };
            // SAFETY: as above.
            unsafe { put(arguments.args.storage_size, size) };
        }
        dataset_get::TYPE => arguments.args.id = types::open(&view, &object.header()?.datatype)?,
        other => return Err(Error::unsupported(format!("the question {other} about datasets"))),
    }
    Ok(0)
}

/// `H5D_SPACE_STATUS_ALLOCATED`.
const ALLOCATED: i32 = 2;

/// `H5D_space_status_t`: 0 for nothing stored, 1 for some chunks, 2 for all.
fn space_status(object: &Object) -> Result<i32> {
    let header = object.header()?;
    let data = header.data.as_ref().ok_or_else(|| Error::argument("not a dataset"))?;
    let stored = object.chunk_count()?;
    let all: u64 =
        data.space.dims().iter().zip(&data.chunk).map(|(length, chunk)| length.div_ceil(*chunk)).product();
    Ok(if stored == 0 {
        0
    } else if stored < all {
        1
    } else {
        ALLOCATED
    })
}

/// Resizes, flushes and refreshes datasets.
pub(crate) unsafe fn specific(
    _: &'static Library,
    object: *mut c_void,
    arguments: *mut DatasetSpecificArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, and an object of this connector.
    let (arguments, handle) =
        unsafe { (arguments.as_ref().ok_or_else(|| Error::argument("no arguments"))?, handle(object)?) };
    let view = handle.view()?;
    match arguments.op {
        dataset_specific::SET_EXTENT => {
            // SAFETY: the number says which member of the union is set.
            let size = unsafe { arguments.args.size };
            // SAFETY: HDF5 passes as many lengths as the dataset has dimensions.
            unsafe { set_extent(&view, &handle.dataset()?.node.object, size) }?;
        }
        dataset_specific::FLUSH => view.settle_object()?,
        dataset_specific::REFRESH => view.file.refresh()?,
        other => return Err(Error::unsupported(format!("the operation {other} on datasets"))),
    }
    Ok(0)
}

/// # Safety
/// The array has as many lengths as the dataset has dimensions, or is null.
unsafe fn set_extent(view: &View, object: &Object, size: *const Hsize) -> Result<()> {
    view.writable()?;
    let header = object.header()?;
    let data = header.data.as_ref().ok_or_else(|| Error::argument("not a dataset"))?;
    if size.is_null() {
        return Err(Error::argument("no extent was given"));
    }
    // SAFETY: the caller's promise.
    let dims = unsafe { slice::from_raw_parts(size, data.space.dims().len()) };
    if dims == data.space.dims() {
        return Ok(());
    }
    if !data.is_chunked && !external::is_external(view, &header)? {
        return Err(Error::argument("dataset is not chunked, so its extent is fixed"));
    }
    Ok(object.set_extent(dims)?)
}

/// Operations of HDF5's own connector: chunks as they are stored.
pub(crate) unsafe fn optional(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut OptionalArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, and an object of this connector.
    unsafe { native::dataset(library, object, arguments) }
}

/// Closes a dataset.
pub(crate) unsafe fn close(_: &'static Library, object: *mut c_void) -> Result<Herr> {
    // SAFETY: HDF5 passes an object of this connector, and closes it once.
    create::close(unsafe { take(object) }?)
}
