//! `H5L`: links.

use std::{
    collections::HashSet,
    ffi::{c_int, c_void},
    slice,
};

use isotach_hdf5::{By, Kind, Last, Link, Order, Target};

use crate::{
    abi::{
        Herr, Hid, LinkCreateArgs, LinkGetArgs, LinkHard, LinkInfo, LinkInfoTarget, LinkIterate,
        LinkSpecificArgs, LinkUser, LinkValue, LocParams, OptionalArgs, by, link_create, link_get,
        link_specific, link_type,
    },
    create::free_entry,
    error::{Error, Result},
    handle::{Node, handle_without_wait, text},
    iterate,
    library::Library,
    out::{put, put_bytes, put_text},
    place::{self, Entry, Found, Place, sorting, token_of},
    plist,
};

/// Creates a link.
pub(crate) unsafe fn create(
    library: &'static Library,
    arguments: *mut LinkCreateArgs,
    object: *mut c_void,
    loc: *const LocParams,
    lcpl: Hid,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments; the number says which member of the union is set.
    let arguments = unsafe { arguments.as_ref() }.ok_or_else(|| Error::argument("no arguments"))?;
    let charset = plist::charset(library, lcpl)?;
    let (target, entry) = match arguments.op {
        link_create::HARD => {
            // SAFETY: as above.
            let hard = unsafe { arguments.args.hard };
            // SAFETY: HDF5 passes objects of this connector; one may be null, and is then the other.
            let (target, entry) =
                unsafe { (hard_target(object, &hard)?, new_entry(one_of(object, hard.object), loc, lcpl)?) };
            if target.view.file.number() != entry.view.file.number() {
                return Err(Error::argument("a hard link cannot lead to another file"));
            }
            (Target::Hard { number: target.object().number(), kind: target.object().kind() }, entry)
        }
        link_create::SOFT => {
            // SAFETY: as above.
            let path = unsafe { text(arguments.args.soft) }?.to_owned();
            // SAFETY: as above.
            (Target::Soft(path), unsafe { new_entry(object, loc, lcpl) }?)
        }
        link_create::USER => {
            // SAFETY: as above.
            unsafe { (user_target(&arguments.args.user)?, new_entry(object, loc, lcpl)?) }
        }
        other => return Err(Error::unsupported(format!("links of the type {other}"))),
    };
    entry.parent.object.insert_link(&entry.name, target, charset)?;
    Ok(0)
}

fn one_of(object: *mut c_void, other: *mut c_void) -> *mut c_void {
    if object.is_null() { other } else { object }
}

/// # Safety
/// The pointers are those of a callback.
unsafe fn hard_target(object: *mut c_void, hard: &LinkHard) -> Result<Place> {
    // SAFETY: the caller's promise.
    unsafe { place::place(one_of(hard.object, object), &raw const hard.loc) }
}

/// # Safety
/// The pointers are those of a callback.
unsafe fn new_entry(object: *mut c_void, loc: *const LocParams, lcpl: Hid) -> Result<Entry> {
    // SAFETY: the caller's promise.
    let loc = unsafe { loc.as_ref() }.filter(|loc| loc.by == by::NAME);
    let loc = loc.ok_or_else(|| Error::argument("a new link needs a name"))?;
    // SAFETY: the caller's promise; the location is by name.
    let (from, name) = unsafe { (Place::of(handle_without_wait(object)?)?, text(loc.data.name.name)?) };
    from.view.writable()?;
    free_entry(&from, name, lcpl)
}

/// # Safety
/// The buffer has the size that it says.
unsafe fn user_target(user: &LinkUser) -> Result<Target> {
    let bytes = if user.buf.is_null() {
        &[][..]
    } else {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(user.buf.cast::<u8>(), user.size) }
    };
    if user.class == link_type::EXTERNAL {
        return external(bytes);
    }
    let class =
        u8::try_from(user.class).map_err(|_| Error::argument(format!("the link class {}", user.class)))?;
    Ok(Target::User { class, bytes: bytes.to_vec() })
}

/// An external link as HDF5 packs it: a byte with version and flags, the file and the path, each with a zero behind.
fn external(bytes: &[u8]) -> Result<Target> {
    let mut parts = bytes.get(1..).unwrap_or_default().split(|byte| *byte == 0);
    let mut part = || {
        let part = parts
            .next()
            .filter(|part| !part.is_empty())
            .ok_or_else(|| Error::argument("an external link without a name"))?;
        std::str::from_utf8(part)
            .map(str::to_owned)
            .map_err(|_| Error::unsupported("names that are not UTF-8"))
    };
    Ok(Target::External { file: part()?, path: part()? })
}

/// The value of a link as HDF5 gives it to programs.
pub(crate) fn value(target: &Target) -> Vec<u8> {
    match target {
        Target::Hard { .. } => Vec::new(),
        Target::Soft(path) => [path.as_bytes(), &[0]].concat(),
        Target::External { file, path } => [&[0], file.as_bytes(), &[0], path.as_bytes(), &[0]].concat(),
        Target::User { bytes, .. } => bytes.clone(),
    }
}

/// Both ends of a copy or a move.
///
/// # Safety
/// The pointers are those of a callback.
unsafe fn ends(
    source: *mut c_void,
    source_loc: *const LocParams,
    target: *mut c_void,
    target_loc: *const LocParams,
    lcpl: Hid,
) -> Result<(Entry, Entry)> {
    // SAFETY: the caller's promise; one of both objects may be null, and is then the other.
    let (from, to) = unsafe {
        (
            place::link(one_of(source, target), source_loc)?,
            new_entry(one_of(target, source), target_loc, lcpl)?,
        )
    };
    from.existing()?;
    from.view.writable()?;
    if from.view.file.number() != to.view.file.number() {
        return Err(Error::argument("a link cannot go to another file"));
    }
    Ok((from, to))
}

/// Copies a link.
pub(crate) unsafe fn copy(
    _: &'static Library,
    source: *mut c_void,
    source_loc: *const LocParams,
    target: *mut c_void,
    target_loc: *const LocParams,
    lcpl: Hid,
) -> Result<Herr> {
    // SAFETY: HDF5 passes objects of this connector and locations.
    let (from, to) = unsafe { ends(source, source_loc, target, target_loc, lcpl) }?;
    from.parent.object.copy_link(&from.name, &to.parent.object, &to.name)?;
    Ok(0)
}

/// Moves a link.
pub(crate) unsafe fn rename(
    _: &'static Library,
    source: *mut c_void,
    source_loc: *const LocParams,
    target: *mut c_void,
    target_loc: *const LocParams,
    lcpl: Hid,
) -> Result<Herr> {
    // SAFETY: HDF5 passes objects of this connector and locations.
    let (from, to) = unsafe { ends(source, source_loc, target, target_loc, lcpl) }?;
    from.parent.object.move_link(&from.name, &to.parent.object, &to.name)?;
    if let Target::Hard { number, .. } = from.existing()?.target {
        to.view.note_path(number, to.path().as_deref());
    }
    Ok(0)
}

/// Answers what a link is.
pub(crate) unsafe fn get(
    _: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    arguments: *mut LinkGetArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, an object of this connector and a location; the number says which member of the union is set.
    let (arguments, entry) = unsafe {
        (arguments.as_ref().ok_or_else(|| Error::argument("no arguments"))?, place::link(object, loc)?)
    };
    let link = entry.existing()?;
    match arguments.op {
        link_get::INFO => {
            let info = info(link, tracks_order(&entry.parent)?);
            // SAFETY: as above.
            unsafe { put(arguments.args.info, info) };
        }
        // SAFETY: as above.
        link_get::NAME => unsafe { put_text(&arguments.args.name, &entry.name) },
        // SAFETY: as above.
        link_get::VALUE => unsafe { put_value(arguments.args.value, &link.target) }?,
        other => return Err(Error::unsupported(format!("the question {other} about links"))),
    }
    Ok(0)
}

/// # Safety
/// The buffer has the size that it says, or is null.
unsafe fn put_value(wanted: LinkValue, target: &Target) -> Result<()> {
    match target {
        Target::Hard { .. } => return Err(Error::argument("a hard link has no value")),
        // SAFETY: the caller's promise.
        Target::Soft(path) => unsafe { put_bytes(wanted.buf.cast(), wanted.size, path) },
        _ if wanted.buf.is_null() => {}
        other => {
            let value = value(other);
            // SAFETY: the caller's promise.
            unsafe {
                wanted
                    .buf
                    .cast::<u8>()
                    .copy_from_nonoverlapping(value.as_ptr(), value.len().min(wanted.size));
            }
        }
    }
    Ok(())
}

fn tracks_order(group: &Node) -> Result<bool> {
    Ok(group.object.header()?.tracks_link_order)
}

/// `H5L_info2_t` of a link.
pub(crate) fn info(link: &Link, tracks_order: bool) -> LinkInfo {
    let kind: c_int = match &link.target {
        Target::Hard { .. } => link_type::HARD,
        Target::Soft(_) => link_type::SOFT,
        Target::External { .. } => link_type::EXTERNAL,
        Target::User { class, .. } => c_int::from(*class),
    };
    let target = match &link.target {
        Target::Hard { number, .. } => LinkInfoTarget { token: token_of(*number) },
        other => {
            // All 16 bytes are set, since programs compare and copy them.
            let mut target = LinkInfoTarget { token: token_of(0) };
            target.value_size = value(other).len();
            target
        }
    };
    let order = if tracks_order { i64::try_from(link.order).unwrap_or(i64::MAX) } else { 0 };
    LinkInfo { kind, order_valid: tracks_order, order, charset: plist::charset_number(link.charset), target }
}

/// Deletes, looks for and goes through links.
pub(crate) unsafe fn specific(
    library: &'static Library,
    object: *mut c_void,
    loc: *const LocParams,
    arguments: *mut LinkSpecificArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments; the number says which member of the union is set.
    let arguments = unsafe { arguments.as_ref() }.ok_or_else(|| Error::argument("no arguments"))?;
    match arguments.op {
        link_specific::DELETE => {
            // SAFETY: HDF5 passes an object of this connector and a location.
            let entry = unsafe { place::link(object, loc) }?;
            entry.existing()?;
            entry.view.writable()?;
            entry.parent.object.remove_link(&entry.name)?;
            Ok(0)
        }
        link_specific::EXISTS => {
            // SAFETY: as above.
            let exists = unsafe { exists(object, loc) }?;
            // SAFETY: as above.
            unsafe { put(arguments.args.exists, exists) };
            Ok(0)
        }
        // SAFETY: as above.
        link_specific::ITERATE => unsafe {
            iterate_over(library, place::place(object, loc)?, arguments.args.iterate)
        },
        other => Err(Error::unsupported(format!("the operation {other} on links"))),
    }
}

/// # Safety
/// The pointers are those of a callback.
unsafe fn exists(object: *const c_void, loc: *const LocParams) -> Result<bool> {
    // SAFETY: the caller's promise.
    let loc = unsafe { loc.as_ref() }.filter(|loc| loc.by == by::NAME);
    let loc = loc.ok_or_else(|| Error::argument("a link is looked for by its name"))?;
    // SAFETY: the caller's promise; the location is by name.
    let (from, name) = unsafe { (Place::of(handle_without_wait(object)?)?, text(loc.data.name.name)?) };
    // SAFETY: as above.
    match from.resolve(name, Last::Keep, unsafe { loc.data.name.lapl }) {
        Ok(Found::Object(_)) => Ok(true),
        Ok(Found::Entry(entry)) => Ok(entry.link.is_some()),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

/// # Safety
/// The arguments are HDF5's.
unsafe fn iterate_over(library: &'static Library, group: Place, wanted: LinkIterate) -> Result<Herr> {
    let op = wanted.op.ok_or_else(|| Error::argument("no function to call for each link"))?;
    let (sorting, order) = sorting(wanted.index, wanted.order)?;
    if group.object().kind() != Kind::Group {
        return Err(Error::argument("not a group"));
    }
    let entries =
        if wanted.recursive { below(&group, sorting, order)? } else { directly_in(&group, sorting, order)? };
    let id = iterate::register(library, group)?;
    // A recursive iteration has no place to go on from.
    let at = if wanted.recursive { std::ptr::null_mut() } else { wanted.at };
    // SAFETY: HDF5 passes a place for the index, or null.
    unsafe {
        iterate::each(at, entries, |(name, info)| {
            iterate::with_text(&name, |name| op(id.raw(), name, &raw const info, wanted.data))
        })
    }
}

fn directly_in(group: &Place, sorting: By, order: Order) -> Result<Vec<(String, LinkInfo)>> {
    let tracks_order = tracks_order(&group.node)?;
    if sorting == By::CreationOrder && !tracks_order {
        return Err(Error::argument("creation order is not tracked for this group"));
    }
    let links = group.object().links(sorting, order)?;
    Ok(links.into_iter().map(|(name, link)| (name, info(&link, tracks_order))).collect())
}

/// All links at and below a group, by their paths from it. A group that several hard links lead to is entered once.
fn below(group: &Place, sorting: By, order: Order) -> Result<Vec<(String, LinkInfo)>> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([group.object().number()]);
    enter(group, "", (sorting, order), &mut seen, &mut found)?;
    Ok(found)
}

fn enter(
    group: &Place,
    prefix: &str,
    list: (By, Order),
    seen: &mut HashSet<u64>,
    found: &mut Vec<(String, LinkInfo)>,
) -> Result<()> {
    let tracks_order = tracks_order(&group.node)?;
    let sorting = if tracks_order { list.0 } else { By::Name };
    for (name, link) in group.object().links(sorting, list.1)? {
        let path = format!("{prefix}{name}");
        found.push((path.clone(), info(&link, tracks_order)));
        if let Target::Hard { number, kind: Kind::Group } = link.target
            && seen.insert(number)
        {
            let object = group.view.file.object(number)?;
            let next = Place { view: group.view.clone(), node: Node { object, path: None } };
            enter(&next, &format!("{path}/"), list, seen, found)?;
        }
    }
    Ok(())
}

/// There are no operations of others on links.
pub(crate) unsafe fn optional(
    _: &'static Library,
    _: *mut c_void,
    _: *const LocParams,
    _: *mut OptionalArgs,
) -> Result<Herr> {
    Err(Error::unsupported("optional operations on links"))
}
