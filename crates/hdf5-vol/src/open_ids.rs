//! The ids of a program that were opened through one view of a file.

use std::ffi::{c_int, c_uint, c_void};

use crate::{
    abi::{Herr, Hid, count, id_type},
    error::Result,
    id::check,
    library::Library,
    shadow,
    view::View,
};

/// What an iteration over ids of one type collects.
struct Search<'a> {
    library: &'static Library,
    view: &'a View,
    kind: c_int,
    is_local: bool,
    max: usize,
    found: Vec<Hid>,
}

/// At most `max` ids of these `H5F_OBJ_*` types; without `H5F_OBJ_LOCAL` also files that were opened otherwise.
pub(crate) fn of(view: &View, types: c_uint, max: usize) -> Result<Vec<Hid>> {
    let wanted = [
        (count::FILE, id_type::FILE),
        (count::DATASET, id_type::DATASET),
        (count::GROUP, id_type::GROUP),
        (count::DATATYPE, id_type::DATATYPE),
        (count::ATTRIBUTE, id_type::ATTRIBUTE),
        (count::MAP, id_type::MAP),
    ];
    let mut found = Vec::new();
    for (flag, kind) in wanted {
        if types & flag == 0 {
            continue;
        }
        let is_local = types & count::LOCAL != 0;
        let mut search = Search { library: view.library, view, kind, is_local, max, found };
        let data: *mut Search<'_> = &raw mut search;
        // SAFETY: the callback gets the search back, which outlives the iteration.
        check(unsafe { view.library.H5Iiterate(kind, visit, data.cast()) }, "H5Iiterate")?;
        found = search.found;
    }
    Ok(found)
}

unsafe extern "C" fn visit(id: Hid, data: *mut c_void) -> Herr {
    // SAFETY: `of` passes a search, and nothing else uses it meanwhile.
    let Some(search) = (unsafe { data.cast::<Search<'_>>().as_mut() }) else { return 1 };
    if search.found.len() >= search.max {
        return 1;
    }
    // Types that are not committed have no object, and asking for it would be an error.
    if search.kind == id_type::DATATYPE && search.library.H5Tcommitted(id) <= 0 {
        return 0;
    }
    let shadow = search.library.H5VLobject(id);
    if search.matches(shadow) {
        search.found.push(id);
    }
    0
}

impl Search<'_> {
    fn matches(&self, shadow: *const c_void) -> bool {
        if self.view.owns(shadow, self.kind) {
            return true;
        }
        !self.is_local && shadow::file_number(shadow) == Some(self.view.file.number())
    }
}
