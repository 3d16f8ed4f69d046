//! Property lists: their stored form, and the properties that the connector needs.

use std::{
    ffi::{c_char, c_int, c_uint},
    ptr,
};

use isotach_hdf5::{Charset, Error as FileError, Filter, Header};

use crate::{
    abi::{
        CHARSET_UTF8, DEFAULT, FILL_TIME_NEVER, FILL_UNDEFINED, FILL_USER_DEFINED, Hid, ORDER_TRACKED,
        RANK_MAX,
    },
    error::{Error, Result},
    id::{Id, check},
    library::Library,
};

/// Whether a list for what is created is the default, by either of its names.
pub(crate) fn is_default(library: &Library, list: Hid) -> bool {
    list == DEFAULT
        || list == library.H5P_LST_ATTRIBUTE_CREATE_ID_g()
        || list == library.H5P_LST_DATASET_CREATE_ID_g()
        || list == library.H5P_LST_LINK_CREATE_ID_g()
}

/// The stored form of a property list; nothing for the default.
pub(crate) fn encode(library: &'static Library, list: Hid) -> Result<Vec<u8>> {
    if is_default(library, list) {
        return Ok(Vec::new());
    }
    let mut size = 0;
    // SAFETY: without a buffer the library tells the size.
    check(unsafe { library.H5Pencode2(list, ptr::null_mut(), &raw mut size, DEFAULT) }, "H5Pencode2")?;
    let mut bytes = vec![0; size];
    // SAFETY: the buffer has the size that the library told.
    let status = unsafe { library.H5Pencode2(list, bytes.as_mut_ptr().cast(), &raw mut size, DEFAULT) };
    check(status, "H5Pencode2")?;
    Ok(bytes)
}

/// The property list of a stored form, or a new one of its class.
pub(crate) fn decode(library: &'static Library, bytes: &[u8], class: Hid) -> Result<Id> {
    if bytes.is_empty() {
        return Id::new(library, library.H5Pcreate(class), "H5Pcreate");
    }
    // SAFETY: the library reads an encoded list, whose length is in it; the bytes come from `H5Pencode2`, under the store's checksums.
    Id::new(library, unsafe { library.H5Pdecode(bytes.as_ptr().cast()) }, "H5Pdecode")
}

/// The fill value and the property list of a stored form.
pub(crate) fn creation_parts(creation: &[u8]) -> Result<(&[u8], &[u8])> {
    if creation.is_empty() {
        return Ok((&[], &[]));
    }
    let corrupt = || FileError::corrupt("a property list of an unknown form", "the header of a dataset");
    let (length, rest) = creation.split_first_chunk().ok_or_else(corrupt)?;
    Ok(rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(corrupt)?)
}

/// The property list of a stored form without the fill value; nothing if the program gave none.
pub(crate) fn plain_creation(library: &'static Library, header: &Header) -> Result<Option<Id>> {
    let (_, encoded) = creation_parts(&header.creation)?;
    if encoded.is_empty() {
        return Ok(None);
    }
    decode(library, encoded, library.H5P_CLS_DATASET_CREATE_ID_g()).map(Some)
}

/// Whether links can be listed in the order of creation; of a group's or a file's list.
pub(crate) fn tracks_link_order(library: &Library, list: Hid) -> Result<bool> {
    let mut flags = 0;
    if list != DEFAULT {
        // SAFETY: the library sets one number.
        let status = unsafe { library.H5Pget_link_creation_order(list, &raw mut flags) };
        check(status, "H5Pget_link_creation_order")?;
    }
    Ok(flags & ORDER_TRACKED != 0)
}

/// Whether attributes can be listed in the order of creation.
pub(crate) fn tracks_attribute_order(library: &Library, list: Hid) -> Result<bool> {
    let mut flags = 0;
    if list != DEFAULT {
        // SAFETY: the library sets one number.
        let status = unsafe { library.H5Pget_attr_creation_order(list, &raw mut flags) };
        check(status, "H5Pget_attr_creation_order")?;
    }
    Ok(flags & ORDER_TRACKED != 0)
}

/// Whether an object keeps times.
pub(crate) fn tracks_times(library: &Library, list: Hid) -> Result<bool> {
    let mut tracks = true;
    if list != DEFAULT {
        // SAFETY: the library sets one flag.
        check(unsafe { library.H5Pget_obj_track_times(list, &raw mut tracks) }, "H5Pget_obj_track_times")?;
    }
    Ok(tracks)
}

/// Whether missing groups of a path are created.
pub(crate) fn creates_groups(library: &Library, lcpl: Hid) -> Result<bool> {
    let mut flag: c_uint = 0;
    if !is_default(library, lcpl) {
        // SAFETY: the library sets one number.
        let status = unsafe { library.H5Pget_create_intermediate_group(lcpl, &raw mut flag) };
        check(status, "H5Pget_create_intermediate_group")?;
    }
    Ok(flag != 0)
}

/// The encoding of names; of a list for links or attributes.
pub(crate) fn charset(library: &Library, list: Hid) -> Result<Charset> {
    let mut charset: c_int = 0;
    if !is_default(library, list) {
        // SAFETY: the library sets one number.
        check(unsafe { library.H5Pget_char_encoding(list, &raw mut charset) }, "H5Pget_char_encoding")?;
    }
    Ok(if charset == CHARSET_UTF8 { Charset::Utf8 } else { Charset::Ascii })
}

/// The number that HDF5 has for an encoding.
pub(crate) fn charset_number(charset: Charset) -> c_int {
    match charset {
        Charset::Ascii => 0,
        Charset::Utf8 => CHARSET_UTF8,
    }
}

/// A text of a property list, from the function that writes it with a zero behind it into a buffer, and tells its length.
pub(crate) fn text(function: &'static str, get: impl Fn(*mut c_char, usize) -> isize) -> Result<String> {
    let length = usize::try_from(get(ptr::null_mut(), 0)).map_err(|_| Error::Library(function))?;
    let mut bytes = vec![0_u8; length + 1];
    usize::try_from(get(bytes.as_mut_ptr().cast(), bytes.len())).map_err(|_| Error::Library(function))?;
    bytes.truncate(length);
    String::from_utf8(bytes).map_err(|_| Error::unsupported("names that are not UTF-8"))
}

/// The chunk of a dataset creation list whose layout is chunked.
pub(crate) fn chunk(library: &Library, dcpl: Hid) -> Result<Vec<u64>> {
    let mut dims = [0_u64; RANK_MAX];
    // SAFETY: the library sets at most as many numbers as it is told.
    let rank = unsafe { library.H5Pget_chunk(dcpl, RANK_MAX as c_int, dims.as_mut_ptr()) };
    let rank = usize::try_from(check(rank, "H5Pget_chunk")?).unwrap_or(0);
    Ok(dims[..rank.min(RANK_MAX)].to_vec())
}

/// What a dataset creation list says of the fill value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    Undefined,
    Default,
    User,
}

/// What a dataset creation list says of the fill value.
pub(crate) fn fill(library: &Library, dcpl: Hid) -> Result<Fill> {
    if dcpl == DEFAULT {
        return Ok(Fill::Default);
    }
    let mut status: c_int = 0;
    // SAFETY: the library sets one number.
    check(unsafe { library.H5Pfill_value_defined(dcpl, &raw mut status) }, "H5Pfill_value_defined")?;
    Ok(match status {
        FILL_UNDEFINED => Fill::Undefined,
        FILL_USER_DEFINED => Fill::User,
        _ => Fill::Default,
    })
}

/// Whether elements that were never written show the fill value.
pub(crate) fn fills(library: &Library, dcpl: Hid) -> Result<bool> {
    let mut time: c_int = 0;
    if dcpl != DEFAULT {
        // SAFETY: the library sets one number.
        check(unsafe { library.H5Pget_fill_time(dcpl, &raw mut time) }, "H5Pget_fill_time")?;
    }
    Ok(time != FILL_TIME_NEVER)
}

/// How many client values a filter may have: more than any has.
const FILTER_VALUES_MAX: usize = 256;
const FILTER_NAME_MAX: usize = 128;

/// The filters of a dataset creation list.
pub(crate) fn filters(library: &Library, dcpl: Hid) -> Result<Vec<Filter>> {
    if dcpl == DEFAULT {
        return Ok(Vec::new());
    }
    let count = check(library.H5Pget_nfilters(dcpl), "H5Pget_nfilters")?;
    (0..count).map(|index| filter(library, dcpl, index.unsigned_abs())).collect()
}

fn filter(library: &Library, dcpl: Hid, index: c_uint) -> Result<Filter> {
    let mut flags: c_uint = 0;
    let mut values = [0; FILTER_VALUES_MAX];
    let mut count = values.len();
    let mut name = [0_u8; FILTER_NAME_MAX];
    let mut config: c_uint = 0;
    // SAFETY: the library writes no more values and bytes of the name than it is told.
    let id = unsafe {
        library.H5Pget_filter2(
            dcpl,
            index,
            &raw mut flags,
            &raw mut count,
            values.as_mut_ptr(),
            name.len(),
            name.as_mut_ptr().cast::<c_char>(),
            &raw mut config,
        )
    };
    let id = check(id, "H5Pget_filter2")?;
    let values =
        values.get(..count).ok_or_else(|| Error::unsupported("filters with more than 256 values"))?.to_vec();
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    Ok(Filter {
        id: u16::try_from(id).map_err(|_| Error::argument(format!("the filter {id}")))?,
        flags: (flags & 1) as u16,
        values,
        name: String::from_utf8_lossy(&name[..length]).into_owned(),
    })
}
