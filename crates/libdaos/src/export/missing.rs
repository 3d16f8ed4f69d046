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
    daos_cont_get_acl daos_cont_overwrite_acl daos_cont_update_acl daos_cont_delete_acl daos_cont_set_owner
    daos_acl_add_ace daos_acl_remove_ace daos_acl_get_ace_for_principal daos_acl_validate daos_acl_pool_validate
    daos_acl_cont_validate daos_acl_from_strs daos_acl_to_strs daos_ace_from_str daos_ace_to_str
    daos_prop_from_str daos_prop_set_str daos_prop_set_ptr daos_prop_entry_set_str daos_prop_entry_set_ptr
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
    daos_acl_create daos_acl_dup daos_acl_get_next_ace daos_ace_create daos_rank_list_parse daos_event_next
    daos_acl_free daos_ace_free d_rank_list_free daos_acl_get_size daos_ace_get_size daos_ace_is_valid daos_prop_fini
}
