//! Functions of DAOS's that this library does not have yet: each says so, by its number and in the log.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use crate::{abi::errors::DER_NOSYS, log};

macro_rules! missing {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> c_int {
                log::line("DER_NOSYS", concat!(stringify!($name), " is not there yet"));
                -DER_NOSYS
            }
        )*
    };
}

// Their parameters are not looked at, which the calling conventions of the systems we build for allow.
missing! {
    daos_oit_mark daos_oit_list_unmarked
    daos_event_register_comp_cb
    daos_cont_rollback daos_cont_subscribe daos_cont_status_clear
    daos_pool_list_attr daos_pool_get_attr daos_pool_set_attr daos_pool_del_attr
}

macro_rules! missing_that_give_pointers {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> *mut c_void {
                log::line("DER_NOSYS", concat!(stringify!($name), " is not there yet"));
                ptr::null_mut()
            }
        )*
    };
}

// What gives nothing, a size or a truth gives the same as a null pointer.
missing_that_give_pointers! {
    daos_event_next
}
