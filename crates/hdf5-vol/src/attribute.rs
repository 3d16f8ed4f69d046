//! `H5A`: attributes.

use std::{
    ffi::{c_char, c_int, c_void},
    slice,
    sync::Arc,
};

use isotach_hdf5::{Attribute, By, Error as FileError, Object, Order, Space};

use crate::{
    abi::{
        AttributeGetArgs, AttributeInfo, AttributeIterate, AttributeSpecificArgs, Herr, Hid, LocParams,
        OptionalArgs, attribute_get, attribute_op, by,
    },
    create,
    error::{Error, Result},
    handle::{Body, Handle, OpenAttribute, handle_without_wait, take, text},
    id::{Id, yes},
    iterate,
    library::Library,
    out::{put, put_text},
    place::{self, Place, sorting},
    plist, space, transfer,
    types::{self, FileType},
    view::View,
};

/// What the program passes for a new attribute.
#[derive(Clone, Copy)]
pub(crate) struct NewAttribute {
    pub(crate) kind: Hid,
    pub(crate) space: Hid,
    pub(crate) acpl: Hid,
}

/// Creates an attribute, with zeros as its value.
pub(crate) unsafe fn create(
    library: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    name: *const c_char,
    new: NewAttribute,
) -> Result<*mut c_void> {
    // SAFETY: HDF5 passes an object of this connector, a location and a text.
    let (place, name) = unsafe { (place::place(object, loc)?, text(name)?) };
    place.view.writable()?;
    let stored = types::encode(&place.view, new.kind)?;
    let space = space::extent(library, new.space)?;
    let count = count_of(&space)?;
    let size = place.view.file_type(&stored)?.size;
    let length = count.checked_mul(size).ok_or_else(|| Error::argument("an attribute larger than memory"))?;
    let stored = place.object().create_attribute(Attribute {
        name: name.to_owned(),
        charset: plist::charset(library, new.acpl)?,
        order: 0,
        datatype: stored,
        space,
        creation: plist::encode(library, new.acpl)?,
        value: vec![0; length],
    })?;
    Ok(give(place, stored, length, count))
}

fn give(place: Place, stored: Attribute, length: usize, count: usize) -> *mut c_void {
    let stored = Attribute { value: Vec::new(), ..stored };
    Handle::give(place.view, Body::Attribute(OpenAttribute { node: place.node, stored, length, count }))
}

/// Opens an attribute by its name, or by its place in a list.
pub(crate) unsafe fn open(
    _: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    name: *const c_char,
) -> Result<*mut c_void> {
    // SAFETY: HDF5 passes an object of this connector and a location.
    let (place, name) = unsafe { (owner(object, loc)?, name_in(object, loc, name)?) };
    let stored = existing(place.object(), &name)?;
    let (length, count) = (stored.value.len(), count_of(&stored.space)?);
    Ok(give(place, stored, length, count))
}

/// The object that has the attribute. A location by index is about the attributes of the object that it names.
///
/// # Safety
/// The pointers are those of a callback.
unsafe fn owner(object: *const c_void, loc: *const LocParams) -> Result<Place> {
    // SAFETY: the caller's promise.
    let by_index = unsafe { loc.as_ref() }.filter(|loc| loc.by == by::IDX);
    let Some(loc) = by_index else {
        // SAFETY: the caller's promise.
        return unsafe { place::place(object, loc) };
    };
    // SAFETY: the caller's promise; the number says which member of the union is set.
    let (from, idx) = unsafe { (Place::of(handle_without_wait(object)?)?, loc.data.idx) };
    // SAFETY: HDF5 passes a text.
    from.follow(unsafe { text(idx.name) }?, idx.lapl)
}

/// The name of an attribute: as given, or by its place in a list.
///
/// # Safety
/// The pointers are those of a callback.
unsafe fn name_in(object: *const c_void, loc: *const LocParams, name: *const c_char) -> Result<String> {
    if !name.is_null() {
        // SAFETY: the caller's promise.
        return Ok(unsafe { text(name) }?.to_owned());
    }
    // SAFETY: the caller's promise.
    let owner = unsafe { owner(object, loc) }?;
    // SAFETY: the caller's promise; without a name the location is by index.
    let idx = unsafe { loc.as_ref() }.filter(|loc| loc.by == by::IDX).map(|loc| unsafe { loc.data.idx });
    let idx = idx.ok_or_else(|| Error::argument("no name of an attribute was given"))?;
    nth(owner.object(), idx.index, idx.order, idx.n)
}

fn nth(object: &Object, index: c_int, order: c_int, n: u64) -> Result<String> {
    let (sorting, order) = sorting(index, order)?;
    let names = object.attributes(sorting, order)?;
    let name = names.into_iter().nth(usize::try_from(n).unwrap_or(usize::MAX));
    name.map(|(name, _)| name).ok_or_else(|| Error::not_found(format!("attribute number {n}")))
}

fn existing(object: &Object, name: &str) -> Result<Attribute> {
    object.attribute(name)?.ok_or_else(|| Error::not_found(format!("the attribute '{name}'")))
}

fn count_of(space: &Space) -> Result<usize> {
    Ok(usize::try_from(space.count()?).unwrap_or(usize::MAX))
}

/// The type of an attribute and how many bytes its elements have in the file or in memory, whichever are more. Fails if the value is not
/// that of its extent, or the extent is not the one that the program made its buffer for.
fn measure(
    view: &Arc<View>,
    open: &OpenAttribute,
    stored: &Attribute,
    size: usize,
) -> Result<(Arc<FileType>, usize)> {
    let kind = view.file_type(&stored.datatype)?;
    let count = count_of(&stored.space)?;
    if count.checked_mul(kind.size) != Some(stored.value.len()) {
        let what = format!("{} bytes for {count} elements of {}", stored.value.len(), kind.size);
        return Err(FileError::corrupt(what, format!("the attribute '{}'", stored.name)).into());
    }
    if count != open.count {
        return Err(Error::argument(format!(
            "the attribute '{}' was replaced by one of another extent; open it again",
            stored.name
        )));
    }
    let width = count.checked_mul(kind.size.max(size));
    let width = width.ok_or_else(|| Error::argument("an attribute larger than memory"))?;
    Ok((kind, width))
}

/// Reads the value of an attribute.
pub(crate) unsafe fn read(
    library: &'static Library,
    attribute: *mut c_void,
    memory_type: Hid,
    buffer: *mut c_void,
    dxpl: Hid,
) -> Result<Herr> {
    // SAFETY: HDF5 passes an attribute of this connector.
    let (view, open) = unsafe { opened(attribute) }?;
    let stored = existing(&open.node.object, &open.stored.name)?;
    let size = library.H5Tget_size(memory_type);
    let (kind, width) = measure(&view, open, &stored, size)?;
    let count = open.count;
    if count == 0 {
        return Ok(0);
    }
    if buffer.is_null() || size == 0 {
        return Err(Error::argument("no buffer or no type was given"));
    }
    let mut bytes = stored.value;
    if !yes(library.H5Tequal(memory_type, kind.file.raw()), "H5Tequal")? {
        bytes.resize(width, 0);
        let mut background = vec![0; width];
        if kind.contents.has_fields || kind.contents.has_blobs {
            // SAFETY: the program's buffer holds the elements; what the conversion does not set stays as it is.
            unsafe { background.as_mut_ptr().copy_from_nonoverlapping(buffer.cast(), size * count) };
        }
        transfer::convert(&view, kind.file.raw(), memory_type, count, &mut bytes, &mut background, dxpl)?;
    }
    // SAFETY: the program's buffer holds the elements.
    unsafe { buffer.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), size * count) };
    Ok(0)
}

/// Writes the value of an attribute.
pub(crate) unsafe fn write(
    library: &'static Library,
    attribute: *mut c_void,
    memory_type: Hid,
    buffer: *const c_void,
    dxpl: Hid,
) -> Result<Herr> {
    // SAFETY: HDF5 passes an attribute of this connector.
    let (view, open) = unsafe { opened(attribute) }?;
    view.writable()?;
    // SAFETY: the caller's promise.
    if unsafe { rewrite(library, &view, open, memory_type, buffer) }? {
        return Ok(0);
    }
    let mut stored = existing(&open.node.object, &open.stored.name)?;
    let size = library.H5Tget_size(memory_type);
    let (kind, width) = measure(&view, open, &stored, size)?;
    let count = open.count;
    if count == 0 {
        return Ok(0);
    }
    if buffer.is_null() || size == 0 {
        return Err(Error::argument("no buffer or no type was given"));
    }
    // SAFETY: the program's buffer holds the elements.
    let mut bytes = unsafe { slice::from_raw_parts(buffer.cast::<u8>(), size * count) }.to_vec();
    if !yes(library.H5Tequal(memory_type, kind.file.raw()), "H5Tequal")? {
        bytes.resize(width, 0);
        let mut background = stored.value;
        background.resize(width, 0);
        view.noting(
            || false,
            || {
                transfer::convert(
                    &view,
                    memory_type,
                    kind.file.raw(),
                    count,
                    &mut bytes,
                    &mut background,
                    dxpl,
                )
            },
        )?;
        bytes.truncate(kind.size * count);
    }
    stored.value = bytes;
    open.node.object.put_attribute(stored)?;
    Ok(0)
}

/// Writes the value of an attribute that is as it was opened, was changed since the last commit, and has the type of the memory. Returns
/// whether it wrote the value.
///
/// # Safety
/// The buffer is null or has as many elements of the type as the attribute had when it was opened.
unsafe fn rewrite(
    library: &'static Library,
    view: &Arc<View>,
    open: &OpenAttribute,
    memory_type: Hid,
    buffer: *const c_void,
) -> Result<bool> {
    let kind = view.file_type(&open.stored.datatype)?;
    // A damaged extent is not trusted.
    let is_sound = kind.size.checked_mul(open.count) == Some(open.length);
    if buffer.is_null() || open.length == 0 || !is_sound {
        return Ok(false);
    }
    if !yes(library.H5Tequal(memory_type, kind.file.raw()), "H5Tequal")? {
        return Ok(false);
    }
    // SAFETY: the caller's promise; equal types have equal sizes, and so many elements have been stored.
    let value = unsafe { slice::from_raw_parts(buffer.cast::<u8>(), open.length) };
    Ok(open.node.object.rewrite_attribute(&open.stored, value)?)
}

/// # Safety
/// The pointer is an attribute of this connector.
unsafe fn opened<'a>(attribute: *const c_void) -> Result<(Arc<View>, &'a OpenAttribute)> {
    // SAFETY: the caller's promise.
    let handle = unsafe { handle_without_wait(attribute) }?;
    Ok((handle.view()?, handle.attribute()?))
}

/// Answers what an attribute is.
pub(crate) unsafe fn get(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut AttributeGetArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments; the number says which member of the union is set.
    let arguments = unsafe { arguments.as_mut() }.ok_or_else(|| Error::argument("no arguments"))?;
    match arguments.op {
        attribute_get::INFO => {
            // SAFETY: as above; by name the location says of which object.
            let wanted = unsafe { arguments.args.info };
            // SAFETY: as above.
            let (owner, name) = unsafe { named(object, &wanted.loc, wanted.name) }?;
            let info = info(owner.object(), &name)?;
            // SAFETY: as above.
            unsafe { put(wanted.info, info) };
            return Ok(0);
        }
        attribute_get::NAME => {
            // SAFETY: as above.
            let wanted = unsafe { arguments.args.name };
            // SAFETY: as above.
            let (_, name) = unsafe { named(object, &wanted.loc, std::ptr::null()) }?;
            // SAFETY: as above.
            unsafe { put_text(&wanted.buffer, &name) };
            return Ok(0);
        }
        _ => {}
    }
    // SAFETY: the other questions are about an open attribute.
    let (view, open) = unsafe { opened(object) }?;
    let stored = existing(&open.node.object, &open.stored.name)?;
    match arguments.op {
        attribute_get::ACPL => {
            let class = library.H5P_CLS_ATTRIBUTE_CREATE_ID_g();
            let list: Id = plist::decode(library, &stored.creation, class)?;
            arguments.args.id = list.give();
        }
        attribute_get::SPACE => arguments.args.id = space::create(library, &stored.space)?.give(),
        // SAFETY: as above.
        attribute_get::STORAGE_SIZE => unsafe { put(arguments.args.storage_size, stored.value.len() as u64) },
        attribute_get::TYPE => arguments.args.id = types::open(&view, &stored.datatype)?,
        other => return Err(Error::unsupported(format!("the question {other} about attributes"))),
    }
    Ok(0)
}

/// The attribute that a question is about: the open one, the one of a name, or the one at a place in a list.
///
/// # Safety
/// The pointers are those of a callback.
unsafe fn named(object: *const c_void, loc: &LocParams, name: *const c_char) -> Result<(Place, String)> {
    // SAFETY: the caller's promise.
    let handle = unsafe { handle_without_wait(object) }?;
    if let (by::SELF, Body::Attribute(attribute)) = (loc.by, &*handle.body) {
        return Ok((Place::of(handle)?, attribute.stored.name.clone()));
    }
    // SAFETY: the caller's promise.
    unsafe { Ok((owner(object, loc)?, name_in(object, loc, name)?)) }
}

/// `H5A_info_t` of an attribute.
pub(crate) fn info(object: &Object, name: &str) -> Result<AttributeInfo> {
    let stored = existing(object, name)?;
    Ok(AttributeInfo {
        order_valid: object.header()?.tracks_attribute_order,
        order: u32::try_from(stored.order).unwrap_or(u32::MAX),
        charset: plist::charset_number(stored.charset),
        data_size: stored.value.len() as u64,
    })
}

/// Deletes, looks for, renames and goes through attributes.
pub(crate) unsafe fn specific(
    library: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    arguments: *mut AttributeSpecificArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, an object of this connector and a location; the number says which member of the union is set.
    let (arguments, place) =
        unsafe { (arguments.as_ref().ok_or_else(|| Error::argument("no arguments"))?, owner(object, loc)?) };
    match arguments.op {
        attribute_op::DELETE => {
            place.view.writable()?;
            // SAFETY: as above.
            place.object().remove_attribute(unsafe { text(arguments.args.name) }?)?;
        }
        attribute_op::DELETE_BY_IDX => {
            place.view.writable()?;
            // SAFETY: as above.
            let at = unsafe { arguments.args.delete_by_idx };
            place.object().remove_attribute(&nth(place.object(), at.index, at.order, at.n)?)?;
        }
        attribute_op::EXISTS => {
            // SAFETY: as above.
            let wanted = unsafe { arguments.args.exists };
            // SAFETY: as above.
            let exists = place.object().attribute(unsafe { text(wanted.name) }?)?.is_some();
            // SAFETY: as above.
            unsafe { put(wanted.flag, exists) };
        }
        // SAFETY: as above.
        attribute_op::ITERATE => return unsafe { iterate_over(library, place, arguments.args.iterate) },
        attribute_op::RENAME => {
            place.view.writable()?;
            // SAFETY: as above.
            let names = unsafe { arguments.args.rename };
            // SAFETY: as above.
            let (old, new) = unsafe { (text(names.old)?, text(names.new)?) };
            place.object().rename_attribute(old, new)?;
        }
        other => return Err(Error::unsupported(format!("the operation {other} on attributes"))),
    }
    Ok(0)
}

/// # Safety
/// The arguments are HDF5's.
unsafe fn iterate_over(library: &'static Library, place: Place, wanted: AttributeIterate) -> Result<Herr> {
    let op = wanted.op.ok_or_else(|| Error::argument("no function to call for each attribute"))?;
    let (sorting, order) = sorting(wanted.index, wanted.order)?;
    let names: Vec<(String, u64)> = list(place.object(), sorting, order)?;
    let object = place.object().clone();
    let id = iterate::register(library, place)?;
    // SAFETY: HDF5 passes a place for the index, or null.
    unsafe {
        iterate::each(wanted.at, names, |(name, _)| {
            let info = info(&object, &name)?;
            iterate::with_text(&name, |name| op(id.raw(), name, &raw const info, wanted.data))
        })
    }
}

fn list(object: &Object, sorting: By, order: Order) -> Result<Vec<(String, u64)>> {
    Ok(object.attributes(sorting, order)?)
}

/// There are no operations of others on attributes.
pub(crate) unsafe fn optional(_: &'static Library, _: *mut c_void, _: *mut OptionalArgs) -> Result<Herr> {
    Err(Error::unsupported("optional operations on attributes"))
}

/// Closes an attribute.
pub(crate) unsafe fn close(_: &'static Library, attribute: *mut c_void) -> Result<Herr> {
    // SAFETY: HDF5 passes an attribute of this connector, and closes it once.
    create::close(unsafe { take(attribute) }?)
}
