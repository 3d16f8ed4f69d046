//! Operations that take more than one object, and native ones among them: each pointer becomes the native one.

use std::{ffi::c_void, ptr};

use crate::{
    abi::{
        FileSpecific, FileSpecificArgs, GroupSpecificArgs, Herr, Hid, LinkCreateArgs, LocParams,
        OptionalArgs, file_specific, group_specific, link_create,
    },
    calls,
    dataset::{self, Many, Request},
    error::{Error, Result},
    library::Library,
    object::Copy,
    through::{allocate, class, object_of, status},
};

/// Passes an operation on an open file on.
///
/// # Safety
/// The pointers are those of a callback.
pub(crate) unsafe fn file_specific(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut FileSpecificArgs,
    dxpl: Hid,
    request: *mut *mut c_void,
) -> Result<Option<Herr>> {
    // SAFETY: the caller's promise.
    let Some(file) = (unsafe { object_of(object) }) else { return Ok(None) };
    let call = class(library)?.file.specific;
    // SAFETY: as above.
    let done = status(call.map(|call| unsafe { call(file, arguments, dxpl, request) }))?;
    // SAFETY: as above; the number says which member of the union is set.
    unsafe {
        if let FileSpecificArgs { op: file_specific::REOPEN, args: FileSpecific { reopen } } = *arguments
            && !reopen.is_null()
            && !(*reopen).is_null()
        {
            *reopen = allocate(*reopen);
        }
    }
    Ok(Some(done))
}

/// Passes an optional operation on an open file on, but for those that only files of this connector have.
///
/// # Safety
/// As [`file_specific`].
pub(crate) unsafe fn file_optional(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut OptionalArgs,
    dxpl: Hid,
    request: *mut *mut c_void,
) -> Result<Option<Herr>> {
    // SAFETY: the caller's promise.
    let Some(file) = (unsafe { object_of(object) }) else { return Ok(None) };
    // SAFETY: as above.
    if unsafe { arguments.as_ref() }.is_some_and(|arguments| arguments.op == calls::OPERATION) {
        return Err(Error::argument(
            "a file of HDF5's own format: expected a file of Isotach, which `isotach h5 copy` makes of it",
        ));
    }
    let call = class(library)?.file.optional;
    // SAFETY: as above.
    status(call.map(|call| unsafe { call(file, arguments, dxpl, request) })).map(Some)
}

/// Refuses what only this connector has, on an object of a native file.
///
/// # Safety
/// As [`file_specific`].
pub(crate) unsafe fn optional(_: &'static Library, object: *mut c_void) -> Result<Option<Herr>> {
    // SAFETY: the caller's promise.
    match unsafe { object_of(object) } {
        Some(_) => Err(Error::unsupported("maps in native files, whose format has none")),
        None => Ok(None),
    }
}

/// Passes an operation on a group on. What is mounted is a native file, too.
///
/// # Safety
/// As [`file_specific`].
pub(crate) unsafe fn group_specific(
    library: &'static Library,
    object: *mut c_void,
    arguments: *mut GroupSpecificArgs,
    dxpl: Hid,
    request: *mut *mut c_void,
) -> Result<Option<Herr>> {
    // SAFETY: the caller's promise.
    let Some(group) = (unsafe { object_of(object) }) else { return Ok(None) };
    // SAFETY: as above.
    let mut arguments = unsafe { *arguments };
    if arguments.op == group_specific::MOUNT {
        // SAFETY: as above; the number says which member of the union is set.
        arguments.args.mount.child = unsafe { native(arguments.args.mount.child) }?;
    }
    let call = class(library)?.group.specific;
    // SAFETY: as above.
    status(call.map(|call| unsafe { call(group, &raw mut arguments, dxpl, request) })).map(Some)
}

/// The native object behind one end of an operation that has two; null if HDF5 passes none.
///
/// # Safety
/// As [`object_of`].
unsafe fn native(pointer: *mut c_void) -> Result<*mut c_void> {
    if pointer.is_null() {
        return Ok(pointer);
    }
    // SAFETY: the caller's promise.
    unsafe { object_of(pointer) }.ok_or_else(mixed)
}

fn mixed() -> Error {
    Error::unsupported(
        "links and copies between a native file and one of Isotach: `isotach h5 copy` copies whole files",
    )
}

/// Both ends of an operation, if they are native.
///
/// # Safety
/// As [`object_of`].
unsafe fn ends(one: *mut c_void, other: *mut c_void) -> Result<Option<(*mut c_void, *mut c_void)>> {
    // SAFETY: the caller's promise.
    unsafe {
        if object_of(one).is_none() && object_of(other).is_none() {
            return Ok(None);
        }
        Ok(Some((native(one)?, native(other)?)))
    }
}

/// Passes the creation of a link on.
///
/// # Safety
/// As [`file_specific`].
pub(crate) unsafe fn link_create(
    library: &'static Library,
    arguments: *mut LinkCreateArgs,
    object: *mut c_void,
    loc: *const LocParams,
    (lcpl, lapl, dxpl): (Hid, Hid, Hid),
    request: *mut *mut c_void,
) -> Result<Option<Herr>> {
    // SAFETY: the caller's promise; the number says which member of the union is set.
    let (mut arguments, target) = unsafe {
        let arguments = *arguments;
        let is_hard = arguments.op == link_create::HARD;
        (arguments, if is_hard { arguments.args.hard.object } else { ptr::null_mut() })
    };
    // SAFETY: as above.
    let Some((object, target)) = unsafe { ends(object, target) }? else { return Ok(None) };
    if arguments.op == link_create::HARD {
        arguments.args.hard.object = target;
    }
    let call = class(library)?.link.create;
    // SAFETY: as above.
    let call = call.map(|call| unsafe { call(&raw mut arguments, object, loc, lcpl, lapl, dxpl, request) });
    status(call).map(Some)
}

/// The pointers of a copy or a move of a link.
#[derive(Clone, Copy)]
pub(crate) struct LinkEnds {
    pub(crate) source: *mut c_void,
    pub(crate) from: *const LocParams,
    pub(crate) target: *mut c_void,
    pub(crate) to: *const LocParams,
    pub(crate) lcpl: Hid,
    pub(crate) lapl: Hid,
    pub(crate) dxpl: Hid,
    pub(crate) request: *mut *mut c_void,
}

/// Passes the copy of a link on, or its move.
///
/// # Safety
/// As [`file_specific`].
pub(crate) unsafe fn link_copy(
    library: &'static Library,
    given: LinkEnds,
    is_move: bool,
) -> Result<Option<Herr>> {
    let LinkEnds { from, to, lcpl, lapl, dxpl, request, .. } = given;
    // SAFETY: the caller's promise.
    let Some((source, target)) = unsafe { ends(given.source, given.target) }? else { return Ok(None) };
    let class = class(library)?;
    let call = if is_move { class.link.rename } else { class.link.copy };
    // SAFETY: as above.
    status(call.map(|call| unsafe { call(source, from, target, to, lcpl, lapl, dxpl, request) })).map(Some)
}

/// Passes the copy of an object on.
///
/// # Safety
/// As [`file_specific`].
pub(crate) unsafe fn object_copy(
    library: &'static Library,
    copy: Copy,
    dxpl: Hid,
    request: *mut *mut c_void,
) -> Result<Option<Herr>> {
    let Copy { source_loc, source_name, target_loc, target_name, ocpypl, lcpl, .. } = copy;
    // SAFETY: the caller's promise.
    let Some((source, target)) = unsafe { ends(copy.source, copy.target) }? else { return Ok(None) };
    let call = class(library)?.object.copy;
    // SAFETY: as above.
    let call = call.map(|call| unsafe {
        call(source, source_loc, source_name, target, target_loc, target_name, ocpypl, lcpl, dxpl, request)
    });
    status(call).map(Some)
}

/// A native callback that reads or writes datasets; `B` is the buffer.
pub(crate) type Transfer<B> = unsafe extern "C" fn(
    usize,
    *mut *mut c_void,
    *mut Hid,
    *mut Hid,
    *mut Hid,
    Hid,
    *mut B,
    *mut *mut c_void,
) -> Herr;

/// Passes transfers of datasets on, if one of them is native: each by itself then, and those of ours to `ours`.
///
/// # Safety
/// The arrays have as many members as `many` says, each as HDF5 passes it.
pub(crate) unsafe fn transfer<B>(
    call: Option<Transfer<B>>,
    many: Many,
    buffers: *mut B,
    request: Request,
    mut ours: impl FnMut(Many, *mut B, Request) -> Result<Herr>,
) -> Result<Herr> {
    // SAFETY: the caller's promise.
    let native = |index| unsafe { object_of(*many.datasets.add(index)) };
    if (0..many.count).all(|index| native(index).is_none()) {
        return ours(many, buffers, request);
    }
    for index in 0..many.count {
        // SAFETY: the caller's promise.
        unsafe {
            let one = many.only(index);
            match native(index) {
                Some(mut dataset) => {
                    let outcome = call.map(|call| {
                        let (kinds, memory, file) = (one.memory_types, one.memory_spaces, one.file_spaces);
                        let buffer = buffers.add(index);
                        call(1, &raw mut dataset, kinds, memory, file, one.dxpl, buffer, ptr::null_mut())
                    });
                    status(outcome)?;
                }
                None => drop(ours(one, buffers.add(index), ptr::null_mut())?),
            }
        }
    }
    Ok(0)
}

/// Reads datasets.
///
/// # Safety
/// As [`transfer`].
pub(crate) unsafe fn read(
    library: &'static Library,
    many: Many,
    buffers: *mut *mut c_void,
    request: Request,
) -> Result<Herr> {
    let call = class(library)?.dataset.read;
    // SAFETY: the caller's promise.
    unsafe {
        transfer(call, many, buffers, request, |many, buffers, request| {
            dataset::read(library, many, buffers, request)
        })
    }
}

/// Writes datasets.
///
/// # Safety
/// As [`transfer`].
pub(crate) unsafe fn write(
    library: &'static Library,
    many: Many,
    buffers: *mut *const c_void,
    request: Request,
) -> Result<Herr> {
    let call = class(library)?.dataset.write;
    // SAFETY: the caller's promise.
    unsafe {
        transfer(call, many, buffers, request, |many, buffers, request| {
            dataset::write(library, many, buffers, request)
        })
    }
}
