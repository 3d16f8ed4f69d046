//! Operations of HDF5's own connector that programs use, answered for this one.

use std::{
    ffi::{CStr, c_int, c_uint, c_void},
    ops::ControlFlow,
    slice,
};

use isotach_hdf5::{ChunkAt, ChunkInfo, Last, Object, Target};

use crate::{
    abi::{
        ChunkIterate, DatasetOptionalArgs, FileOptionalArgs, GROUP_OBJECT_INFO, GroupObjectInfo, GroupStat,
        Herr, LocParams, NATIVE_INFO_SIZE, ObjectOptionalArgs, OptionalArgs, dataset_op, file_op, object_op,
    },
    error::{Error, Result},
    handle::{handle, text},
    library::Library,
    link, object as objects,
    out::{put, put_bytes},
    place::{self, Found, Place},
    view::View,
};

/// `HADDR_UNDEF`.
const NO_ADDRESS: u64 = u64::MAX;

/// Operations on files.
///
/// # Safety
/// The arguments are those of the operation.
pub(crate) unsafe fn file(view: &View, op: c_int, arguments: *mut c_void) -> Result<Herr> {
    // SAFETY: the caller's promise.
    let arguments = unsafe { arguments.cast::<FileOptionalArgs>().as_ref() };
    let arguments = arguments.ok_or_else(|| Error::argument("no arguments"))?;
    match op {
        // SAFETY: the number says which member of the union is set.
        file_op::SIZE => unsafe { put(arguments.size, view.file.stored_size()?) },
        // SAFETY: as above.
        file_op::END_OF_ALLOCATION => unsafe { put(arguments.end, view.file.stored_size()?) },
        // SAFETY: as above.
        file_op::FREE_SPACE => unsafe { put(arguments.size, 0) },
        // SAFETY: as above.
        file_op::GET_ATOMICITY => unsafe { put(arguments.atomicity, false) },
        // SAFETY: as above.
        file_op::SET_ATOMICITY if unsafe { !arguments.set_atomicity } => {}
        file_op::SET_ATOMICITY => {
            return Err(Error::unsupported(
                "atomic transfers: ranks see what others have written after a collective transfer or a flush",
            ));
        }
        other => {
            return Err(Error::unsupported(format!("the native connector's operation {other} on files")));
        }
    }
    Ok(0)
}

/// Operations on groups.
///
/// # Safety
/// The pointers are those of a callback.
pub(crate) unsafe fn group(object: *const c_void, arguments: *const OptionalArgs) -> Result<Herr> {
    // SAFETY: the caller's promise.
    let arguments = unsafe { arguments.as_ref() }.ok_or_else(|| Error::argument("no arguments"))?;
    if arguments.op != GROUP_OBJECT_INFO {
        return Err(Error::unsupported(format!(
            "the native connector's operation {} on groups",
            arguments.op
        )));
    }
    // SAFETY: the number says what the arguments are.
    let wanted = unsafe { arguments.args.cast::<GroupObjectInfo>().as_ref() }
        .ok_or_else(|| Error::argument("no arguments"))?;
    // SAFETY: the caller's promise.
    let stat = unsafe { stat(object, wanted) }?;
    // SAFETY: the caller's promise.
    unsafe { put(wanted.stat, stat) };
    Ok(0)
}

/// What the first interface of HDF5 says of an object, or of a link that is not followed.
///
/// # Safety
/// The pointers are those of a callback.
unsafe fn stat(object: *const c_void, wanted: &GroupObjectInfo) -> Result<GroupStat> {
    let mut stat = GroupStat {
        fileno: [0; 2],
        objno: [0; 2],
        links: 0,
        kind: -1,
        modified: 0,
        link_length: 0,
        header: [0; 3],
    };
    let found = if wanted.loc.by == crate::abi::by::NAME && !wanted.follow {
        // SAFETY: the caller's promise.
        let (from, name) = unsafe { (Place::of(handle(object)?)?, text(wanted.loc.data.name.name)?) };
        from.resolve(name, Last::Keep, crate::abi::DEFAULT)?
    } else {
        // SAFETY: the caller's promise.
        Found::Object(unsafe { place::place(object, &raw const wanted.loc) }?)
    };
    let place = match found {
        Found::Object(place) => place,
        Found::Entry(entry) => match &entry.existing()?.target {
            Target::Hard { number, .. } => {
                let object = entry.view.file.object(*number)?;
                Place { view: entry.view, node: crate::handle::Node { object, path: None } }
            }
            other => {
                // `H5G_LINK` and `H5G_UDLINK`.
                stat.kind = if matches!(other, Target::Soft(_)) { 3 } else { 4 };
                stat.link_length = link::value(other).len();
                return Ok(stat);
            }
        },
    };
    let info = objects::info(&place)?;
    stat.fileno = [place.view.file.number(), 0];
    stat.objno = [place.object().number(), 0];
    (stat.links, stat.kind, stat.modified) = (info.references, info.kind, info.modified);
    Ok(stat)
}

/// Operations on objects.
///
/// # Safety
/// The pointers are those of a callback.
pub(crate) unsafe fn object(
    object: *const c_void,
    loc: *const LocParams,
    arguments: *const OptionalArgs,
) -> Result<Herr> {
    // SAFETY: the caller's promise.
    let (arguments, place) = unsafe {
        (arguments.as_ref().ok_or_else(|| Error::argument("no arguments"))?, place::place(object, loc)?)
    };
    // SAFETY: the number says which member of the union is set.
    let given = unsafe { arguments.args.cast::<ObjectOptionalArgs>().as_ref() };
    let given = || given.ok_or_else(|| Error::argument("no arguments"));
    match arguments.op {
        object_op::GET_COMMENT => {
            let header = place.object().header()?;
            let comment = header.comment.as_deref().unwrap_or_default();
            // SAFETY: as above; the buffer has the size that it says, or is null.
            unsafe {
                let wanted = given()?.get_comment;
                put_bytes(wanted.buf.cast(), wanted.buf_size, comment);
                put(wanted.length, comment.len());
            }
        }
        object_op::SET_COMMENT => {
            place.view.writable()?;
            // SAFETY: as above.
            let comment = unsafe { given()?.set_comment };
            // SAFETY: HDF5 passes a text, or null to remove the comment.
            let comment = (!comment.is_null())
                .then(|| unsafe { CStr::from_ptr(comment) }.to_string_lossy().into_owned());
            let mut header = (*place.object().header()?).clone();
            header.comment = comment.filter(|comment| !comment.is_empty());
            place.object().set_header(header)?;
        }
        object_op::DISABLE_CACHE_FLUSHES | object_op::ENABLE_CACHE_FLUSHES => {}
        // SAFETY: as above.
        object_op::ARE_CACHE_FLUSHES_DISABLED => unsafe { put(given()?.flag, false) },
        object_op::NATIVE_INFO => {
            // SAFETY: as above.
            let info = unsafe { given()?.native_info.info };
            if !info.is_null() {
                // SAFETY: HDF5 passes a struct of this size.
                unsafe { info.cast::<u8>().write_bytes(0, NATIVE_INFO_SIZE) };
            }
        }
        other => {
            return Err(Error::unsupported(format!("the native connector's operation {other} on objects")));
        }
    }
    Ok(0)
}

/// Operations on datasets: chunks as they are stored.
///
/// # Safety
/// The pointers are those of a callback.
pub(crate) unsafe fn dataset(
    library: &'static Library,
    object: *const c_void,
    arguments: *const OptionalArgs,
) -> Result<Herr> {
    // SAFETY: the caller's promise.
    let (arguments, handle) =
        unsafe { (arguments.as_ref().ok_or_else(|| Error::argument("no arguments"))?, handle(object)?) };
    let view = handle.view()?;
    let dataset = &handle.dataset()?.node.object;
    if arguments.op == dataset_op::FORMAT_CONVERT {
        return Ok(0);
    }
    // SAFETY: the number says which member of the union is set.
    let given = unsafe { arguments.args.cast::<DatasetOptionalArgs>().as_mut() }
        .ok_or_else(|| Error::argument("no arguments"))?;
    let header = dataset.header()?;
    let data = header.data.as_ref().ok_or_else(|| Error::argument("not a dataset"))?;
    if arguments.op == dataset_op::OFFSET {
        // SAFETY: as above.
        unsafe { put(given.offset, NO_ADDRESS) };
        return Ok(0);
    }
    if !data.is_chunked {
        return Err(Error::argument("not a chunked dataset"));
    }
    let chunks = Chunks { library, dataset, rank: data.chunk.len(), filters: data.filters.len() as u32 };
    // SAFETY: the number says which member of the union is set.
    let mut answer = || unsafe { chunks.answer(arguments.op, given) };
    if arguments.op != dataset_op::CHUNK_WRITE {
        return answer();
    }
    view.writable()?;
    view.noting(|| false, answer)
}

/// The chunks of a dataset, as they are stored.
struct Chunks<'a> {
    library: &'static Library,
    dataset: &'a Object,
    rank: usize,
    filters: u32,
}

impl Chunks<'_> {
    /// # Safety
    /// The number says which member of the arguments is set. HDF5 passes as many coordinates as there are dimensions.
    unsafe fn answer(&self, op: c_int, given: &mut DatasetOptionalArgs) -> Result<Herr> {
        // SAFETY: the caller's promise.
        unsafe {
            match op {
                // `H5D_CHUNK_IDX_BT2`: what a native file has for chunks in any place.
                dataset_op::CHUNK_INDEX_TYPE => put(given.chunk_index_type, 5),
                dataset_op::CHUNK_STORAGE_SIZE => {
                    let wanted = given.chunk_storage_size;
                    let found = self.find(wanted.offset)?;
                    put(wanted.size, found.map_or(0, |chunk| chunk.stored_length));
                }
                dataset_op::CHUNK_COUNT => put(given.chunk_count.count, self.dataset.chunk_count()?),
                dataset_op::CHUNK_INFO_BY_INDEX => {
                    let wanted = given.chunk_info_by_index;
                    let chunk = self.dataset.chunk_info(ChunkAt::Index(wanted.index))?;
                    if !wanted.offset.is_null() {
                        wanted.offset.copy_from_nonoverlapping(chunk.offset.as_ptr(), self.rank);
                    }
                    put_chunk(Some(&chunk), (wanted.mask, wanted.address, wanted.size));
                }
                dataset_op::CHUNK_INFO_BY_COORDINATES => {
                    let wanted = given.chunk_info_by_coordinates;
                    put_chunk(self.find(wanted.offset)?.as_ref(), (wanted.mask, wanted.address, wanted.size));
                }
                dataset_op::CHUNK_READ => read_chunk(self.library, self.dataset, self.rank, given)?,
                dataset_op::CHUNK_WRITE => self.write(given)?,
                dataset_op::CHUNK_ITERATE => return iterate_chunks(self.dataset, given.chunk_iterate),
                other => {
                    return Err(Error::unsupported(format!(
                        "the native connector's operation {other} on datasets"
                    )));
                }
            }
        }
        Ok(0)
    }

    /// # Safety
    /// The arguments are those of writing a chunk.
    unsafe fn write(&self, given: &DatasetOptionalArgs) -> Result<()> {
        // SAFETY: the caller's promise; the size has its own place in version 1.14.
        unsafe {
            let (offset, mask, buffer, size) = if self.library.is_two() {
                let wanted = given.chunk_write;
                (wanted.offset, wanted.filters, wanted.buf, wanted.size)
            } else {
                let wanted = given.chunk_write_114;
                (wanted.offset, wanted.filters, wanted.buf, wanted.size as usize)
            };
            let bytes = slice::from_raw_parts(buffer.cast::<u8>(), size);
            // HDF5 takes bits beyond the last filter, which say nothing.
            let mask = mask & 1_u32.checked_shl(self.filters).map_or(u32::MAX, |bit| bit - 1);
            Ok(self.dataset.write_chunk(slice::from_raw_parts(offset, self.rank), mask, bytes)?)
        }
    }

    /// # Safety
    /// There are as many coordinates as dimensions.
    unsafe fn find(&self, offset: *const u64) -> Result<Option<ChunkInfo>> {
        // SAFETY: the caller's promise.
        find(self.dataset, unsafe { slice::from_raw_parts(offset, self.rank) })
    }
}

fn find(dataset: &Object, offset: &[u64]) -> Result<Option<ChunkInfo>> {
    match dataset.chunk_info(ChunkAt::Offset(offset)) {
        Ok(chunk) => Ok(Some(chunk)),
        Err(isotach_hdf5::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// # Safety
/// The places are valid or null.
unsafe fn put_chunk(chunk: Option<&ChunkInfo>, (mask, address, size): (*mut c_uint, *mut u64, *mut u64)) {
    // SAFETY: the caller's promise. A stored chunk has an address, though it says nothing.
    unsafe {
        put(mask, chunk.map_or(0, |chunk| chunk.mask));
        put(address, if chunk.is_some() { 0 } else { NO_ADDRESS });
        put(size, chunk.map_or(0, |chunk| chunk.stored_length));
    }
}

/// # Safety
/// The arguments are those of the operation.
unsafe fn read_chunk(
    library: &Library,
    dataset: &Object,
    rank: usize,
    given: &mut DatasetOptionalArgs,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let wanted = &mut given.chunk_read;
        let (mask, bytes) = dataset.read_chunk(slice::from_raw_parts(wanted.offset, rank))?;
        wanted.filters = mask;
        let mut length = bytes.len();
        // Version 1.14 does not say how large the buffer is; it asks for the size of the chunk before.
        if library.is_two() && !wanted.buf_size.is_null() {
            length = length.min(*wanted.buf_size);
            *wanted.buf_size = bytes.len();
        }
        if !wanted.buf.is_null() {
            wanted.buf.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), length);
        }
    }
    Ok(())
}

/// # Safety
/// The arguments are HDF5's.
unsafe fn iterate_chunks(dataset: &Object, wanted: ChunkIterate) -> Result<Herr> {
    let op = wanted.op.ok_or_else(|| Error::argument("no function to call for each chunk"))?;
    let mut result = 0;
    dataset.each_chunk(&mut |chunk| {
        // SAFETY: the program's function with the program's data.
        result = unsafe { op(chunk.offset.as_ptr(), chunk.mask, 0, chunk.stored_length, wanted.data) };
        Ok(if result == 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(result)
}
