//! Structures that calls on objects take: handles, identifiers, buffers, keys, ranges, anchors and events.
//!
//! Every structure has the layout of the C one on a 64-bit machine; the assertions at the end hold it.

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

/// An open pool, container, object, transaction or event queue; zero means none.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct daos_handle_t {
    /// What the library knows the open thing by.
    pub cookie: u64,
}

/// The handle that means no open thing.
pub const DAOS_HDL_INVAL: daos_handle_t = daos_handle_t { cookie: 0 };
/// The handle that means no transaction.
pub const DAOS_TX_NONE: daos_handle_t = daos_handle_t { cookie: 0 };

/// The identifier of an object: the upper half of `hi` says its kind and class, 96 bits are the caller's.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct daos_obj_id_t {
    /// The lower 64 bits, all of them the caller's.
    pub lo: u64,
    /// Kind (8 bits), redundancy (8 bits), number of groups (16 bits), then 32 bits of the caller's.
    pub hi: u64,
}

/// A range of epochs, both ends included.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_epoch_range_t {
    /// The first epoch.
    pub epr_lo: daos_epoch_t,
    /// The last epoch.
    pub epr_hi: daos_epoch_t,
}

/// One buffer of the caller's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct d_iov_t {
    /// Where it is.
    pub iov_buf: *mut c_void,
    /// The number of bytes it can hold.
    pub iov_buf_len: u64,
    /// How many of them are data.
    pub iov_len: u64,
}

impl Default for d_iov_t {
    fn default() -> Self {
        Self { iov_buf: ptr::null_mut(), iov_buf_len: 0, iov_len: 0 }
    }
}

/// A list of buffers, filled or written in turn.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct d_sg_list_t {
    /// How many buffers there are.
    pub sg_nr: u32,
    /// How many of them the call used.
    pub sg_nr_out: u32,
    /// The buffers.
    pub sg_iovs: *mut d_iov_t,
}

/// A run of records under an array key.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_recx_t {
    /// The index of the first record; the top bit is reserved.
    pub rx_idx: u64,
    /// How many records follow each other.
    pub rx_nr: u64,
}

/// A run of cells in an array.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_range_t {
    /// The index of the first cell.
    pub rg_idx: daos_off_t,
    /// How many cells follow each other.
    pub rg_len: daos_size_t,
}

/// What is asked of one akey: its name, its kind of value and the records.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct daos_iod_t {
    /// The akey.
    pub iod_name: daos_key_t,
    /// Single value or array, one of the `DAOS_IOD_*` numbers.
    pub iod_type: daos_iod_type_t,
    /// The size of one record in bytes; a fetch writes the size it found, an update with zero removes.
    pub iod_size: daos_size_t,
    /// Conditions for this akey alone, where the call says `DAOS_COND_PER_AKEY`.
    pub iod_flags: u64,
    /// How many runs `iod_recxs` holds; one for a single value.
    pub iod_nr: u32,
    /// The runs of records; null for a single value.
    pub iod_recxs: *mut daos_recx_t,
}

/// What a fetch found of one akey, where the caller wants to know.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct daos_iom_t {
    /// Single value or array.
    pub iom_type: daos_iod_type_t,
    /// How many runs `iom_recxs` can hold.
    pub iom_nr: u32,
    /// How many runs there are.
    pub iom_nr_out: u32,
    /// A set of `DAOS_IOMF_*` flags.
    pub iom_flags: u32,
    /// The size of one record.
    pub iom_size: daos_size_t,
    /// The run with the lowest index.
    pub iom_recx_lo: daos_recx_t,
    /// The run with the highest index.
    pub iom_recx_hi: daos_recx_t,
    /// The runs found.
    pub iom_recxs: *mut daos_recx_t,
}

/// Which cells of an array to read or write.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct daos_array_iod_t {
    /// How many ranges `arr_rgs` holds.
    pub arr_nr: daos_size_t,
    /// The ranges.
    pub arr_rgs: *mut daos_range_t,
    /// Byte arrays only, written by a read: how many records lay beyond the end.
    pub arr_nr_short_read: daos_size_t,
    /// Byte arrays only, written by a read: how many records were read.
    pub arr_nr_read: daos_size_t,
}

/// What an array says of itself.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_array_stbuf_t {
    /// Its size in cells.
    pub st_size: daos_size_t,
    /// The epoch of its last change.
    pub st_max_epoch: daos_epoch_t,
}

/// One key that a listing returned.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct daos_key_desc_t {
    /// The number of bytes of the listing's buffer the key takes.
    pub kd_key_len: daos_size_t,
    /// The kind of entry, for listings that mix kinds.
    pub kd_val_type: u32,
}

/// Where a listing stands: the caller starts from zeros and passes back what it got until it says end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct daos_anchor_t {
    /// One of the `DAOS_ANCHOR_TYPE_*` numbers.
    pub da_type: u16,
    /// The library's.
    pub da_shard: u16,
    /// The library's.
    pub da_flags: u32,
    /// The library's.
    pub da_sub_anchors: u64,
    /// The library's: where to go on.
    pub da_buf: [u8; DAOS_ANCHOR_BUF_MAX],
}

/// The bytes of an anchor that the library may use.
pub const DAOS_ANCHOR_BUF_MAX: usize = 104;

impl Default for daos_anchor_t {
    fn default() -> Self {
        Self { da_type: 0, da_shard: 0, da_flags: 0, da_sub_anchors: 0, da_buf: [0; DAOS_ANCHOR_BUF_MAX] }
    }
}

/// The end of a call that was started without waiting for it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct daos_event_t {
    /// The result of the call, once it has ended.
    pub ev_error: c_int,
    /// The library's.
    pub ev_private: [u64; 20],
    /// The library's, for those who look for errors in it.
    pub ev_debug: u64,
}

/// What is called when an event is complete, with an argument, the event and its result; returns a result, too.
pub type daos_event_comp_cb_t = Option<unsafe extern "C" fn(*mut c_void, *mut daos_event_t, c_int) -> c_int>;

const _: () = assert!(size_of::<usize>() == 8, "the interface is that of 64-bit machines");

layouts! {
    daos_handle_t = 8 {}
    daos_obj_id_t = 16 { lo: 0, hi: 8 }
    daos_epoch_range_t = 16 { epr_hi: 8 }
    d_iov_t = 24 { iov_buf: 0, iov_buf_len: 8, iov_len: 16 }
    d_sg_list_t = 16 { sg_nr: 0, sg_nr_out: 4, sg_iovs: 8 }
    daos_recx_t = 16 { rx_nr: 8 }
    daos_range_t = 16 { rg_len: 8 }
    daos_array_stbuf_t = 16 { st_max_epoch: 8 }
    daos_iod_t = 64 { iod_name: 0, iod_type: 24, iod_size: 32, iod_flags: 40, iod_nr: 48, iod_recxs: 56 }
    daos_iom_t = 64 {
        iom_type: 0, iom_nr: 4, iom_nr_out: 8, iom_flags: 12, iom_size: 16, iom_recx_lo: 24, iom_recx_hi: 40,
        iom_recxs: 56,
    }
    daos_array_iod_t = 32 { arr_nr: 0, arr_rgs: 8, arr_nr_short_read: 16, arr_nr_read: 24 }
    daos_key_desc_t = 16 { kd_key_len: 0, kd_val_type: 8 }
    daos_anchor_t = 120 { da_type: 0, da_shard: 2, da_flags: 4, da_sub_anchors: 8, da_buf: 16 }
    daos_event_t = 176 { ev_error: 0, ev_private: 8, ev_debug: 168 }
}
