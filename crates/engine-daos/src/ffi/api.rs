//! The functions of libdaos in use, found by name in the loaded library.

use std::{
    env,
    ffi::{c_char, c_int, c_uint},
    sync::OnceLock,
};

use isotach_daos_abi::{
    info::{d_rank_list_t, daos_acl, daos_cont_info_t, daos_pool_cont_info, daos_pool_info_t, daos_prop_t},
    types::*,
};
use isotach_engine_kit::{functions, library};

/// The environment variable that names another library than the system's.
const LIBRARY: &str = "ISOTACH_LIBDAOS";
/// The names of the library, the one with a version first.
const NAMES: [&str; 2] = ["libdaos.so.2", "libdaos.so"];

type Handle = daos_handle_t;
type Event = *mut daos_event_t;

// The first existing name of several counts: in DAOS 2.0 the names without a number are older functions.
functions! {
    init ["daos_init"]: fn() -> c_int;
    fini ["daos_fini"]: fn() -> c_int;
    pool_connect ["daos_pool_connect2", "daos_pool_connect"]: fn(*const c_char, *const c_char, c_uint, *mut Handle, *mut daos_pool_info_t, Event) -> c_int;
    pool_disconnect ["daos_pool_disconnect"]: fn(Handle, Event) -> c_int;
    pool_query ["daos_pool_query"]: fn(Handle, *mut *mut d_rank_list_t, *mut daos_pool_info_t, *mut daos_prop_t, Event) -> c_int;
    pool_list_cont ["daos_pool_list_cont"]: fn(Handle, *mut u64, *mut daos_pool_cont_info, Event) -> c_int;
    cont_create_with_label ["daos_cont_create_with_label"]: fn(Handle, *const c_char, *mut daos_prop_t, *mut uuid_t, Event) -> c_int;
    cont_open ["daos_cont_open2", "daos_cont_open"]: fn(Handle, *const c_char, c_uint, *mut Handle, *mut daos_cont_info_t, Event) -> c_int;
    cont_close ["daos_cont_close"]: fn(Handle, Event) -> c_int;
    cont_destroy ["daos_cont_destroy2", "daos_cont_destroy"]: fn(Handle, *const c_char, c_int, Event) -> c_int;
    cont_query ["daos_cont_query"]: fn(Handle, *mut daos_cont_info_t, *mut daos_prop_t, Event) -> c_int;
    cont_set_prop ["daos_cont_set_prop"]: fn(Handle, *mut daos_prop_t, Event) -> c_int;
    cont_get_acl ["daos_cont_get_acl"]: fn(Handle, *mut *mut daos_prop_t, Event) -> c_int;
    cont_overwrite_acl ["daos_cont_overwrite_acl"]: fn(Handle, *mut daos_acl, Event) -> c_int;
    cont_set_owner ["daos_cont_set_owner"]: fn(Handle, *mut c_char, *mut c_char, Event) -> c_int;
    cont_alloc_oids ["daos_cont_alloc_oids"]: fn(Handle, u64, *mut u64, Event) -> c_int;
    cont_aggregate ["daos_cont_aggregate"]: fn(Handle, u64, Event) -> c_int;
    cont_create_snap_opt ["daos_cont_create_snap_opt"]: fn(Handle, *mut u64, *mut c_char, c_int, Event) -> c_int;
    cont_destroy_snap ["daos_cont_destroy_snap"]: fn(Handle, daos_epoch_range_t, Event) -> c_int;
    oit_open ["daos_oit_open"]: fn(Handle, u64, *mut Handle, Event) -> c_int;
    oit_close ["daos_oit_close"]: fn(Handle, Event) -> c_int;
    oit_list ["daos_oit_list"]: fn(Handle, *mut daos_obj_id_t, *mut u32, *mut daos_anchor_t, Event) -> c_int;

    prop_alloc ["daos_prop_alloc"]: fn(u32) -> *mut daos_prop_t;
    prop_free ["daos_prop_free"]: fn(*mut daos_prop_t);
    acl_from_strs ["daos_acl_from_strs"]: fn(*mut *const c_char, usize, *mut *mut daos_acl) -> c_int;
    acl_to_strs ["daos_acl_to_strs"]: fn(*mut daos_acl, *mut *mut *mut c_char, *mut usize) -> c_int;
    acl_free ["daos_acl_free"]: fn(*mut daos_acl);

    tx_open ["daos_tx_open"]: fn(Handle, *mut Handle, u64, Event) -> c_int;
    tx_open_snap ["daos_tx_open_snap"]: fn(Handle, u64, *mut Handle, Event) -> c_int;
    tx_commit ["daos_tx_commit"]: fn(Handle, Event) -> c_int;
    tx_restart ["daos_tx_restart"]: fn(Handle, Event) -> c_int;
    tx_close ["daos_tx_close"]: fn(Handle, Event) -> c_int;
    tx_hdl2epoch ["daos_tx_hdl2epoch"]: fn(Handle, *mut u64) -> c_int;

    obj_generate_oid ["daos_obj_generate_oid2", "daos_obj_generate_oid"]: fn(Handle, *mut daos_obj_id_t, c_int, u32, u16, u32) -> c_int;
    obj_open ["daos_obj_open"]: fn(Handle, daos_obj_id_t, c_uint, *mut Handle, Event) -> c_int;
    obj_close ["daos_obj_close"]: fn(Handle, Event) -> c_int;
    obj_fetch ["daos_obj_fetch"]: fn(Handle, Handle, u64, *mut daos_key_t, c_uint, *mut daos_iod_t, *mut d_sg_list_t, *mut daos_iom_t, Event) -> c_int;
    obj_update ["daos_obj_update"]: fn(Handle, Handle, u64, *mut daos_key_t, c_uint, *mut daos_iod_t, *mut d_sg_list_t, Event) -> c_int;
    obj_punch ["daos_obj_punch"]: fn(Handle, Handle, u64, Event) -> c_int;
    obj_punch_dkeys ["daos_obj_punch_dkeys"]: fn(Handle, Handle, u64, c_uint, *mut daos_key_t, Event) -> c_int;
    obj_punch_akeys ["daos_obj_punch_akeys"]: fn(Handle, Handle, u64, *mut daos_key_t, c_uint, *mut daos_key_t, Event) -> c_int;
    obj_list_dkey ["daos_obj_list_dkey"]: fn(Handle, Handle, *mut u32, *mut daos_key_desc_t, *mut d_sg_list_t, *mut daos_anchor_t, Event) -> c_int;
    obj_list_akey ["daos_obj_list_akey"]: fn(Handle, Handle, *mut daos_key_t, *mut u32, *mut daos_key_desc_t, *mut d_sg_list_t, *mut daos_anchor_t, Event) -> c_int;

    array_open_with_attr ["daos_array_open_with_attr"]: fn(Handle, daos_obj_id_t, Handle, c_uint, u64, u64, *mut Handle, Event) -> c_int;
    array_close ["daos_array_close"]: fn(Handle, Event) -> c_int;
    array_read ["daos_array_read"]: fn(Handle, Handle, *mut daos_array_iod_t, *mut d_sg_list_t, Event) -> c_int;
    array_write ["daos_array_write"]: fn(Handle, Handle, *mut daos_array_iod_t, *mut d_sg_list_t, Event) -> c_int;
    array_get_size ["daos_array_get_size"]: fn(Handle, Handle, *mut u64, Event) -> c_int;
    array_set_size ["daos_array_set_size"]: fn(Handle, Handle, u64, Event) -> c_int;
    array_punch ["daos_array_punch"]: fn(Handle, Handle, *mut daos_array_iod_t, Event) -> c_int;
    array_destroy ["daos_array_destroy"]: fn(Handle, Handle, Event) -> c_int;

    eq_create ["daos_eq_create"]: fn(*mut Handle) -> c_int;
    eq_destroy ["daos_eq_destroy"]: fn(Handle, c_int) -> c_int;
    eq_poll ["daos_eq_poll"]: fn(Handle, c_int, i64, c_uint, *mut Event) -> c_int;
    event_init ["daos_event_init"]: fn(Event, Handle, Event) -> c_int;
    event_fini ["daos_event_fini"]: fn(Event) -> c_int;
    ? reinit ["daos_reinit"]: fn() -> c_int;
}

/// libdaos, loaded at the first call and never unloaded.
///
/// # Errors
/// The loader's message.
pub(super) fn functions() -> Result<&'static Functions, &'static str> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(load).as_ref().map_err(String::as_str)
}

fn load() -> Result<Functions, String> {
    let named = env::var(LIBRARY).ok().filter(|name| !name.is_empty());
    let names = named.as_deref().map_or_else(|| NAMES.to_vec(), |name| vec![name]);
    // SAFETY: libdaos and what it was built with have no demands on the process that loads them.
    let library = unsafe { library::load(&names) }?;
    // SAFETY: the types are those of DAOS's headers since 2.0.
    unsafe { Functions::find(library) }
}
