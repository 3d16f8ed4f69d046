//! Functions of DAOS's that this library does not have: each says so, by its number and in the log. Programs that have them among others start.

use std::ffi::c_int;

use crate::{abi::errors::DER_NOSYS, log};

macro_rules! missing {
    ($result:expr => $($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> c_int {
                log::line("DER_NOSYS", concat!(stringify!($name), " is not there"));
                $result
            }
        )*
    };
}

// Their parameters are not looked at, which the calling conventions of the systems we build for allow; nor is what they give by the
// callers of the few that give nothing.
missing! { -DER_NOSYS =>
    daos_pool_query_target daos_pool_stop_svc
    daos_pool_filter_cont daos_pool_cont_filter_init daos_pool_cont_filter_add daos_pool_cont_filter_fini
    daos_cont_rollback daos_cont_subscribe daos_cont_status_clear
    daos_cont_snap_oit_create daos_cont_snap_oit_destroy
    daos_obj_list_recx daos_obj_query_class daos_obj_query daos_obj_verify daos_obj_layout_get daos_obj_layout_free
    daos_mgmt_list_pools daos_mgmt_get_bs_state
    daos_pipeline_init daos_pipeline_add daos_pipeline_check daos_pipeline_run daos_pipeline_free
    daos_filter_init daos_filter_add
}

// Those of libdfs and libduns tell errors by the numbers of the system.
missing! { libc::ENOSYS =>
    dfs_cont_check dfs_cont_scan dfs_cont_set_owner dfs_dir_anchor_set dfs_get_size_by_oid dfs_obj_fix_type dfs_recreate_sb
    dfs_relink_root
    dfs_sys_mount dfs_sys_umount dfs_sys_connect dfs_sys_disconnect dfs_sys_local2global dfs_sys_global2local
    dfs_sys_local2global_all dfs_sys_global2local_all dfs_sys2base
    dfs_sys_access dfs_sys_chmod dfs_sys_chown dfs_sys_setattr dfs_sys_utimens dfs_sys_stat dfs_sys_mknod
    dfs_sys_listxattr dfs_sys_getxattr dfs_sys_setxattr dfs_sys_removexattr dfs_sys_readlink dfs_sys_symlink
    dfs_sys_open dfs_sys_close dfs_sys_read dfs_sys_write dfs_sys_punch dfs_sys_remove dfs_sys_remove_type
    dfs_sys_mkdir dfs_sys_mkdir_p dfs_sys_opendir dfs_sys_closedir dfs_sys_readdir
    duns_create_path duns_resolve_path duns_destroy_path duns_parse_attr duns_link_cont duns_set_sys_name duns_destroy_attr
}
