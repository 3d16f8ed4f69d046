//! The C interface of queries and indexes: what `include/isotach_hdf5.h` declares. Each function is described there.

use std::{
    ffi::{CString, c_char, c_int, c_uint, c_void},
    mem::offset_of,
    ptr, slice,
    sync::Arc,
};

use isotach_hdf5::{Condition, Findings, IndexOptions, Object, Run, Selection, parse_member};

use crate::{
    abi::{Herr, Hid, ObjectInfo, id_type},
    calls::{self, with_library},
    error::{Error, Result},
    handle::{id_type_of, text},
    id::{Id, check},
    library::Library,
    out::put,
    selected,
    view::View,
};

/// `ISOTACH_H5_BINS`.
const BINS: c_uint = 1;

/// `isotach_h5_index_info_t`.
#[repr(C)]
pub(crate) struct IndexInfo {
    is_there: c_int,
    has_bins: c_int,
    chunks: u64,
    indexed: u64,
    without: u64,
}

// `isotach_h5_run_t`.
const _: () = assert!(size_of::<Run>() == 16 && offset_of!(Run, first) == 0 && offset_of!(Run, count) == 8);

/// `isotach_h5_selection_t`.
pub(crate) struct Found(Selection);

/// Runs a call on an open file, group or dataset.
///
/// # Safety
/// As [`with_library`].
unsafe fn with_object(
    address: *const Hid,
    id: Hid,
    mut body: impl FnMut(&View, &Object) -> Result<()>,
) -> Herr {
    let call = |library: &'static Library| {
        let (file, number) = object(library, id)?;
        let mut outcome = None;
        let mut run = |view: &Arc<View>| {
            let object = match number {
                Some(number) => view.file.object(number)?,
                None => view.file.root()?,
            };
            body(view, &object)
        };
        calls::on_file(library, file.raw(), &mut |view| {
            outcome = Some(run(view));
            Ok(())
        })?;
        let Some(outcome) = outcome else {
            let stack = library.H5Eget_current_stack();
            drop(file);
            library.H5Eset_current_stack(stack);
            return Err(Error::Native);
        };
        // That clears the error stack, on which the error comes at last.
        drop(file);
        outcome.map(|()| 0)
    };
    // SAFETY: the caller's promise.
    unsafe { with_library(address, call) }
}

/// The file of an object, and the object's number; of a file none.
fn object(library: &'static Library, id: Hid) -> Result<(Id, Option<u64>)> {
    let kind = library.H5Iget_type(id);
    if kind == id_type::FILE {
        return Ok((Id::share(library, id)?, None));
    }
    if kind != id_type::GROUP && kind != id_type::DATASET {
        let expected = "expected that of an open file, group or dataset of this HDF5 library";
        return Err(Error::argument(format!("id {id}: {expected}")));
    }
    let file = Id::new(library, library.H5Iget_file_id(id), "H5Iget_file_id")?;
    let mut info = ObjectInfo::default();
    // SAFETY: the library fills in the basic fields.
    check(unsafe { library.H5Oget_info3(id, &raw mut info, BASIC) }, "H5Oget_info3")?;
    let number = info.token.data.first_chunk().map_or(0, |number| u64::from_le_bytes(*number));
    Ok((file, Some(number)))
}

/// `H5O_INFO_BASIC`.
const BASIC: c_uint = 1;

/// The condition of a text.
///
/// # Safety
/// It is a text, or null.
unsafe fn parsed(condition: *const c_char) -> Result<Condition> {
    if condition.is_null() {
        return Err(Error::argument("condition is NULL: expected a text, such as \"value > 280\""));
    }
    // SAFETY: the caller's promise.
    Ok(Condition::parse(unsafe { text(condition) }?)?)
}

/// Finds the elements of a dataset that pass a condition.
///
/// # Safety
/// As [`with_object`]; the condition is a text, or null.
unsafe fn select(
    address: *const Hid,
    dataset: Hid,
    condition: *const c_char,
    mut each: impl FnMut(&View, Selection) -> Result<()>,
) -> Herr {
    // SAFETY: the caller's promise.
    unsafe { with_object(address, dataset, |view, object| each(view, object.select(&parsed(condition)?)?)) }
}

/// `isotach_h5_select`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_select(
    library: *const Hid,
    dataset: Hid,
    condition: *const c_char,
) -> Hid {
    let mut space = -1;
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        select(library, dataset, condition, |view, selection| {
            space = selected::space(view.library, &selection)?.give();
            Ok(())
        })
    };
    if outcome < 0 { -1 } else { space }
}

/// `isotach_h5_select_runs`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_select_runs(
    library: *const Hid,
    dataset: Hid,
    condition: *const c_char,
    selection: *mut *mut Found,
) -> Herr {
    // SAFETY: the caller's promise.
    unsafe {
        // A program may free it whatever the outcome is.
        put(selection, ptr::null_mut());
        select(library, dataset, condition, |_, found| {
            if selection.is_null() {
                return Err(Error::argument("selection is NULL: expected where to put the selection"));
            }
            put(selection, Box::into_raw(Box::new(Found(found))));
            Ok(())
        })
    }
}

/// `isotach_h5_get_selection_count`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_get_selection_count(selection: *const Found) -> u64 {
    // SAFETY: the header demands a selection, or null.
    unsafe { selection.as_ref() }.map_or(0, |found| found.0.count())
}

/// `isotach_h5_get_selection_runs`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_get_selection_runs(
    selection: *const Found,
    count: *mut usize,
) -> *const Run {
    // SAFETY: the header demands a selection, or null, and a pointer to a number.
    unsafe {
        let runs = selection.as_ref().map_or(&[][..], |found| found.0.runs());
        put(count, runs.len());
        runs.as_ptr()
    }
}

/// `isotach_h5_create_selection_space`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_create_selection_space(
    library: *const Hid,
    selection: *const Found,
) -> Hid {
    let mut space = -1;
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        with_library(library, |library| {
            let found = selection
                .as_ref()
                .ok_or_else(|| Error::argument("selection is NULL: expected a selection"))?;
            space = selected::space(library, &found.0)?.give();
            Ok(0)
        })
    };
    if outcome < 0 { -1 } else { space }
}

/// `isotach_h5_free_selection`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_free_selection(selection: *mut Found) {
    if !selection.is_null() {
        // SAFETY: the header demands a selection that is freed once.
        drop(unsafe { Box::from_raw(selection) });
    }
}

/// `isotach_h5_find_op_t`.
type FindCallback = unsafe extern "C" fn(*const c_char, c_int, i64, *mut c_void) -> Herr;

/// `isotach_h5_unsearched_op_t`.
type UnsearchedCallback = unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void) -> Herr;

/// `isotach_h5_find`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_find(
    library: *const Hid,
    group: Hid,
    condition: *const c_char,
    found: Option<FindCallback>,
    unsearched: Option<UnsearchedCallback>,
    data: *mut c_void,
) -> Herr {
    let mut told = (Vec::new(), Vec::new());
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        with_object(library, group, |_, object| {
            if found.is_none() {
                return Err(Error::argument("op is NULL: expected a function to call for each object"));
            }
            let findings = object.find(&parsed(condition)?)?;
            told = in_c(&findings, unsearched.is_some())?;
            Ok(())
        })
    };
    let (Some(found), 0..) = (found, outcome) else { return -1 };
    // The program's functions may call HDF5: no call of the connector is under way.
    for (path, kind, elements) in &told.0 {
        // SAFETY: the program's function takes a text, two numbers and what it was given.
        let outcome = unsafe { found(path.as_ptr(), *kind, *elements, data) };
        if outcome != 0 {
            return outcome;
        }
    }
    let Some(unsearched) = unsearched else { return 0 };
    for (path, why) in &told.1 {
        // SAFETY: the program's function takes two texts and what it was given.
        let outcome = unsafe { unsearched(path.as_ptr(), why.as_ptr(), data) };
        if outcome != 0 {
            return outcome;
        }
    }
    0
}

/// What was found, as a path, a kind and a count of elements; and of each dataset that could not be searched a path and why.
type InC = (Vec<(CString, c_int, i64)>, Vec<(CString, CString)>);

/// What the program's functions are told. An error if a dataset could not be searched, and the program does not ask for those.
fn in_c(findings: &Findings, wants_unsearched: bool) -> Result<InC> {
    if let (false, Some(first)) = (wants_unsearched, findings.unsearched.first()) {
        let (path, why) = (&first.path, &first.why);
        return Err(Error::argument(format!(
            "{path} was not searched: {why}. To find the others, pass unsearched_op"
        )));
    }
    let text = |text: &str| {
        CString::new(text).map_err(|_| Error::unsupported("names with a NUL in the interface of C"))
    };
    let mut told = InC::default();
    for hit in &findings.found {
        let elements = hit.selection.as_ref().map_or(-1, |selection| selection.count().cast_signed());
        told.0.push((text(&hit.path)?, id_type_of(hit.object.kind()), elements));
    }
    for one in &findings.unsearched {
        told.1.push((text(&one.path)?, text(&one.why)?));
    }
    Ok(told)
}

/// `isotach_h5_build_index`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_build_index(
    library: *const Hid,
    dataset: Hid,
    members: *const *const c_char,
    count: usize,
    flags: c_uint,
) -> Herr {
    // SAFETY: the caller's promise.
    unsafe {
        with_object(library, dataset, |view, object| {
            view.writable()?;
            if flags & !BINS != 0 {
                return Err(Error::argument(format!("flags {flags:#x}: expected 0 or ISOTACH_H5_BINS")));
            }
            let paths = match (members.is_null(), count) {
                (_, 0) => &[],
                (false, _) => slice::from_raw_parts(members, count),
                (true, _) => {
                    return Err(Error::argument(format!("members is NULL: expected {count} names")));
                }
            };
            let path = |member: &*const c_char| -> Result<Vec<String>> { Ok(parse_member(text(*member)?)?) };
            let members = paths.iter().map(path).collect::<Result<_>>()?;
            object.build_index(&IndexOptions { has_bins: flags & BINS != 0, members })?;
            Ok(())
        })
    }
}

/// `isotach_h5_remove_index`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_remove_index(library: *const Hid, dataset: Hid) -> Herr {
    // SAFETY: the caller's promise.
    unsafe {
        with_object(library, dataset, |view, object| {
            view.writable()?;
            object.remove_index()?;
            Ok(())
        })
    }
}

/// `isotach_h5_get_index_info`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_get_index_info(
    library: *const Hid,
    dataset: Hid,
    info: *mut IndexInfo,
) -> Herr {
    // SAFETY: the caller's promise.
    unsafe {
        with_object(library, dataset, |_, object| {
            if info.is_null() {
                return Err(Error::argument("info is NULL: expected where to put the result"));
            }
            let found = match object.index()? {
                None => IndexInfo {
                    is_there: 0,
                    has_bins: 0,
                    chunks: object.chunk_count()?,
                    indexed: 0,
                    without: 0,
                },
                Some(found) => IndexInfo {
                    is_there: 1,
                    has_bins: found.options.has_bins.into(),
                    chunks: found.chunks,
                    indexed: found.indexed,
                    without: found.without,
                },
            };
            put(info, found);
            Ok(())
        })
    }
}
