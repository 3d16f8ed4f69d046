//! What pools and containers say of themselves, properties and access control lists.
//!
//! Every structure has the layout of the C one on a 64-bit machine.

use core::ffi::{c_char, c_int, c_void};
use core::fmt;

use crate::properties::DAOS_PROP_LABEL_MAX_LEN;
use crate::types::{d_rank_t, daos_epoch_t, uuid_t};

/// How many kinds of storage a pool has: memory and block devices.
pub const DAOS_MEDIA_MAX: usize = 2;

structures! {
    /// A list of server processes.
    #[derive(Clone, Copy, Debug)]
    d_rank_list_t = 16 {
        0 rl_ranks: *mut d_rank_t, "Their numbers.";
        8 rl_nr: u32, "How many there are.";
    }

    /// Space of each kind of storage, in bytes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_space = 32 {
        0 s_total: [u64; DAOS_MEDIA_MAX], "All of it.";
        16 s_free: [u64; DAOS_MEDIA_MAX], "What is free of it.";
    }

    /// Space of a pool, in bytes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_pool_space = 88 {
        0 ps_space: daos_space, "The sum over all targets.";
        32 ps_free_min: [u64; DAOS_MEDIA_MAX], "What is free on the fullest target.";
        48 ps_free_max: [u64; DAOS_MEDIA_MAX], "What is free on the emptiest target.";
        64 ps_free_mean: [u64; DAOS_MEDIA_MAX], "What is free on the average.";
        80 ps_ntargets: u32, "How many targets there are.";
        84 ps_padding: u32, "Nothing.";
    }

    /// How far the rebuilding of a pool is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_rebuild_status = 56 {
        0 rs_version: u32, "The version of the pool map that is or was rebuilt.";
        4 rs_seconds: u32, "How long it took, in seconds.";
        8 rs_errno: i32, "The error that ended it.";
        12 rs_state: i32, "One of the `DRS_*` numbers.";
        16 rs_max_supported_layout_ver: u16, "The newest layout that the pool can have.";
        18 rs_flags: u8, "Flags.";
        19 rs_pad: u8, "Nothing.";
        20 rs_fail_rank: i32, "The server process that failed.";
        24 rs_toberb_obj_nr: u64, "How many objects there are to rebuild.";
        32 rs_obj_nr: u64, "How many objects were rebuilt.";
        40 rs_rec_nr: u64, "How many records were rebuilt.";
        48 rs_size: u64, "The bytes that were rebuilt.";
    }

    /// What a pool says of itself.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_pool_info_t = 192 {
        0 pi_uuid: uuid_t, "The pool.";
        16 pi_ntargets: u32, "How many targets it has.";
        20 pi_nnodes: u32, "How many machines it has.";
        24 pi_ndisabled: u32, "How many targets are out of use.";
        28 pi_map_ver: u32, "The version of the pool map.";
        32 pi_leader: u32, "The server process that leads.";
        40 pi_bits: u64, "What the caller asks for, a set of `DPI_*` flags.";
        48 pi_space: daos_pool_space, "Space, where asked for.";
        136 pi_rebuild_st: daos_rebuild_status, "Rebuilding, where asked for.";
    }

    /// One container in the listing of a pool.
    #[derive(Clone, Copy, Debug)]
    daos_pool_cont_info = 144 {
        0 pci_uuid: uuid_t, "The container.";
        16 pci_label: [c_char; DAOS_PROP_LABEL_MAX_LEN + 1], "Its label, ended by a zero.";
    }

    /// One container in the filtered listing of a pool.
    #[derive(Clone, Copy, Debug)]
    daos_pool_cont_info2 = 208 {
        0 pci_id: daos_pool_cont_info, "Its name.";
        144 pci_cinfo: daos_cont_info_t, "What it says of itself.";
        192 pci_reserved: [*mut c_void; 2], "Nothing.";
    }

    /// What a container says of itself.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_cont_info_t = 48 {
        0 ci_uuid: uuid_t, "The container.";
        16 ci_lsnapshot: daos_epoch_t, "The epoch of its latest snapshot.";
        24 ci_nhandles: u32, "How many open handles it has.";
        28 ci_nsnapshots: u32, "How many snapshots it has.";
        32 ci_md_otime: u64, "When it was opened last, as a hybrid logical clock reading.";
        40 ci_md_mtime: u64, "When its metadata changed last, as a hybrid logical clock reading.";
    }
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

structures! {
    /// One property. In C the union has no name, its fields are those of the entry.
    #[derive(Clone, Copy, Debug)]
    daos_prop_entry = 16 {
        0 dpe_type: u32, "One of the `DAOS_PROP_*` numbers.";
        4 dpe_flags: u16, "A set of `DAOS_PROP_ENTRY_*` flags.";
        6 dpe_reserv: u16, "Nothing.";
        8 dpe_value: daos_prop_value, "The value.";
    }

    /// A list of properties.
    #[derive(Clone, Copy, Debug)]
    daos_prop_t = 16 {
        0 dpp_nr: u32, "How many there are.";
        4 dpp_reserv: u32, "Nothing.";
        8 dpp_entries: *mut daos_prop_entry, "The properties; null in a query asks for all of them.";
    }

    /// The objects that a layout starts from, as a container property.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_prop_co_roots = 64 {
        0 cr_oids: [crate::types::daos_obj_id_t; 4], "The identifiers.";
    }

    /// The health of a container, as it is packed into a property.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_co_status = 8 {
        0 dcs_status: u16, "Healthy or unclean.";
        2 dcs_flags: u16, "The library's.";
        4 dcs_pm_ver: u32, "The version of the pool map at the change.";
    }

    /// The head of an access control list; entries of varying length follow it.
    #[derive(Debug)]
    daos_acl = 8 {
        0 dal_ver: u16, "The version of the layout.";
        2 dal_reserv: u16, "Nothing.";
        4 dal_len: u32, "The number of bytes of entries that follow.";
        8 dal_ace: [u8; 0], "The entries.";
    }

    /// The head of one entry of an access control list; the principal's name may follow it.
    #[derive(Debug)]
    daos_ace = 32 {
        0 dae_access_types: u8, "A set of `DAOS_ACL_ACCESS_*` flags.";
        1 dae_principal_type: u8, "One of the `DAOS_ACL_*` principal numbers.";
        2 dae_principal_len: u16,
            "The number of bytes the name takes, its zero and padding to eight bytes included.";
        4 dae_access_flags: u16, "A set of `DAOS_ACL_FLAG_*` flags.";
        6 dae_reserv: u16, "Nothing.";
        8 dae_allow_perms: u64, "What is allowed, a set of `DAOS_ACL_PERM_*` flags.";
        16 dae_audit_perms: u64, "What is written to an audit log.";
        24 dae_alarm_perms: u64, "What raises an alarm.";
        32 dae_principal: [c_char; 0], "The name.";
    }
}

/// The kind of a principal, one of the `DAOS_ACL_*` principal numbers.
pub type daos_acl_principal_type = c_int;
