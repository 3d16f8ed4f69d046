//! The header of a new dataset from the program's property list, and the list from a header.

use std::sync::Arc;

use isotach_hdf5::{Data, Filter, Header, Kind, Object, Space};

use crate::{
    abi::{DEFAULT, Hid, LAYOUT_CHUNKED, LAYOUT_VIRTUAL},
    create,
    dataset::NewDataset,
    error::{Error, Result},
    id::{Id, check, yes},
    plist::{self, Fill},
    space, transfer,
    types::{self, FileType},
    view::View,
};

/// Shuffle, n-bit, and scale and offset: HDF5 computes their values from the type and the chunk.
const COMPUTED: [u16; 3] = [2, 5, 6];

/// The header of a new dataset.
pub(crate) fn header(view: &Arc<View>, new: NewDataset) -> Result<Header> {
    let library = view.library;
    let stored = types::encode(view, new.kind)?;
    let kind = view.file_type(&stored)?;
    let space = space::extent(library, new.space)?;
    let element = u32::try_from(kind.size).map_err(|_| Error::unsupported("elements of 4 GiB and more"))?;
    let filters = filters(view, new, &kind)?;
    let (chunk, is_chunked) = chunk(view, new.dcpl, &space, element)?;
    if new.dcpl != DEFAULT && library.H5Pget_external_count(new.dcpl) > 0 {
        if kind.contents.has_blobs {
            return Err(Error::unsupported("references and variable-length data in external files"));
        }
        // HDF5 refuses what the files have no room for.
        view.shadow.dataset(kind.memory.raw(), new.space, new.dcpl)?;
    }
    let fill = fill(view, new.dcpl, &kind)?;
    let (fill, unused_fill) = if plist::fills(library, new.dcpl)? { (fill, None) } else { (None, fill) };
    let data = Data { element, space, chunk, fill, filters, is_chunked };
    let mut header = Header::dataset(stored, data);
    header.kind = Kind::Dataset;
    header.tracks_attribute_order = plist::tracks_attribute_order(library, new.dcpl)?;
    header.creation = creation(view, new.dcpl, &kind, &unused_fill.unwrap_or_default())?;
    create::set_times(&mut header, plist::tracks_times(library, new.dcpl)?, create::now());
    Ok(header)
}

/// The extent of a chunk, and whether the program asked for it.
fn chunk(view: &View, dcpl: Hid, space: &Space, element: u32) -> Result<(Vec<u64>, bool)> {
    let library = view.library;
    let layout = if dcpl == DEFAULT { 0 } else { check(library.H5Pget_layout(dcpl), "H5Pget_layout")? };
    let is_external = dcpl != DEFAULT && library.H5Pget_external_count(dcpl) > 0;
    let Space::Simple { dims, max } = space else {
        return if layout == LAYOUT_CHUNKED {
            Err(Error::argument("chunks need an extent"))
        } else {
            Ok((Vec::new(), false))
        };
    };
    if layout == LAYOUT_VIRTUAL {
        return Ok((Data::auto_chunk(dims, element), false));
    }
    if layout != LAYOUT_CHUNKED {
        return match !is_external && dims.iter().zip(max).any(|(length, most)| length < most) {
            true => Err(Error::argument("only a chunked dataset can be extended")),
            false => Ok((Data::auto_chunk(dims, element), false)),
        };
    }
    let chunk = plist::chunk(library, dcpl)?;
    if chunk.len() != dims.len() {
        return Err(Error::argument("the chunk has another number of dimensions than the extent"));
    }
    let is_too_large =
        |((chunk, length), most): ((&u64, &u64), &u64)| length == most && chunk > most && *most > 0;
    if chunk.iter().zip(dims).zip(max).any(is_too_large) {
        return Err(Error::argument(
            "Chunk shape must not be greater than data shape: chunks of a fixed extent are at most as long as it",
        ));
    }
    Ok((chunk, true))
}

/// The filters with the values that HDF5 sets for the dataset. Those that only HDF5 has are marked.
fn filters(view: &View, new: NewDataset, kind: &FileType) -> Result<Vec<Filter>> {
    let library = view.library;
    let filters = plist::filters(library, new.dcpl)?;
    let mut is_foreign = false;
    for filter in filters.iter().filter(|filter| !filter.is_built_in()) {
        is_foreign |= yes(library.H5Zfilter_avail(filter.id.into()), "H5Zfilter_avail")?;
    }
    if !is_foreign && !filters.iter().any(|filter| COMPUTED.contains(&filter.id)) {
        return Ok(filters);
    }
    let completed = view.shadow.completed(kind.memory.raw(), new.space, new.dcpl)?;
    let mut filters = plist::filters(library, completed.raw())?;
    // HDF5 refuses required filters of elements of variable length, and skips others.
    is_foreign &= !kind.contents.has_blobs;
    let marked = filters.iter_mut().filter(|filter| is_foreign && !filter.is_built_in());
    marked.for_each(|filter| filter.flags |= Filter::FOREIGN);
    Ok(filters)
}

/// The program's fill value in the form of the file.
fn fill(view: &View, dcpl: Hid, kind: &FileType) -> Result<Option<Vec<u8>>> {
    let library = view.library;
    if plist::fill(library, dcpl)? != Fill::User {
        return Ok(None);
    }
    let memory = kind.memory.raw();
    let mut bytes = vec![0; library.H5Tget_size(memory).max(kind.size)];
    // SAFETY: the buffer has room for an element of the type.
    let status = unsafe { library.H5Pget_fill_value(dcpl, memory, bytes.as_mut_ptr().cast()) };
    check(status, "H5Pget_fill_value")?;
    let mut background = vec![0; bytes.len()];
    transfer::convert(view, memory, kind.file.raw(), 1, &mut bytes, &mut background, DEFAULT)?;
    bytes.truncate(kind.size);
    Ok(Some(bytes))
}

/// The stored form of the property list. The fill value is left out, since `H5Pencode2` spoils some: it stands in front if elements that
/// were never written must not show it, else in the header.
fn creation(view: &View, dcpl: Hid, kind: &FileType, unused_fill: &[u8]) -> Result<Vec<u8>> {
    let library = view.library;
    if plist::is_default(library, dcpl) {
        return Ok(Vec::new());
    }
    let encoded = if plist::fill(library, dcpl)? == Fill::User {
        let copy = Id::new(library, library.H5Pcopy(dcpl), "H5Pcopy")?;
        // SAFETY: no value means an undefined one.
        let status = unsafe { library.H5Pset_fill_value(copy.raw(), kind.memory.raw(), std::ptr::null()) };
        check(status, "H5Pset_fill_value")?;
        plist::encode(library, copy.raw())?
    } else {
        view.encoded_creation(dcpl)?
    };
    let length =
        u32::try_from(unused_fill.len()).map_err(|_| Error::unsupported("elements of 4 GiB and more"))?;
    Ok([&length.to_le_bytes()[..], unused_fill, &encoded].concat())
}

/// The property list that a dataset was created with.
pub(crate) fn creation_list(view: &Arc<View>, object: &Object) -> Result<Hid> {
    let library = view.library;
    let header = object.header()?;
    let (unused_fill, encoded) = plist::creation_parts(&header.creation)?;
    let list = plist::decode(library, encoded, library.H5P_CLS_DATASET_CREATE_ID_g())?;
    for filter in header.data.iter().flat_map(|data| &data.filters).filter(|_| !encoded.is_empty()) {
        // With the values that HDF5 has computed for the dataset.
        let (flags, count) = ((filter.flags & !Filter::FOREIGN).into(), filter.values.len());
        // SAFETY: the array has as many values as is said.
        let status = unsafe {
            library.H5Pmodify_filter(list.raw(), filter.id.into(), flags, count, filter.values.as_ptr())
        };
        check(status, "H5Pmodify_filter")?;
    }
    let stored = header.data.as_ref().and_then(|data| data.fill.as_deref());
    if let Some(fill) = stored.or_else(|| Some(unused_fill).filter(|fill| !fill.is_empty())) {
        set_fill(view, list.raw(), &*view.file_type(&header.datatype)?, fill)?;
    }
    Ok(list.give())
}

fn set_fill(view: &View, list: Hid, kind: &FileType, fill: &[u8]) -> Result<()> {
    kind.check_element(fill)?;
    let library = view.library;
    let memory = kind.memory.raw();
    let mut bytes = fill.to_vec();
    bytes.resize(bytes.len().max(library.H5Tget_size(memory)), 0);
    let mut background = vec![0; bytes.len()];
    transfer::convert(view, kind.file.raw(), memory, 1, &mut bytes, &mut background, DEFAULT)?;
    // SAFETY: the bytes are one element of the type, of which the library makes a copy.
    let status = unsafe { library.H5Pset_fill_value(list, memory, bytes.as_ptr().cast()) };
    if kind.contents.has_blobs {
        let scalar = space::create(library, &Space::Scalar)?;
        // SAFETY: the element holds what the conversion allocated.
        unsafe { library.H5Treclaim(memory, scalar.raw(), DEFAULT, bytes.as_mut_ptr().cast()) };
    }
    check(status, "H5Pset_fill_value")?;
    Ok(())
}
