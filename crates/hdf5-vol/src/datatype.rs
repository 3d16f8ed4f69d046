//! `H5T`: committed datatypes.

use std::ffi::{c_char, c_void};

use isotach_hdf5::{Header, Kind};

use crate::{
    abi::{
        DatatypeGetArgs, DatatypeSpecificArgs, Herr, Hid, LocParams, OptionalArgs, datatype_get,
        datatype_specific,
    },
    create::{self, Spot},
    error::{Error, Result},
    handle::{handle, handle_without_wait, take},
    library::Library,
    out::put,
    plist, types,
};

/// What the program passes to commit a datatype.
#[derive(Clone, Copy)]
pub(crate) struct NewDatatype {
    pub(crate) kind: Hid,
    pub(crate) lcpl: Hid,
    pub(crate) tcpl: Hid,
}

/// Commits a datatype, with a link or without a name.
pub(crate) unsafe fn commit(
    library: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    name: *const c_char,
    new: NewDatatype,
) -> Result<*mut c_void> {
    // SAFETY: HDF5 passes an object of this connector, a location and a text or null.
    let spot = unsafe { Spot::find(object, loc, name, new.lcpl) }?;
    let mut header = Header::new(Kind::Datatype);
    header.datatype = types::encode_plain(library, new.kind)?;
    header.tracks_attribute_order = plist::tracks_attribute_order(library, new.tcpl)?;
    header.creation = plist::encode(library, new.tcpl)?;
    create::set_times(&mut header, plist::tracks_times(library, new.tcpl)?, create::now());
    Ok(spot.create(header)?.open()?.0)
}

/// Opens a committed datatype.
pub(crate) unsafe fn open(
    _: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    name: *const c_char,
) -> Result<*mut c_void> {
    // SAFETY: HDF5 passes an object of this connector, a location and a text.
    let found = unsafe { create::existing(object, loc, name, Kind::Datatype) }?;
    Ok(found.open()?.0)
}

/// Answers what a committed datatype is.
pub(crate) unsafe fn get(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut DatatypeGetArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, and an object of this connector.
    let (arguments, node) = unsafe {
        (
            arguments.as_mut().ok_or_else(|| Error::argument("no arguments"))?,
            handle_without_wait(object)?.node()?,
        )
    };
    let header = node.object.header()?;
    match arguments.op {
        datatype_get::BINARY_SIZE => {
            let size = types::encoded(&header.datatype)?.len();
            // SAFETY: the number says which member of the union is set.
            unsafe { put(arguments.args.size, size) };
        }
        datatype_get::BINARY => {
            let bytes = types::encoded(&header.datatype)?;
            // SAFETY: as above.
            let wanted = unsafe { arguments.args.binary };
            if wanted.size < bytes.len() || wanted.buf.is_null() {
                return Err(Error::argument("the buffer is smaller than the datatype"));
            }
            // SAFETY: the buffer has the size that it says.
            unsafe { wanted.buf.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        datatype_get::TCPL => {
            let class = library.H5P_CLS_DATATYPE_CREATE_ID_g();
            arguments.args.id = plist::decode(library, &header.creation, class)?.give();
        }
        other => return Err(Error::unsupported(format!("the question {other} about datatypes"))),
    }
    Ok(0)
}

/// Flushes and refreshes committed datatypes.
pub(crate) unsafe fn specific(
    _: &'static Library,
    object: *mut c_void,
    arguments: *mut DatatypeSpecificArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, and an object of this connector.
    let (arguments, view) = unsafe {
        (arguments.as_ref().ok_or_else(|| Error::argument("no arguments"))?, handle(object)?.view()?)
    };
    match arguments.op {
        datatype_specific::FLUSH => view.settle_object()?,
        datatype_specific::REFRESH => view.file.refresh()?,
        other => return Err(Error::unsupported(format!("the operation {other} on datatypes"))),
    }
    Ok(0)
}

/// There are no operations of others on datatypes.
pub(crate) unsafe fn optional(_: &'static Library, _: *mut c_void, _: *mut OptionalArgs) -> Result<Herr> {
    Err(Error::unsupported("optional operations on datatypes"))
}

/// Closes a committed datatype.
pub(crate) unsafe fn close(_: &'static Library, object: *mut c_void) -> Result<Herr> {
    // SAFETY: HDF5 passes an object of this connector, and closes it once.
    create::close(unsafe { take(object) }?)
}
