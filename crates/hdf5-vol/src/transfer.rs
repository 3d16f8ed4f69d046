//! Moves elements between a dataset and the program's buffer: selection, conversion, gather and scatter.
//!
//! Where the types are the same and the buffer is one block, the model reads into it and writes from it. Otherwise elements go through
//! a buffer of at most [`PIECE`] bytes, or one element.

use std::{cell::Cell, ffi::c_void, ptr, slice, sync::Arc};

use isotach_hdf5::{Header, Object, Run, Space};

use crate::{
    abi::Hid,
    error::{Error, Result},
    id::{check, yes},
    pipeline::Pipeline,
    plain::{Buffer, Plain},
    space::{self, Cursor, Selection, Wanted},
    types::FileType,
    view::View,
};

/// How many bytes are converted at once.
const PIECE: usize = 8 << 20;

/// What a transfer is about: the elements on both sides, and their types.
pub(crate) struct Transfer {
    pub(crate) view: Arc<View>,
    pub(crate) object: Object,
    kind: Arc<FileType>,
    pub(crate) in_file: Selection,
    pub(crate) in_memory: Selection,
    pub(crate) memory_type: Hid,
    memory_size: usize,
    pub(crate) dxpl: Hid,
    /// Elements are the same on both sides.
    is_plain: bool,
    storage: Storage,
    /// Blobs of replaced elements may be those of the fill value.
    has_fill: bool,
}

/// Where the elements of a dataset are.
enum Storage {
    /// In chunks that the model reads and writes.
    Model,
    /// In chunks that HDF5 filters.
    Filtered(Pipeline),
    /// Nowhere: they read as this value, or as zeros.
    Nowhere(Option<Vec<u8>>),
}

impl Transfer {
    /// Between the program's buffer and a dataset with this extent, or with the one in its header.
    pub(crate) fn new(
        view: &Arc<View>,
        object: &Object,
        wanted: Wanted,
        extent: Option<&Space>,
    ) -> Result<Self> {
        let library = view.library;
        let header: Arc<Header> = object.header()?;
        let data = header.data.as_ref().ok_or_else(|| Error::argument("not a dataset"))?;
        let in_file = space::in_file(library, wanted.file_space, extent.unwrap_or(&data.space))?;
        let in_memory = space::in_memory(library, wanted.memory_space, wanted.file_space, &in_file)?;
        if in_file.count != in_memory.count {
            return Err(Error::argument(format!(
                "{} elements are selected in memory, and {} in the file",
                in_memory.count, in_file.count
            )));
        }
        Self::of(view, object, (in_file, in_memory), wanted.memory_type, wanted.dxpl)
    }

    /// Between places in a dataset and in a buffer, of which there are as many.
    pub(crate) fn of(
        view: &Arc<View>,
        object: &Object,
        (in_file, in_memory): (Selection, Selection),
        memory_type: Hid,
        dxpl: Hid,
    ) -> Result<Self> {
        let library = view.library;
        let header: Arc<Header> = object.header()?;
        let data = header.data.as_ref().ok_or_else(|| Error::argument("not a dataset"))?;
        let kind = view.file_type(&header.datatype)?;
        kind.check(data)?;
        let memory_size = library.H5Tget_size(memory_type);
        if memory_size == 0 {
            return Err(Error::argument("no type of the elements in memory"));
        }
        let is_plain = yes(library.H5Tequal(memory_type, kind.file.raw()), "H5Tequal")?;
        Ok(Self {
            view: Arc::clone(view),
            object: object.clone(),
            in_file,
            in_memory,
            memory_type,
            memory_size,
            dxpl,
            is_plain,
            has_fill: data.fill.is_some(),
            storage: Pipeline::of(view, &header, data, &kind)?.map_or(Storage::Model, Storage::Filtered),
            kind,
        })
    }

    /// The same for elements that were never written, whether or not they are in the extent.
    pub(crate) fn of_nothing(mut self) -> Result<Self> {
        let header = self.object.header()?;
        self.storage = Storage::Nowhere(header.data.as_ref().and_then(|data| data.fill.clone()));
        Ok(self)
    }

    /// The same as a transfer that any thread can do, if it is one.
    pub(crate) fn into_plain(self, buffer: *const c_void, path: Option<&str>) -> Option<Plain> {
        let is_plain =
            self.is_plain && !self.kind.contents.has_blobs && matches!(self.storage, Storage::Model);
        let path = path.map(str::to_owned);
        (is_plain && !buffer.is_null()).then(|| Plain {
            object: self.object,
            in_file: self.in_file,
            in_memory: self.in_memory,
            size: self.memory_size,
            buffer: Buffer(buffer.cast_mut().cast()),
            path,
        })
    }

    /// Reads elements in the form of the file.
    fn load(&self, runs: &[Run], packed: &mut [u8]) -> Result<()> {
        match &self.storage {
            Storage::Model => Ok(self.object.read(runs, packed)?),
            Storage::Filtered(pipeline) => pipeline.read(&self.object, runs, packed),
            Storage::Nowhere(None) => {
                packed.fill(0);
                Ok(())
            }
            Storage::Nowhere(Some(fill)) => {
                packed.chunks_exact_mut(fill.len()).for_each(|element| element.copy_from_slice(fill));
                Ok(())
            }
        }
    }

    /// Writes elements in the form of the file.
    fn store(&self, runs: &[Run], packed: &[u8]) -> Result<()> {
        match &self.storage {
            Storage::Model => Ok(self.object.write(runs, packed)?),
            Storage::Filtered(pipeline) => pipeline.write(&self.object, runs, packed),
            Storage::Nowhere(_) => Err(Error::argument("elements that are nowhere cannot be written")),
        }
    }

    /// Reads into the program's buffer.
    ///
    /// # Safety
    /// The buffer holds the selected elements of memory.
    pub(crate) unsafe fn read(&self, buffer: *mut c_void) -> Result<()> {
        if self.in_file.count == 0 {
            return Ok(());
        }
        self.view.wait();
        let buffer = present(buffer.cast_const())?.cast_mut();
        if let Some((first, length)) = self.block() {
            // SAFETY: the caller's promise, for the one block of the selection.
            let target = unsafe { slice::from_raw_parts_mut(buffer.add(first), length) };
            return self.load(&self.in_file.runs, target);
        }
        self.pieces(|part, bytes, background| {
            let count = part.count;
            self.load(&part.in_file, &mut bytes[..count * self.kind.size])?;
            if !self.is_plain {
                // What a conversion keeps: fields that are not read, and what a program's own conversion knows of its elements.
                if self.kind.contents.has_fields || self.kind.contents.has_blobs {
                    // SAFETY: the caller's promise.
                    unsafe { gather(buffer, &part.in_memory, self.memory_size, background) };
                }
                self.convert(self.kind.file.raw(), self.memory_type, count, bytes, background)?;
            }
            // SAFETY: the caller's promise.
            unsafe { scatter(bytes, &part.in_memory, self.memory_size, buffer) };
            Ok(())
        })
    }

    /// Writes from the program's buffer. Once something has changed, or if the store fails, an error is noted: what was done in part is not
    /// to be committed.
    ///
    /// # Safety
    /// The buffer holds the selected elements of memory.
    pub(crate) unsafe fn write(&self, buffer: *const c_void) -> Result<()> {
        if self.in_file.count == 0 {
            return Ok(());
        }
        self.view.wait();
        let buffer = present(buffer)?;
        if self.kind.contents.stores_blobs && self.view.file.is_shared() {
            return Err(Error::unsupported("writing variable-length elements in a file of several ranks"));
        }
        let has_stored = Cell::new(false);
        self.view.noting(
            || has_stored.get(),
            || {
                // SAFETY: the caller's promise.
                unsafe { self.write_all(buffer, &has_stored) }
            },
        )
    }

    /// # Safety
    /// As [`Self::write`].
    unsafe fn write_all(&self, buffer: *const u8, has_stored: &Cell<bool>) -> Result<()> {
        let store = |runs: &[Run], packed: &[u8]| {
            has_stored.set(true);
            self.store(runs, packed)
        };
        if let Some((first, length)) = self.block() {
            // SAFETY: the caller's promise, for the one block of the selection.
            let source = unsafe { slice::from_raw_parts(buffer.add(first), length) };
            return store(&self.in_file.runs, source);
        }
        let _kept = self.has_fill.then(|| self.view.keep_blobs());
        self.pieces(|part, bytes, background| {
            let count = part.count;
            // SAFETY: the caller's promise.
            unsafe { gather(buffer, &part.in_memory, self.memory_size, bytes) };
            if !self.is_plain {
                if self.kind.contents.has_fields || self.kind.contents.has_blobs {
                    self.load(&part.in_file, &mut background[..count * self.kind.size])?;
                }
                self.convert(self.memory_type, self.kind.file.raw(), count, bytes, background)?;
            }
            store(&part.in_file, &bytes[..count * self.kind.size])
        })
    }

    /// The one block of the buffer in bytes, if elements need no conversion.
    fn block(&self) -> Option<(usize, usize)> {
        match self.in_memory.runs.as_slice() {
            [run] if self.is_plain => {
                Some((run.first as usize * self.memory_size, run.count as usize * self.memory_size))
            }
            _ => None,
        }
    }

    fn pieces(&self, each: impl FnMut(&Part, &mut [u8], &mut [u8]) -> Result<()>) -> Result<()> {
        let width = self.kind.size.max(self.memory_size);
        let has_background = self.kind.contents.has_fields || self.kind.contents.has_blobs;
        pieces(&self.in_file, &self.in_memory, width, has_background, each)
    }

    fn convert(
        &self,
        from: Hid,
        to: Hid,
        count: usize,
        bytes: &mut [u8],
        background: &mut [u8],
    ) -> Result<()> {
        convert(&self.view, from, to, count, bytes, background, self.dxpl)
    }
}

/// A piece of a transfer.
pub(crate) struct Part {
    pub(crate) count: usize,
    pub(crate) in_file: Vec<Run>,
    pub(crate) in_memory: Vec<Run>,
}

/// Goes through a transfer by pieces, each with room for its elements of `width` bytes, and for as many in the background of a conversion.
pub(crate) fn pieces(
    in_file: &Selection,
    in_memory: &Selection,
    width: usize,
    has_background: bool,
    mut each: impl FnMut(&Part, &mut [u8], &mut [u8]) -> Result<()>,
) -> Result<()> {
    let mut left = in_file.count;
    let most = (PIECE / width).max(1).min(left as usize);
    let mut bytes = vec![0; most * width];
    let mut background = vec![0; if has_background { most * width } else { 0 }];
    let (mut in_file, mut in_memory) = (Cursor::new(&in_file.runs), Cursor::new(&in_memory.runs));
    while left > 0 {
        let count = left.min(most as u64);
        let part =
            Part { count: count as usize, in_file: in_file.take(count), in_memory: in_memory.take(count) };
        background.fill(0);
        each(&part, &mut bytes, &mut background)?;
        left -= count;
    }
    Ok(())
}

/// Converts elements in place. Both slices have room for `count` elements of either type; the background may be empty where no type has
/// fields or blobs.
pub(crate) fn convert(
    view: &View,
    from: Hid,
    to: Hid,
    count: usize,
    bytes: &mut [u8],
    background: &mut [u8],
    dxpl: Hid,
) -> Result<()> {
    let background = if background.is_empty() { ptr::null_mut() } else { background.as_mut_ptr().cast() };
    // SAFETY: the caller made both buffers large enough for the larger of both types.
    let status =
        unsafe { view.library.H5Tconvert(from, to, count, bytes.as_mut_ptr().cast(), background, dxpl) };
    if let Some(error) = view.take_failure() {
        return Err(error);
    }
    check(status, "H5Tconvert")?;
    Ok(())
}

/// Copies elements of the program's buffer together.
///
/// # Safety
/// The buffer holds the elements of the runs.
pub(crate) unsafe fn gather(buffer: *const u8, runs: &[Run], size: usize, packed: &mut [u8]) {
    let mut at = 0;
    for run in runs {
        let length = run.count as usize * size;
        // SAFETY: the caller's promise; the slice checks its own bounds.
        unsafe {
            ptr::copy_nonoverlapping(
                buffer.add(run.first as usize * size),
                packed[at..at + length].as_mut_ptr(),
                length,
            );
        }
        at += length;
    }
}

/// Copies elements to their places in the program's buffer.
///
/// # Safety
/// The buffer holds the elements of the runs.
pub(crate) unsafe fn scatter(packed: &[u8], runs: &[Run], size: usize, buffer: *mut u8) {
    let mut at = 0;
    for run in runs {
        let length = run.count as usize * size;
        // SAFETY: the caller's promise; the slice checks its own bounds.
        unsafe {
            ptr::copy_nonoverlapping(
                packed[at..at + length].as_ptr(),
                buffer.add(run.first as usize * size),
                length,
            );
        }
        at += length;
    }
}

fn present(buffer: *const c_void) -> Result<*const u8> {
    if buffer.is_null() { Err(Error::argument("no buffer was given")) } else { Ok(buffer.cast()) }
}
