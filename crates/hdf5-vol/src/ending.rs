//! The end of a libhdf5. A native object that is no id, such as those of the shadow, is open for ever, and HDF5 waits for it in vain. So what is the
//! connector's is closed before HDF5 begins to end.

use std::{
    ffi::{c_int, c_void},
    io::Write as _,
    panic::catch_unwind,
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    abi::{Herr, Hid, id_type},
    error::{Error, Result},
    id::check,
    library::Library,
    shadow,
};

/// What HDF5 itself closes, in this order.
const KINDS: [c_int; 5] = [id_type::ATTRIBUTE, id_type::DATASET, id_type::MAP, id_type::GROUP, id_type::FILE];

/// Has [`at_end`] called when the library ends.
pub(crate) fn prepare(library: &'static Library) -> Result<()> {
    let context = ptr::from_ref(library).cast_mut().cast();
    // SAFETY: the function expects the library as its context, which is never freed.
    check(unsafe { library.H5atclose(at_end, context) }, "H5atclose").map(drop)
}

unsafe extern "C" fn at_end(context: *mut c_void) {
    // SAFETY: `prepare` gave the library, which is only shared.
    let Some(library) = (unsafe { context.cast::<Library>().cast_const().as_ref() }) else { return };
    // There is nobody to be told of a failure: what is open then stays open.
    IS_ENDING.store(true, Ordering::Relaxed);
    drop(catch_unwind(|| end(library)));
}

fn end(library: &'static Library) -> Result<()> {
    // Ids that the program has not closed: a file is committed when the last one is.
    for kind in KINDS.into_iter().filter(|kind| *kind != id_type::MAP || library.has_maps) {
        for id in ids(library, kind)? {
            if shadow::file_number(library.H5VLobject(id)).is_some() {
                while library.H5Idec_ref(id) > 0 {}
            }
        }
    }
    // A committed type that is open needs the lasting shadow when HDF5 closes it.
    let types = ids(library, id_type::DATATYPE)?;
    if types.into_iter().all(|id| library.H5Tcommitted(id) <= 0) {
        shadow::close_kept(library);
    }
    Ok(())
}

/// Whether the library ends: no call of the program is there to fail.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Tells of a file that is closed at the end, and could not be committed.
pub(crate) fn tell(name: &str, error: &Error) {
    if IS_ENDING.load(Ordering::Relaxed) {
        let line = format!("isotach: file {name} was open at the end, and is not committed: {error}\n");
        // There is nobody else to be told.
        drop(std::io::stderr().write_all(line.as_bytes()));
    }
}

/// All ids of a type.
fn ids(library: &'static Library, kind: c_int) -> Result<Vec<Hid>> {
    let mut ids: Vec<Hid> = Vec::new();
    // SAFETY: the callback gets the list back, which outlives the iteration.
    check(unsafe { library.H5Iiterate(kind, collect, (&raw mut ids).cast()) }, "H5Iiterate")?;
    Ok(ids)
}

unsafe extern "C" fn collect(id: Hid, data: *mut c_void) -> Herr {
    // SAFETY: `ids` passes a list, and nothing else uses it meanwhile.
    if let Some(ids) = unsafe { data.cast::<Vec<Hid>>().as_mut() } {
        ids.push(id);
    }
    0
}
