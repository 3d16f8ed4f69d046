//! Hash tables whose records the program holds: each has a link in it, and the table knows of records what the program's functions tell.

use core::ffi::{c_int, c_uint, c_void};

/// A link of a ring: of a record, or the head of a list.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct d_list_t {
    /// The next link, or the head.
    pub next: *mut d_list_t,
    /// The link before, or the head.
    pub prev: *mut d_list_t,
}

/// What the caller does with a record.
pub type d_hash_rec_op = Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t)>;

/// The program's functions; only the first must be there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct d_hash_table_ops_t {
    /// Whether a record has a key.
    pub hop_key_cmp:
        Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t, *const c_void, c_uint) -> bool>,
    /// Gives a record a key.
    pub hop_key_init: Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t, *mut c_void)>,
    /// The hash of a key.
    pub hop_key_hash: Option<unsafe extern "C" fn(*mut d_hash_table, *const c_void, c_uint) -> u32>,
    /// The hash of a record's key.
    pub hop_rec_hash: Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t) -> u32>,
    /// One more refers to a record.
    pub hop_rec_addref: d_hash_rec_op,
    /// One less refers to a record; whether nobody does any more.
    pub hop_rec_decref: Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t) -> bool>,
    /// So many less refer to a record.
    pub hop_rec_ndecref: Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t, c_int) -> c_int>,
    /// Frees a record.
    pub hop_rec_free: d_hash_rec_op,
}

/// A function that is called with each record of a table, until it returns something else than 0.
pub type d_hash_traverse_cb_t = Option<unsafe extern "C" fn(*mut d_list_t, *mut c_void) -> c_int>;

/// A table. Programs may hold it in memory of their own.
#[repr(C)]
#[derive(Debug)]
pub struct d_hash_table {
    /// Room for the lock.
    pub ht_lock: [u64; 7],
    /// There are two to the power of this many lists.
    pub ht_bits: u32,
    /// A set of `D_HASH_FT_*` flags.
    pub ht_feats: u32,
    /// The program's own.
    pub ht_priv: *mut c_void,
    /// The program's functions.
    pub ht_ops: *mut d_hash_table_ops_t,
    /// The heads of the lists.
    pub ht_buckets: *mut d_list_t,
    /// The locks of the lists, where they have their own.
    pub ht_locks: *mut c_void,
}

numbers! {
    D_HASH_FT_NOLOCK: u32 = 1, "The table has no lock.";
    D_HASH_FT_MUTEX: u32 = 2, "The lock is a mutex.";
    D_HASH_FT_RWLOCK: u32 = 4, "The lock distinguishes readers from writers.";
    D_HASH_FT_EPHEMERAL: u32 = 8,
        "The table does not refer to its records: who is the last that does takes a record out.";
    D_HASH_FT_LRU: u32 = 16, "A record that was found comes first in its list.";
    D_HASH_FT_GLOCK: u32 = 32_768, "One lock is for all lists.";
}

layouts! {
    d_list_t = 16 { next: 0, prev: 8 }
    d_hash_table_ops_t = 64 {
        hop_key_cmp: 0, hop_key_init: 8, hop_key_hash: 16, hop_rec_hash: 24, hop_rec_addref: 32,
        hop_rec_decref: 40, hop_rec_ndecref: 48, hop_rec_free: 56,
    }
    d_hash_table = 96 {
        ht_lock: 0, ht_bits: 56, ht_feats: 60, ht_priv: 64, ht_ops: 72, ht_buckets: 80, ht_locks: 88,
    }
}
