//! Structures that calls on objects take: handles, identifiers, buffers, keys, ranges, anchors and events.
//!
//! Every structure has the layout of the C one on a 64-bit machine.

use core::ffi::{c_int, c_void};
use core::ptr;

/// A size or a length, in bytes or in records as the field says.
pub type daos_size_t = u64;
/// An offset in bytes.
pub type daos_off_t = u64;
/// A point in the history of a container: a hybrid logical clock reading.
pub type daos_epoch_t = u64;
/// The number of an object class.
pub type daos_oclass_id_t = u32;
/// Hints from which a class is chosen when none is named.
pub type daos_oclass_hints_t = u16;
/// The kind of an object, one of the `DAOS_OT_*` numbers.
pub type daos_otype_t = c_int;
/// The kind of a value, one of the `DAOS_IOD_*` numbers.
pub type daos_iod_type_t = c_int;
/// The kind of an anchor, one of the `DAOS_ANCHOR_TYPE_*` numbers.
pub type daos_anchor_type_t = c_int;
/// What a snapshot does, a set of `DAOS_SNAP_OPT_*` flags.
pub type daos_snapshot_opts = c_int;
/// The number of a server process.
pub type d_rank_t = u32;
/// Sixteen bytes that name a pool or a container.
pub type uuid_t = [u8; 16];
/// A key is a buffer: only `iov_buf` and `iov_len` count.
pub type daos_key_t = d_iov_t;

structures! {
    /// An open pool, container, object, transaction or event queue; zero means none.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    daos_handle_t = 8 {
        0 cookie: u64, "What the library knows the open thing by.";
    }
}

/// The handle that means no open thing.
pub const DAOS_HDL_INVAL: daos_handle_t = daos_handle_t { cookie: 0 };
/// The handle that means no transaction.
pub const DAOS_TX_NONE: daos_handle_t = daos_handle_t { cookie: 0 };

structures! {
    /// The identifier of an object: the upper half of `hi` says its kind and class, 96 bits are the caller's.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    daos_obj_id_t = 16 {
        0 lo: u64, "The lower 64 bits, all of them the caller's.";
        8 hi: u64,
            "Kind (8 bits), redundancy (8 bits), number of groups (16 bits), then 32 bits of the caller's.";
    }

    /// A range of epochs, both ends included.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_epoch_range_t = 16 {
        0 epr_lo: daos_epoch_t, "The first epoch.";
        8 epr_hi: daos_epoch_t, "The last epoch.";
    }

    /// One buffer of the caller's.
    #[derive(Clone, Copy, Debug)]
    d_iov_t = 24 {
        0 iov_buf: *mut c_void, "Where it is.";
        8 iov_buf_len: u64, "The number of bytes it can hold.";
        16 iov_len: u64, "How many of them are data.";
    }
}

impl Default for d_iov_t {
    fn default() -> Self {
        Self { iov_buf: ptr::null_mut(), iov_buf_len: 0, iov_len: 0 }
    }
}

structures! {
    /// A list of buffers, filled or written in turn.
    #[derive(Clone, Copy, Debug)]
    d_sg_list_t = 16 {
        0 sg_nr: u32, "How many buffers there are.";
        4 sg_nr_out: u32, "How many of them the call used.";
        8 sg_iovs: *mut d_iov_t, "The buffers.";
    }

    /// A run of records under an array key.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_recx_t = 16 {
        0 rx_idx: u64, "The index of the first record; the top bit is reserved.";
        8 rx_nr: u64, "How many records follow each other.";
    }

    /// A run of cells in an array.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_range_t = 16 {
        0 rg_idx: daos_off_t, "The index of the first cell.";
        8 rg_len: daos_size_t, "How many cells follow each other.";
    }

    /// What is asked of one akey: its name, its kind of value and the records.
    #[derive(Clone, Copy, Debug)]
    daos_iod_t = 64 {
        0 iod_name: daos_key_t, "The akey.";
        24 iod_type: daos_iod_type_t, "Single value or array, one of the `DAOS_IOD_*` numbers.";
        32 iod_size: daos_size_t,
            "The size of one record in bytes; a fetch writes the size it found, an update with zero removes.";
        40 iod_flags: u64, "Conditions for this akey alone, where the call says `DAOS_COND_PER_AKEY`.";
        48 iod_nr: u32, "How many runs `iod_recxs` holds; one for a single value.";
        56 iod_recxs: *mut daos_recx_t, "The runs of records; null for a single value.";
    }

    /// What a fetch found of one akey, where the caller wants to know.
    #[derive(Clone, Copy, Debug)]
    daos_iom_t = 64 {
        0 iom_type: daos_iod_type_t, "Single value or array.";
        4 iom_nr: u32, "How many runs `iom_recxs` can hold.";
        8 iom_nr_out: u32, "How many runs there are.";
        12 iom_flags: u32, "A set of `DAOS_IOMF_*` flags.";
        16 iom_size: daos_size_t, "The size of one record.";
        24 iom_recx_lo: daos_recx_t, "The run with the lowest index.";
        40 iom_recx_hi: daos_recx_t, "The run with the highest index.";
        56 iom_recxs: *mut daos_recx_t, "The runs found.";
    }

    /// Which cells of an array to read or write.
    #[derive(Clone, Copy, Debug)]
    daos_array_iod_t = 32 {
        0 arr_nr: daos_size_t, "How many ranges `arr_rgs` holds.";
        8 arr_rgs: *mut daos_range_t, "The ranges.";
        16 arr_nr_short_read: daos_size_t,
            "Byte arrays only, written by a read: how many records lay beyond the end.";
        24 arr_nr_read: daos_size_t, "Byte arrays only, written by a read: how many records were read.";
    }

    /// What an array says of itself.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_array_stbuf_t = 16 {
        0 st_size: daos_size_t, "Its size in cells.";
        8 st_max_epoch: daos_epoch_t, "The epoch of its last change.";
    }

    /// One key that a listing returned.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    daos_key_desc_t = 16 {
        0 kd_key_len: daos_size_t, "The number of bytes of the listing's buffer the key takes.";
        8 kd_val_type: u32, "The kind of entry, for listings that mix kinds.";
    }

    /// Where a listing stands: the caller starts from zeros and passes back what it got until it says end.
    #[derive(Clone, Copy, Debug)]
    daos_anchor_t = 120 {
        0 da_type: u16, "One of the `DAOS_ANCHOR_TYPE_*` numbers.";
        2 da_shard: u16, "The library's.";
        4 da_flags: u32, "The library's.";
        8 da_sub_anchors: u64, "The library's.";
        16 da_buf: [u8; DAOS_ANCHOR_BUF_MAX], "The library's: where to go on.";
    }
}

/// The bytes of an anchor that the library may use.
pub const DAOS_ANCHOR_BUF_MAX: usize = 104;

impl Default for daos_anchor_t {
    fn default() -> Self {
        Self { da_type: 0, da_shard: 0, da_flags: 0, da_sub_anchors: 0, da_buf: [0; DAOS_ANCHOR_BUF_MAX] }
    }
}

structures! {
    /// The end of a call that was started without waiting for it.
    #[derive(Clone, Copy, Debug, Default)]
    daos_event_t = 176 {
        0 ev_error: c_int, "The result of the call, once it has ended.";
        8 ev_private: [u64; 20], "The library's.";
        168 ev_debug: u64, "The library's, for those who look for errors in it.";
    }
}

/// What is called when an event is complete, with an argument, the event and its result; returns a result, too.
pub type daos_event_comp_cb_t = Option<unsafe extern "C" fn(*mut c_void, *mut daos_event_t, c_int) -> c_int>;

const _: () = assert!(size_of::<usize>() == 8, "the interface is that of 64-bit machines");
