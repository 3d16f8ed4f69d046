//! What pools and containers say of themselves, properties and access control lists.
//!
//! Every structure has the layout of the C one on a 64-bit machine; the assertions at the end hold it.

use core::ffi::{c_char, c_int, c_void};
use core::fmt;

use crate::properties::DAOS_PROP_LABEL_MAX_LEN;
use crate::types::{d_rank_t, daos_epoch_t, uuid_t};

/// How many kinds of storage a pool has: memory and block devices.
pub const DAOS_MEDIA_MAX: usize = 2;

/// A list of server processes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct d_rank_list_t {
    /// Their numbers.
    pub rl_ranks: *mut d_rank_t,
    /// How many there are.
    pub rl_nr: u32,
}

/// Space of each kind of storage, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_space {
    /// All of it.
    pub s_total: [u64; DAOS_MEDIA_MAX],
    /// What is free of it.
    pub s_free: [u64; DAOS_MEDIA_MAX],
}

/// Space of a pool, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_pool_space {
    /// The sum over all targets.
    pub ps_space: daos_space,
    /// What is free on the fullest target.
    pub ps_free_min: [u64; DAOS_MEDIA_MAX],
    /// What is free on the emptiest target.
    pub ps_free_max: [u64; DAOS_MEDIA_MAX],
    /// What is free on the average.
    pub ps_free_mean: [u64; DAOS_MEDIA_MAX],
    /// How many targets there are.
    pub ps_ntargets: u32,
    /// Nothing.
    pub ps_padding: u32,
}

/// How far the rebuilding of a pool is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_rebuild_status {
    /// The version of the pool map that is or was rebuilt.
    pub rs_version: u32,
    /// How long it took, in seconds.
    pub rs_seconds: u32,
    /// The error that ended it.
    pub rs_errno: i32,
    /// One of the `DRS_*` numbers.
    pub rs_state: i32,
    /// The newest layout that the pool can have.
    pub rs_max_supported_layout_ver: u16,
    /// Flags.
    pub rs_flags: u8,
    /// Nothing.
    pub rs_pad: u8,
    /// The server process that failed.
    pub rs_fail_rank: i32,
    /// How many objects there are to rebuild.
    pub rs_toberb_obj_nr: u64,
    /// How many objects were rebuilt.
    pub rs_obj_nr: u64,
    /// How many records were rebuilt.
    pub rs_rec_nr: u64,
    /// The bytes that were rebuilt.
    pub rs_size: u64,
}

/// What a pool says of itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_pool_info_t {
    /// The pool.
    pub pi_uuid: uuid_t,
    /// How many targets it has.
    pub pi_ntargets: u32,
    /// How many machines it has.
    pub pi_nnodes: u32,
    /// How many targets are out of use.
    pub pi_ndisabled: u32,
    /// The version of the pool map.
    pub pi_map_ver: u32,
    /// The server process that leads.
    pub pi_leader: u32,
    /// What the caller asks for, a set of `DPI_*` flags.
    pub pi_bits: u64,
    /// Space, where asked for.
    pub pi_space: daos_pool_space,
    /// Rebuilding, where asked for.
    pub pi_rebuild_st: daos_rebuild_status,
}

/// One container in the listing of a pool.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct daos_pool_cont_info {
    /// The container.
    pub pci_uuid: uuid_t,
    /// Its label, ended by a zero.
    pub pci_label: [c_char; DAOS_PROP_LABEL_MAX_LEN + 1],
}

/// One container in the filtered listing of a pool.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct daos_pool_cont_info2 {
    /// Its name.
    pub pci_id: daos_pool_cont_info,
    /// What it says of itself.
    pub pci_cinfo: daos_cont_info_t,
    /// Nothing.
    pub pci_reserved: [*mut c_void; 2],
}

/// What a container says of itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_cont_info_t {
    /// The container.
    pub ci_uuid: uuid_t,
    /// The epoch of its latest snapshot.
    pub ci_lsnapshot: daos_epoch_t,
    /// How many open handles it has.
    pub ci_nhandles: u32,
    /// How many snapshots it has.
    pub ci_nsnapshots: u32,
    /// When it was opened last, as a hybrid logical clock reading.
    pub ci_md_otime: u64,
    /// When its metadata changed last, as a hybrid logical clock reading.
    pub ci_md_mtime: u64,
}

/// The value of a property: which field counts follows from its number.
#[repr(C)]
#[derive(Clone, Copy)]
pub union daos_prop_value {
    /// A number.
    pub dpe_val: u64,
    /// A string, ended by a zero.
    pub dpe_str: *mut c_char,
    /// A structure, for instance a [`daos_acl`].
    pub dpe_val_ptr: *mut c_void,
}

impl fmt::Debug for daos_prop_value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("daos_prop_value").finish_non_exhaustive()
    }
}

/// One property. In C the union has no name, its fields are those of the entry.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct daos_prop_entry {
    /// One of the `DAOS_PROP_*` numbers.
    pub dpe_type: u32,
    /// A set of `DAOS_PROP_ENTRY_*` flags.
    pub dpe_flags: u16,
    /// Nothing.
    pub dpe_reserv: u16,
    /// The value.
    pub dpe_value: daos_prop_value,
}

/// A list of properties.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct daos_prop_t {
    /// How many there are.
    pub dpp_nr: u32,
    /// Nothing.
    pub dpp_reserv: u32,
    /// The properties; null in a query asks for all of them.
    pub dpp_entries: *mut daos_prop_entry,
}

/// The objects that a layout starts from, as a container property.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_prop_co_roots {
    /// The identifiers.
    pub cr_oids: [crate::types::daos_obj_id_t; 4],
}

/// The health of a container, as it is packed into a property.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_co_status {
    /// Healthy or unclean.
    pub dcs_status: u16,
    /// The library's.
    pub dcs_flags: u16,
    /// The version of the pool map at the change.
    pub dcs_pm_ver: u32,
}

/// The head of an access control list; entries of varying length follow it.
#[repr(C)]
#[derive(Debug)]
pub struct daos_acl {
    /// The version of the layout.
    pub dal_ver: u16,
    /// Nothing.
    pub dal_reserv: u16,
    /// The number of bytes of entries that follow.
    pub dal_len: u32,
    /// The entries.
    pub dal_ace: [u8; 0],
}

/// The head of one entry of an access control list; the principal's name may follow it.
#[repr(C)]
#[derive(Debug)]
pub struct daos_ace {
    /// A set of `DAOS_ACL_ACCESS_*` flags.
    pub dae_access_types: u8,
    /// One of the `DAOS_ACL_*` principal numbers.
    pub dae_principal_type: u8,
    /// The number of bytes the name takes, its zero and padding to eight bytes included.
    pub dae_principal_len: u16,
    /// A set of `DAOS_ACL_FLAG_*` flags.
    pub dae_access_flags: u16,
    /// Nothing.
    pub dae_reserv: u16,
    /// What is allowed, a set of `DAOS_ACL_PERM_*` flags.
    pub dae_allow_perms: u64,
    /// What is written to an audit log.
    pub dae_audit_perms: u64,
    /// What raises an alarm.
    pub dae_alarm_perms: u64,
    /// The name.
    pub dae_principal: [c_char; 0],
}

/// The kind of a principal, one of the `DAOS_ACL_*` principal numbers.
pub type daos_acl_principal_type = c_int;

layouts! {
    d_rank_list_t = 16 { rl_ranks: 0, rl_nr: 8 }
    daos_cont_info_t = 48 {
        ci_uuid: 0, ci_lsnapshot: 16, ci_nhandles: 24, ci_nsnapshots: 28, ci_md_otime: 32, ci_md_mtime: 40,
    }
    daos_pool_cont_info = 144 { pci_uuid: 0, pci_label: 16 }
    daos_pool_cont_info2 = 208 { pci_cinfo: 144 }
    daos_prop_t = 16 { dpp_nr: 0, dpp_reserv: 4, dpp_entries: 8 }
    daos_prop_entry = 16 { dpe_type: 0, dpe_flags: 4, dpe_reserv: 6, dpe_value: 8 }
    daos_acl = 8 { dal_ver: 0, dal_reserv: 2, dal_len: 4, dal_ace: 8 }
    daos_ace = 32 {
        dae_access_types: 0, dae_principal_type: 1, dae_principal_len: 2, dae_access_flags: 4,
        dae_allow_perms: 8, dae_audit_perms: 16, dae_alarm_perms: 24, dae_principal: 32,
    }
    daos_pool_info_t = 192 {
        pi_uuid: 0, pi_ntargets: 16, pi_nnodes: 20, pi_ndisabled: 24, pi_map_ver: 28, pi_leader: 32,
        pi_bits: 40, pi_space: 48, pi_rebuild_st: 136,
    }
    daos_pool_space = 88 { ps_space: 0, ps_free_min: 32, ps_free_max: 48, ps_free_mean: 64, ps_ntargets: 80 }
    daos_rebuild_status = 56 {
        rs_version: 0, rs_seconds: 4, rs_errno: 8, rs_state: 12, rs_max_supported_layout_ver: 16,
        rs_flags: 18, rs_fail_rank: 20, rs_toberb_obj_nr: 24, rs_obj_nr: 32, rs_rec_nr: 40, rs_size: 48,
    }
}
