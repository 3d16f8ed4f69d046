//! `H5O`: objects of any kind.

use std::{
    collections::HashSet,
    ffi::{c_char, c_int, c_uint, c_void},
};

use isotach_hdf5::{By, CopyOptions, Kind, Last, Order, Target};

use crate::{
    abi::{
        DEFAULT, Herr, Hid, LocParams, ObjectGetArgs, ObjectInfo, ObjectSpecificArgs, ObjectVisit,
        OptionalArgs, by, object_get, object_specific, object_type,
    },
    create::free_entry,
    error::{Error, Result},
    handle::{Node, handle, handle_without_wait, text},
    id::check,
    iterate,
    library::Library,
    native,
    out::{put, put_text},
    place::{self, Found, Place, sorting, token_of},
    plist, values,
};

/// Opens an object of any kind.
pub(crate) unsafe fn open(
    _: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    opened: *mut c_int,
) -> Result<*mut c_void> {
    // SAFETY: HDF5 passes an object of this connector and a location.
    let (pointer, kind) = unsafe { place::place(object, loc) }?.open()?;
    // SAFETY: HDF5 passes a place for the type, or null.
    unsafe { put(opened, kind) };
    Ok(pointer)
}

/// What a copy is made of, and where it goes.
#[derive(Clone, Copy)]
pub(crate) struct Copy {
    pub(crate) source: *mut c_void,
    pub(crate) source_loc: *const LocParams,
    pub(crate) source_name: *const c_char,
    pub(crate) target: *mut c_void,
    pub(crate) target_loc: *const LocParams,
    pub(crate) target_name: *const c_char,
    pub(crate) ocpypl: Hid,
    pub(crate) lcpl: Hid,
}

/// `H5O_COPY_*`.
mod copy_flag {
    use std::ffi::c_uint;
    pub(super) const SHALLOW: c_uint = 1;
    pub(super) const EXPAND_SOFT: c_uint = 2;
    pub(super) const EXPAND_EXTERNAL: c_uint = 4;
    pub(super) const EXPAND_REFERENCES: c_uint = 8;
    pub(super) const WITHOUT_ATTRIBUTES: c_uint = 16;
    pub(super) const MERGE_DATATYPES: c_uint = 64;
}

/// Copies an object with what is below it.
pub(crate) unsafe fn copy(library: &'static Library, copy: Copy) -> Result<Herr> {
    // SAFETY: HDF5 passes objects of this connector, locations and texts.
    let (source, target, source_name, target_name) = unsafe {
        let source = place::place(copy.source, copy.source_loc)?;
        let target = place::place(copy.target, copy.target_loc)?;
        (source, target, text(copy.source_name)?, text(copy.target_name)?)
    };
    let mut flags: c_uint = 0;
    if copy.ocpypl != DEFAULT {
        // SAFETY: the library sets one number.
        check(unsafe { library.H5Pget_copy_object(copy.ocpypl, &raw mut flags) }, "H5Pget_copy_object")?;
    }
    let source = source.follow(source_name, DEFAULT)?;
    source.view.wait();
    target.view.writable()?;
    let entry = free_entry(&target, target_name, copy.lcpl)?;
    let values = values::Values::new(&source.view, &entry.view);
    let has = |flag| flags & flag != 0;
    let options = CopyOptions {
        is_shallow: has(copy_flag::SHALLOW),
        expand_soft: has(copy_flag::EXPAND_SOFT),
        expand_external: has(copy_flag::EXPAND_EXTERNAL),
        expand_references: has(copy_flag::EXPAND_REFERENCES),
        without_attributes: has(copy_flag::WITHOUT_ATTRIBUTES),
        merge_datatypes: has(copy_flag::MERGE_DATATYPES),
        convert: Some(&values),
    };
    let copied = source.object().copy_to(&entry.view.file, &options)?;
    let charset = plist::charset(library, copy.lcpl)?;
    let target = Target::Hard { number: copied.number(), kind: copied.kind() };
    entry.parent.object.insert_link(&entry.name, target, charset)?;
    Ok(0)
}

/// Answers what an object is.
pub(crate) unsafe fn get(
    _: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    arguments: *mut ObjectGetArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments; the number says which member of the union is set.
    let arguments = unsafe { arguments.as_mut() }.ok_or_else(|| Error::argument("no arguments"))?;
    match arguments.op {
        object_get::FILE => {
            // SAFETY: HDF5 passes an object of this connector.
            let view = unsafe { handle_without_wait(object) }?.view()?;
            // While an id of the file is open, HDF5 finds it by its shadow. Without one it makes an id for a new handle.
            let file = if view.has_file_handles() {
                view.shadow.object(crate::abi::id_type::FILE)
            } else {
                view.file_handle()
            };
            // SAFETY: as above.
            unsafe { put(arguments.args.file, file) };
        }
        object_get::NAME => {
            // SAFETY: HDF5 passes an object of this connector and a location.
            let place = unsafe { place::place(object, loc) }?;
            let path = place.view.path_of(place.object(), place.node.path.as_deref())?.unwrap_or_default();
            // SAFETY: as above.
            unsafe { put_text(&arguments.args.name, &path) };
        }
        object_get::TYPE => {
            // SAFETY: as above.
            let kind = type_of(unsafe { place::place(object, loc) }?.object().kind());
            // SAFETY: as above.
            unsafe { put(arguments.args.kind, kind) };
        }
        object_get::INFO => {
            // SAFETY: as above.
            let info = info(&unsafe { place::place(object, loc) }?)?;
            // SAFETY: as above.
            unsafe { put(arguments.args.info.info, info) };
        }
        other => return Err(Error::unsupported(format!("the question {other} about objects"))),
    }
    Ok(0)
}

/// `H5O_type_t` of a kind.
pub(crate) fn type_of(kind: Kind) -> c_int {
    match kind {
        Kind::Group => object_type::GROUP,
        Kind::Dataset => object_type::DATASET,
        Kind::Datatype => object_type::DATATYPE,
        Kind::Map => object_type::MAP,
    }
}

/// `H5O_info2_t` of an object.
pub(crate) fn info(place: &Place) -> Result<ObjectInfo> {
    let object = place.object();
    let header = object.header()?;
    let modified = header.modified.unwrap_or(0);
    Ok(ObjectInfo {
        fileno: place.view.file.number(),
        token: token_of(object.number()),
        kind: type_of(object.kind()),
        references: header.references,
        accessed: 0,
        modified,
        changed: modified,
        born: header.created.unwrap_or(0),
        attributes: object.attribute_count()?,
    })
}

/// Counts references, looks for, goes through, flushes and refreshes objects.
pub(crate) unsafe fn specific(
    library: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    arguments: *mut ObjectSpecificArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments; the number says which member of the union is set.
    let arguments = unsafe { arguments.as_ref() }.ok_or_else(|| Error::argument("no arguments"))?;
    match arguments.op {
        object_specific::CHANGE_REFERENCES => {
            // SAFETY: HDF5 passes an object of this connector and a location.
            let (place, delta) = unsafe { (place::place(object, loc)?, arguments.args.delta) };
            place.view.writable()?;
            let count = place.object().header()?.references.checked_add_signed(delta);
            let count = count.ok_or_else(|| Error::argument("fewer references than none"))?;
            place.object().change_reference_count(count)?;
        }
        object_specific::EXISTS => {
            // SAFETY: as above.
            let exists = unsafe { exists(object, loc) }?;
            // SAFETY: as above.
            unsafe { put(arguments.args.exists, exists) };
        }
        object_specific::LOOKUP => {
            // SAFETY: as above.
            let number = unsafe { place::place(object, loc) }?.object().number();
            // SAFETY: as above.
            unsafe { put(arguments.args.token, token_of(number)) };
        }
        object_specific::VISIT => {
            // SAFETY: as above.
            return unsafe { visit(library, place::place(object, loc)?, arguments.args.visit) };
        }
        // SAFETY: HDF5 passes an object of this connector.
        object_specific::FLUSH => unsafe { handle(object) }?.view()?.settle_object()?,
        // SAFETY: as above.
        object_specific::REFRESH => unsafe { handle(object) }?.view()?.file.refresh()?,
        other => return Err(Error::unsupported(format!("the operation {other} on objects"))),
    }
    Ok(0)
}

/// # Safety
/// The pointers are those of a callback.
unsafe fn exists(object: *const c_void, loc: *const LocParams) -> Result<bool> {
    // SAFETY: the caller's promise.
    let loc = unsafe { loc.as_ref() }.ok_or_else(|| Error::argument("no location was given"))?;
    if loc.by != by::NAME {
        // SAFETY: the caller's promise.
        return unsafe { place::place(object, loc) }.map(|_| true);
    }
    // SAFETY: the caller's promise; the location is by name.
    let (from, name) = unsafe { (Place::of(handle_without_wait(object)?)?, text(loc.data.name.name)?) };
    // SAFETY: as above.
    match from.resolve(name, Last::Follow, unsafe { loc.data.name.lapl }) {
        Ok(found) => Ok(matches!(found, Found::Object(_))),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

/// # Safety
/// The arguments are HDF5's.
unsafe fn visit(library: &'static Library, start: Place, wanted: ObjectVisit) -> Result<Herr> {
    let op = wanted.op.ok_or_else(|| Error::argument("no function to call for each object"))?;
    let list = sorting(wanted.index, wanted.order)?;
    let mut found = vec![(".".to_owned(), start.clone())];
    if start.object().kind() == Kind::Group {
        let mut seen = HashSet::from([start.object().number()]);
        enter(&start, "", list, &mut seen, &mut found)?;
    }
    let id = iterate::register(library, start)?;
    // SAFETY: there is no index.
    unsafe {
        iterate::each(std::ptr::null_mut(), found, |(path, place)| {
            let info = info(&place)?;
            iterate::with_text(&path, |path| op(id.raw(), path, &raw const info, wanted.data))
        })
    }
}

/// Collects the objects below a group, each by the first path of hard links to it.
fn enter(
    group: &Place,
    prefix: &str,
    list: (By, Order),
    seen: &mut HashSet<u64>,
    found: &mut Vec<(String, Place)>,
) -> Result<()> {
    let tracks_order = group.object().header()?.tracks_link_order;
    let sorting = if tracks_order { list.0 } else { By::Name };
    for (name, link) in group.object().links(sorting, list.1)? {
        let Target::Hard { number, kind } = link.target else { continue };
        if !seen.insert(number) {
            continue;
        }
        let path = format!("{prefix}{name}");
        let object = group.view.file.object(number)?;
        let place = Place { view: group.view.clone(), node: Node { object, path: None } };
        found.push((path.clone(), place.clone()));
        if kind == Kind::Group {
            enter(&place, &format!("{path}/"), list, seen, found)?;
        }
    }
    Ok(())
}

/// Operations of HDF5's own connector: comments, and the sizes of headers.
pub(crate) unsafe fn optional(
    _: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    arguments: *mut OptionalArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, an object of this connector and a location.
    unsafe { native::object(object, loc, arguments) }
}
