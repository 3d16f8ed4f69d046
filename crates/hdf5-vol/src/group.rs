//! `H5G`: groups.

use std::ffi::{c_char, c_void};

use isotach_hdf5::{By, Header, Kind, Order};

use crate::{
    abi::{
        GroupGetArgs, GroupInfo, GroupSpecificArgs, Herr, Hid, LocParams, ORDER_TRACKED, OptionalArgs,
        group_get, group_specific,
    },
    create::{self, Spot},
    error::{Error, Result},
    handle::{handle, handle_without_wait, take},
    id::check,
    library::Library,
    native,
    out::put,
    place, plist,
};

/// Creates a group, with a link or without a name.
pub(crate) unsafe fn create(
    library: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    name: *const c_char,
    lcpl: Hid,
    gcpl: Hid,
) -> Result<*mut c_void> {
    // SAFETY: HDF5 passes an object of this connector, a location and a text or null.
    let spot = unsafe { Spot::find(object, loc, name, lcpl) }?;
    let header = header(library, gcpl)?;
    Ok(spot.create(header)?.open()?.0)
}

/// The header of a new group with these properties.
pub(crate) fn header(library: &'static Library, gcpl: Hid) -> Result<Header> {
    let mut header = Header::new(Kind::Group);
    header.tracks_link_order = plist::tracks_link_order(library, gcpl)?;
    header.tracks_attribute_order = plist::tracks_attribute_order(library, gcpl)?;
    header.creation = plist::encode(library, gcpl)?;
    create::set_times(&mut header, plist::tracks_times(library, gcpl)?, create::now());
    Ok(header)
}

/// Opens a group.
pub(crate) unsafe fn open(
    _: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    name: *const c_char,
) -> Result<*mut c_void> {
    // SAFETY: HDF5 passes an object of this connector, a location and a text.
    let found = unsafe { create::existing(object, loc, name, Kind::Group) }?;
    Ok(found.open()?.0)
}

/// Answers what a group is.
pub(crate) unsafe fn get(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut GroupGetArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments; the number says which member of the union is set.
    let arguments = unsafe { arguments.as_mut() }.ok_or_else(|| Error::argument("no arguments"))?;
    match arguments.op {
        group_get::GCPL => {
            // SAFETY: HDF5 passes an object of this connector.
            let node = unsafe { handle_without_wait(object) }?.node()?;
            arguments.args.id = gcpl(library, node.object.header()?.as_ref())?;
        }
        group_get::INFO => {
            // SAFETY: as above.
            let wanted = unsafe { arguments.args.info };
            // SAFETY: as above.
            let group = unsafe { place::place(object, &raw const wanted.loc) }?;
            // SAFETY: as above.
            unsafe { put(wanted.info, info(&group)?) };
        }
        other => return Err(Error::unsupported(format!("the question {other} about groups"))),
    }
    Ok(0)
}

/// A group creation property list; that of the root group has the orders which the file was created with.
fn gcpl(library: &'static Library, header: &Header) -> Result<Hid> {
    let list = plist::decode(library, &header.creation, library.H5P_CLS_GROUP_CREATE_ID_g())?;
    if header.creation.is_empty() {
        // Both bits: creation order is tracked and indexed.
        let flags = |tracks: bool| if tracks { ORDER_TRACKED | 2 } else { 0 };
        let links = library.H5Pset_link_creation_order(list.raw(), flags(header.tracks_link_order));
        check(links, "H5Pset_link_creation_order")?;
        let attributes = library.H5Pset_attr_creation_order(list.raw(), flags(header.tracks_attribute_order));
        check(attributes, "H5Pset_attr_creation_order")?;
    }
    Ok(list.give())
}

fn info(group: &place::Place) -> Result<GroupInfo> {
    let object = group.object();
    let header = object.header()?;
    let order_max = if header.tracks_link_order {
        object
            .links(By::CreationOrder, Order::Decreasing)?
            .first()
            .map_or(0, |(_, link)| link.order as i64 + 1)
    } else {
        0
    };
    // Dense storage if the order is tracked, else a symbol table: what a new and an old file have.
    let storage = if header.tracks_link_order { 2 } else { 0 };
    Ok(GroupInfo { storage, links: object.link_count()?, order_max, mounted: false })
}

/// Flushes and refreshes groups.
pub(crate) unsafe fn specific(
    _: &'static Library,
    object: *mut c_void,
    arguments: *mut GroupSpecificArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments.
    let arguments = unsafe { arguments.as_ref() }.ok_or_else(|| Error::argument("no arguments"))?;
    // SAFETY: HDF5 passes an object of this connector.
    let view = unsafe { handle(object) }?.view()?;
    match arguments.op {
        group_specific::FLUSH => view.settle_object()?,
        group_specific::REFRESH => view.file.refresh()?,
        group_specific::MOUNT | group_specific::UNMOUNT => return Err(Error::unsupported("mounting files")),
        other => return Err(Error::unsupported(format!("the operation {other} on groups"))),
    }
    Ok(0)
}

/// Operations of HDF5's own connector.
pub(crate) unsafe fn optional(
    _: &'static Library,
    object: *mut c_void,
    arguments: *mut OptionalArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, and an object of this connector.
    unsafe { native::group(object, arguments) }
}

/// Closes a group.
pub(crate) unsafe fn close(_: &'static Library, object: *mut c_void) -> Result<Herr> {
    // SAFETY: HDF5 passes an object of this connector, and closes it once.
    create::close(unsafe { take(object) }?)
}
