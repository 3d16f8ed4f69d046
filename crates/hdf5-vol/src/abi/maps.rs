//! The arguments of operations on maps: `H5Mpublic.h`. They reach a connector through `H5VL_class_t.optional`.

use std::ffi::{c_char, c_int, c_void};

use super::{Herr, Hid, Hsize, LocParams};

/// `H5VL_MAP_*`.
pub(crate) mod map_op {
    use std::ffi::c_int;
    pub(crate) const CREATE: c_int = 1;
    pub(crate) const OPEN: c_int = 2;
    pub(crate) const GET_VALUE: c_int = 3;
    pub(crate) const EXISTS: c_int = 4;
    pub(crate) const PUT: c_int = 5;
    pub(crate) const GET: c_int = 6;
    pub(crate) const SPECIFIC: c_int = 7;
    pub(crate) const CLOSE: c_int = 9;
}

/// `H5VL_map_get_t`.
pub(crate) mod map_get {
    use std::ffi::c_int;
    pub(crate) const ACCESS: c_int = 0;
    pub(crate) const CREATION: c_int = 1;
    pub(crate) const KEY_TYPE: c_int = 2;
    pub(crate) const VALUE_TYPE: c_int = 3;
    pub(crate) const COUNT: c_int = 4;
}

/// `H5VL_map_specific_t`.
pub(crate) mod map_specific {
    use std::ffi::c_int;
    pub(crate) const ITERATE: c_int = 0;
    pub(crate) const DELETE: c_int = 1;
}

/// `H5M_iterate_t`.
pub(crate) type MapOp = unsafe extern "C" fn(Hid, *const c_void, *mut c_void) -> Herr;

/// `H5VL_map_args_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union MapArgs {
    pub(crate) create: MapCreate,
    pub(crate) open: MapOpen,
    pub(crate) get_value: MapGetValue,
    pub(crate) exists: MapExists,
    pub(crate) put: MapPut,
    pub(crate) get: MapGet,
    pub(crate) specific: MapSpecific,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MapCreate {
    pub(crate) loc: LocParams,
    pub(crate) name: *const c_char,
    pub(crate) lcpl: Hid,
    pub(crate) key_type: Hid,
    pub(crate) value_type: Hid,
    pub(crate) mcpl: Hid,
    pub(crate) mapl: Hid,
    pub(crate) map: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MapOpen {
    pub(crate) loc: LocParams,
    pub(crate) name: *const c_char,
    pub(crate) mapl: Hid,
    pub(crate) map: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MapGetValue {
    pub(crate) key_type: Hid,
    pub(crate) key: *const c_void,
    pub(crate) value_type: Hid,
    pub(crate) value: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MapExists {
    pub(crate) key_type: Hid,
    pub(crate) key: *const c_void,
    pub(crate) exists: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MapPut {
    pub(crate) key_type: Hid,
    pub(crate) key: *const c_void,
    pub(crate) value_type: Hid,
    pub(crate) value: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MapGet {
    pub(crate) op: c_int,
    pub(crate) answer: MapAnswer,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union MapAnswer {
    pub(crate) id: Hid,
    pub(crate) count: Hsize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MapSpecific {
    pub(crate) op: c_int,
    pub(crate) args: MapSpecificArgs,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union MapSpecificArgs {
    pub(crate) iterate: MapIterate,
    pub(crate) delete: MapDelete,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MapIterate {
    pub(crate) loc: LocParams,
    pub(crate) at: Hsize,
    pub(crate) key_type: Hid,
    pub(crate) op: Option<MapOp>,
    pub(crate) data: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MapDelete {
    pub(crate) loc: LocParams,
    pub(crate) key_type: Hid,
    pub(crate) key: *const c_void,
}
