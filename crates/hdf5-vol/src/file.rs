//! `H5F`: files.

use std::{
    ffi::{c_char, c_int, c_uint, c_ulong, c_void},
    sync::Arc,
};

use isotach_hdf5::{Access, Creation, Error as FileError, File, Header, Kind, Ranks, Site, agree_before};

use crate::{
    abi::{
        CONTAINER_INFO_VERSION, ContainerInfo, FileGetArgs, FileSpecificArgs, Herr, Hid, NAME, OptionalArgs,
        access, count, file_get, file_op, file_specific,
    },
    calls, ending,
    error::{Error, Result},
    handle::{Handle, handle, handle_without_wait, take, text},
    id::Id,
    library::Library,
    native, open_ids,
    out::{put, put_text},
    page_buffer, past, plist, shadow, site, through,
    view::View,
};

/// Creates a file.
pub(crate) unsafe fn create(
    library: &'static Library,
    name: *const c_char,
    flags: c_uint,
    fcpl: Hid,
    fapl: Hid,
    dxpl: Hid,
) -> Result<*mut c_void> {
    if site::has_own_place(library, fapl)? {
        // SAFETY: HDF5 passes a text and lists.
        return unsafe { through::create_file(library, name, flags, (fcpl, fapl, dxpl)) };
    }
    past::refuse(library, fapl)?;
    let creation = if flags & access::EXCLUSIVE != 0 { Creation::New } else { Creation::Truncate };
    let prepare = || {
        // SAFETY: HDF5 passes a text.
        let name = unsafe { text(name) }?;
        page_buffer::check_new(library, fcpl, fapl)?;
        let mut root = Header::new(Kind::Group);
        root.tracks_link_order = plist::tracks_link_order(library, fcpl)?;
        root.tracks_attribute_order = plist::tracks_attribute_order(library, fcpl)?;
        Ok((name, site::of(library, fapl)?, root, plist::encode(library, fcpl)?))
    };
    let (ranks, (name, site, root, properties)) = prepared(library, fapl, prepare)?;
    let file = match ranks {
        Some(ranks) => site.create_together(ranks, name, creation, &root, &properties)?,
        None => site.create(name, creation, &root, &properties)?,
    };
    let kept = Id::new(library, library.H5Pcopy(fapl), "H5Pcopy");
    viewed(library, site, &file, name, access::READ_WRITE, kept)
}

/// Opens a file.
pub(crate) unsafe fn open(
    library: &'static Library,
    name: *const c_char,
    flags: c_uint,
    fapl: Hid,
    dxpl: Hid,
) -> Result<*mut c_void> {
    let wanted = if flags & access::READ_WRITE == 0 { Access::ReadOnly } else { Access::ReadWrite };
    let prepare = || {
        // SAFETY: HDF5 passes a text.
        let path = unsafe { text(name) }?;
        let site = site::of(library, fapl)?;
        let (at, is_past) = (past::of(library, fapl, &site)?, past::is_set(library, fapl)?);
        // All ranks see the same path, and go the same way.
        let is_native =
            !is_past && site::is_parallel(library, fapl)? && !site.exists(path)? && site.is_foreign(path)?;
        Ok((path, site, at, is_past, is_native))
    };
    let (ranks, (path, site, at, is_past, is_native)) = prepared(library, fapl, prepare)?;
    let opened = match ranks {
        _ if is_native => None,
        Some(ranks) => Some(at.open_together(ranks, path, wanted)?),
        None if site::has_own_place(library, fapl)? => in_own_place(&at, path, wanted)?,
        None => match at.open(path, wanted) {
            Err(FileError::Foreign { .. }) if !is_past => None,
            opened => Some(opened?),
        },
    };
    let Some(file) = opened else {
        // SAFETY: as above.
        return unsafe { through::open_file(library, name, flags, (fapl, dxpl)) };
    };
    let kept = Id::new(library, library.H5Pcopy(fapl), "H5Pcopy").and_then(|kept| {
        let fcpl = || plist::decode(library, &file.properties()?, library.H5P_CLS_FILE_CREATE_ID_g());
        page_buffer::set_actual(library, fcpl, kept.raw())?;
        Ok(kept)
    });
    viewed(library, site, &file, path, flags & access::KEPT, kept)
}

/// The ranks that open, create or delete a file together, if there are several, and what each of them prepares for it. A failure of one fails
/// on all: the communicator comes first, so that no rank waits for one that has failed.
fn prepared<T>(
    library: &'static Library,
    fapl: Hid,
    prepare: impl FnOnce() -> Result<T>,
) -> Result<(Option<Box<dyn Ranks>>, T)> {
    let ranks =
        library.mpi.as_ref().map_or(Ok(None), |mpi| mpi.ranks(fapl, || site::is_parallel(library, fapl)))?;
    let Some(ranks) = ranks else { return Ok((None, prepare()?)) };
    let (ranks, ready) = agree_before(ranks, prepare())?;
    Ok((Some(ranks), ready))
}

/// A handle on a file that was opened, if all its ranks get one.
fn viewed(
    library: &'static Library,
    site: Site,
    file: &Arc<File>,
    name: &str,
    intent: c_uint,
    fapl: Result<Id>,
) -> Result<*mut c_void> {
    let view = fapl.and_then(|fapl| View::new(library, site, Arc::clone(file), name, intent, Some(fapl)));
    Ok(file.agree(view)?.file_handle())
}

/// One of our files, though the program says where its bytes are: read into memory or not, its content is the same. What is written to it
/// would have to stay in memory.
fn in_own_place(site: &Site, name: &str, wanted: Access) -> Result<Option<Arc<File>>> {
    if !site.exists(name)? {
        return Ok(None);
    }
    if wanted == Access::ReadWrite {
        return Err(Error::unsupported(format!(
            "writing to a copy in memory of {name}: open it for reading, or without the driver"
        )));
    }
    Ok(Some(site.open(name, wanted)?))
}

/// Whether a handle on a file may be closed. The last one of several ranks needs that none has objects open, as in native HDF5: the ranks
/// could not commit together what is written later.
fn check_closing(view: &View) -> Result<()> {
    if !view.ends_for_ranks() {
        return Ok(());
    }
    // Committed types write nothing.
    let maps = if view.library.has_maps { count::MAP } else { 0 };
    let types = count::DATASET | count::GROUP | count::ATTRIBUTE | count::LOCAL | maps;
    let open = open_ids::of(view, types, usize::MAX).and_then(|ids| match ids.len() {
        0 => Ok(()),
        many => Err(Error::argument(format!(
            "file {} has {many} objects open, which must be closed before a file of several ranks is",
            view.name
        ))),
    });
    view.file.agree(open)
}

/// Closes a handle on a file. With the last one of its opening everything written is committed.
pub(crate) unsafe fn close(_: &'static Library, file: *mut c_void) -> Result<Herr> {
    // SAFETY: HDF5 passes a file of this connector. One whose closing has failed before has no view.
    let view = unsafe { handle(file) }.and_then(Handle::view);
    let agreed = view.map_or(Ok(()), |view| check_closing(&view));
    if let Err(error) = &agreed
        && !error.is_of_store()
    {
        // The file stays open, as in native HDF5.
        return agreed.map(|()| 0);
    }
    // SAFETY: HDF5 passes a file of this connector, and closes it once.
    let closing = unsafe { take(file) }?;
    let Some(view) = closing.view()? else { return Ok(0) };
    view.close_file_handle();
    let settled = if view.has_file_handles() { Ok(()) } else { agreed.and_then(|()| view.end()) };
    if let Err(error) = &settled {
        ending::tell(&view.name, error);
    }
    // The view before the handle, so that the shadow is closed while the handle is still there.
    drop(view);
    closing.end(settled)
}

/// Answers what a file is.
pub(crate) unsafe fn get(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut FileGetArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes an object of this connector.
    let handle = unsafe { handle_without_wait(object) }?;
    let view = handle.view()?;
    // SAFETY: HDF5 passes the arguments; the number says which member of the union is set.
    let arguments = unsafe { arguments.as_mut() }.ok_or_else(|| Error::argument("no arguments"))?;
    match arguments.op {
        // SAFETY: as above.
        file_get::CONTAINER_INFO => unsafe { container_info(arguments.args.container_info) }?,
        file_get::FAPL => arguments.args.id = fapl(&view)?,
        file_get::FCPL => {
            let class = library.H5P_CLS_FILE_CREATE_ID_g();
            arguments.args.id = plist::decode(library, &view.file.properties()?, class)?.give();
        }
        // SAFETY: as above.
        file_get::FILENO => unsafe { put(arguments.args.fileno, view.file.number() as c_ulong) },
        // SAFETY: as above.
        file_get::INTENT => unsafe { put(arguments.args.intent, view.intent()) },
        file_get::NAME => {
            // SAFETY: as above.
            unsafe { put_text(&arguments.args.name.buffer, &view.name) };
        }
        file_get::OBJECT_COUNT => {
            // SAFETY: as above.
            let wanted = unsafe { arguments.args.object_count };
            let count = open_ids::of(&view, wanted.types & !count::MAP, usize::MAX)?.len();
            // SAFETY: as above.
            unsafe { put(wanted.count, count) };
        }
        file_get::OBJECT_IDS => {
            // SAFETY: as above.
            let wanted = unsafe { arguments.args.object_ids };
            let ids = open_ids::of(&view, wanted.types & !count::MAP, wanted.max)?;
            // SAFETY: the program's list has room for `max` ids.
            unsafe { wanted.ids.copy_from_nonoverlapping(ids.as_ptr(), ids.len()) };
            // SAFETY: as above.
            unsafe { put(wanted.count, ids.len()) };
        }
        other => return Err(Error::unsupported(format!("the question {other} about files"))),
    }
    Ok(0)
}

/// # Safety
/// The pointer is to a container info of HDF5's.
unsafe fn container_info(info: *mut ContainerInfo) -> Result<()> {
    // SAFETY: the caller's promise.
    let info = unsafe { info.as_mut() }.ok_or_else(|| Error::argument("no container info"))?;
    if info.version != CONTAINER_INFO_VERSION {
        return Err(Error::unsupported(format!("version {} of the container info", info.version)));
    }
    info.features = 0;
    info.token_size = 8;
    info.blob_id_size = 16;
    Ok(())
}

fn fapl(view: &View) -> Result<Hid> {
    let library = view.library;
    match &view.fapl {
        Some(fapl) => Id::new(library, library.H5Pcopy(fapl.raw()), "H5Pcopy").map(Id::give),
        None => Err(Error::argument("the file has no access property list")),
    }
}

/// Flushes, reopens, compares, looks for and deletes files.
pub(crate) unsafe fn specific(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut FileSpecificArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments; the number says which member of the union is set.
    let arguments = unsafe { arguments.as_mut() }.ok_or_else(|| Error::argument("no arguments"))?;
    match arguments.op {
        // SAFETY: HDF5 passes an object of this connector.
        file_specific::FLUSH => unsafe { handle(object) }?.view()?.settle()?,
        file_specific::REOPEN => {
            // SAFETY: as above.
            let view = unsafe { handle(object) }?.view()?.reopen()?;
            // SAFETY: as above.
            unsafe { put(arguments.args.reopen, view.file_handle()) };
        }
        file_specific::IS_ACCESSIBLE => {
            // SAFETY: as above.
            let wanted = unsafe { arguments.args.accessible };
            let site = site::of(library, wanted.fapl)?;
            // SAFETY: as above.
            let name = unsafe { text(wanted.name) }?;
            let is_ours = is_asked(library) && site.exists(name)?;
            if !is_ours && (site::has_own_place(library, wanted.fapl)? || site.is_foreign(name)?) {
                // SAFETY: as above.
                return unsafe { through::about_file(library, arguments) };
            }
            // SAFETY: as above.
            unsafe { put(wanted.accessible, is_ours) };
        }
        file_specific::DELETE => {
            // SAFETY: as above.
            let wanted = unsafe { arguments.args.delete };
            let prepare = || {
                // SAFETY: as above.
                let name = unsafe { text(wanted.name) }?;
                let site = site::of(library, wanted.fapl)?;
                let is_native = !site.exists(name)?
                    && (site::has_own_place(library, wanted.fapl)? || site.is_foreign(name)?);
                Ok((site, name, is_native))
            };
            let (ranks, (site, name, is_native)) = prepared(library, wanted.fapl, prepare)?;
            if is_native {
                // SAFETY: as above.
                return unsafe { through::about_file(library, arguments) };
            }
            match ranks {
                Some(ranks) => site.delete_together(ranks, name)?,
                None => site.delete(name)?,
            }
        }
        file_specific::IS_EQUAL => {
            // SAFETY: as above.
            let (view, wanted) = unsafe { (handle(object)?.view()?, arguments.args.equal) };
            let same = shadow::file_number(wanted.other) == Some(view.file.number());
            // SAFETY: as above.
            unsafe { put(wanted.same, same) };
        }
        other => return Err(Error::unsupported(format!("the operation {other} on files"))),
    }
    Ok(0)
}

/// Whether HDF5 may be told that a file is ours. Version 2 asks all plugins about a file that its own connector cannot open, opens it
/// with the one that says yes, and then takes it for one of its own. So there only a process that names the connector gets the truth.
fn is_asked(library: &Library) -> bool {
    !library.is_two()
        || std::env::var("HDF5_VOL_CONNECTOR")
            .is_ok_and(|name| name.split_whitespace().next().map(str::as_bytes) == Some(NAME.to_bytes()))
}

/// Operations of HDF5's own connector.
pub(crate) unsafe fn optional(
    _: &'static Library,
    object: *mut c_void,
    arguments: *mut OptionalArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments.
    let arguments = unsafe { arguments.as_ref() }.ok_or_else(|| Error::argument("no arguments"))?;
    // SAFETY: HDF5 passes an object of this connector.
    let view: Arc<View> = unsafe { handle(object) }?.view()?;
    match arguments.op {
        file_op::POST_OPEN | file_op::SET_VERSION_BOUNDS | file_op::CLEAR_LINK_CACHE => Ok(0),
        file_op::START_SWMR_WRITE => {
            view.writable()?;
            view.start_swmr();
            view.settle()?;
            Ok(0)
        }
        // Settings of a cache that only native files have: the shadow has one, and remembers them.
        file_op::CACHE_SETTINGS_FIRST..=file_op::CACHE_SIZE
        | file_op::CACHE_RESET..=file_op::CACHE_CHANGE => {
            // SAFETY: the arguments are HDF5's own, for its own connector.
            unsafe { view.shadow.file_optional(arguments) }
        }
        // SAFETY: the number says what the arguments are.
        calls::OPERATION => unsafe { calls::run(&view, arguments.args) },
        // SAFETY: as above.
        op => unsafe { native::file(&view, op as c_int, arguments.args) },
    }
}
