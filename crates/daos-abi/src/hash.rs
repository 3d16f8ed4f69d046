//! Hash tables whose records the program holds: each has a link in it, and the table knows of records what the program's functions tell.

use core::ffi::{c_int, c_uint, c_void};

structures! {
    /// A link of a ring: of a record, or the head of a list.
    #[derive(Clone, Copy, Debug)]
    d_list_t = 16 {
        0 next: *mut d_list_t, "The next link, or the head.";
        8 prev: *mut d_list_t, "The link before, or the head.";
    }
}

/// What the caller does with a record.
pub type d_hash_rec_op = Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t)>;

structures! {
    /// The program's functions; only the first must be there.
    #[derive(Clone, Copy, Debug)]
    d_hash_table_ops_t = 64 {
        0 hop_key_cmp:
            Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t, *const c_void, c_uint) -> bool>,
            "Whether a record has a key.";
        8 hop_key_init: Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t, *mut c_void)>,
            "Gives a record a key.";
        16 hop_key_hash: Option<unsafe extern "C" fn(*mut d_hash_table, *const c_void, c_uint) -> u32>,
            "The hash of a key.";
        24 hop_rec_hash: Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t) -> u32>,
            "The hash of a record's key.";
        32 hop_rec_addref: d_hash_rec_op, "One more refers to a record.";
        40 hop_rec_decref: Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t) -> bool>,
            "One less refers to a record; whether nobody does any more.";
        48 hop_rec_ndecref: Option<unsafe extern "C" fn(*mut d_hash_table, *mut d_list_t, c_int) -> c_int>,
            "So many less refer to a record.";
        56 hop_rec_free: d_hash_rec_op, "Frees a record.";
    }
}

/// A function that is called with each record of a table, until it returns something else than 0.
pub type d_hash_traverse_cb_t = Option<unsafe extern "C" fn(*mut d_list_t, *mut c_void) -> c_int>;

structures! {
    /// A table. Programs may hold it in memory of their own.
    #[derive(Debug)]
    d_hash_table = 96 {
        0 ht_lock: [u64; 7], "Room for the lock.";
        56 ht_bits: u32, "There are two to the power of this many lists.";
        60 ht_feats: u32, "A set of `D_HASH_FT_*` flags.";
        64 ht_priv: *mut c_void, "The program's own.";
        72 ht_ops: *mut d_hash_table_ops_t, "The program's functions.";
        80 ht_buckets: *mut d_list_t, "The heads of the lists.";
        88 ht_locks: *mut c_void, "The locks of the lists, where they have their own.";
    }
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
