//! The functions of DAOS that this library lacks. Each returns an error number and writes a line in the log, so that programs that link them start.

use std::ffi::c_int;

use super::export;
use crate::{abi::errors::DER_NOSYS, runtime::log};

macro_rules! missing {
    ($result:expr => $($name:ident)*) => {
        $(
            #[export]
            fn $name() -> c_int {
                log::line("DER_NOSYS", concat!(stringify!($name), " is not there"));
                $result
            }
        )*
    };
}

// The calling conventions of the supported systems allow that these functions ignore their parameters, and that the callers of the few
// functions without a result ignore the returned number.
missing! { -DER_NOSYS =>
    daos_pool_query_target daos_pool_stop_svc
    daos_pool_filter_cont daos_pool_cont_filter_init daos_pool_cont_filter_add daos_pool_cont_filter_fini
    daos_cont_rollback daos_cont_subscribe daos_cont_status_clear
    daos_cont_snap_oit_create daos_cont_snap_oit_destroy
    daos_obj_query_class daos_obj_query daos_obj_verify daos_obj_layout_get daos_obj_layout_free
    daos_obj_key2anchor daos_obj_query_max_epoch daos_oit_list_filter
    daos_acl_to_stream
    daos_mgmt_list_pools daos_mgmt_get_bs_state daos_mgmt_get_sys_info daos_mgmt_put_sys_info
    daos_pipeline_init daos_pipeline_add daos_pipeline_check daos_pipeline_run daos_pipeline_free
    daos_filter_init daos_filter_add
}

// The functions of libdfs return errors of the system.
missing! { libc::ENOSYS =>
    dfs_cont_check dfs_cont_scan dfs_cont_set_owner dfs_dir_anchor_set dfs_get_size_by_oid dfs_obj_fix_type dfs_recreate_sb
    dfs_relink_root dfs_mount_snap dfs_connect_snap dfs_pipeline_create dfs_pipeline_destroy dfs_readdir_with_filter
}
