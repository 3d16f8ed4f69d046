//! Flags and numbers that calls take, apart from object classes, properties and errors.

use core::ffi::{c_int, c_uint};

/// Connect to a pool to read.
pub const DAOS_PC_RO: c_uint = 1;
/// Connect to a pool to read and write.
pub const DAOS_PC_RW: c_uint = 2;
/// Connect to a pool alone.
pub const DAOS_PC_EX: c_uint = 4;

/// Open a container to read.
pub const DAOS_COO_RO: c_uint = 1;
/// Open a container to read and write.
pub const DAOS_COO_RW: c_uint = 2;
/// Open a container alone.
pub const DAOS_COO_EX: c_uint = 4;
/// Open a container even if it is not healthy.
pub const DAOS_COO_FORCE: c_uint = 8;
/// Opening must not change the container's times.
pub const DAOS_COO_RO_MDSTATS: c_uint = 16;
/// Close the other handles of the same user.
pub const DAOS_COO_EVICT: c_uint = 32;
/// Close all other handles.
pub const DAOS_COO_EVICT_ALL: c_uint = 64;
/// Use the newest layout.
pub const DAOS_COO_NEW_LAYOUT: c_uint = 128;

/// Open an object to read.
pub const DAOS_OO_RO: c_uint = 2;
/// Open an object to read and write.
pub const DAOS_OO_RW: c_uint = 4;
/// Open an object alone.
pub const DAOS_OO_EXCL: c_uint = 8;

/// Remove only what exists.
pub const DAOS_COND_PUNCH: u64 = 1;
/// Write only if the dkey does not exist.
pub const DAOS_COND_DKEY_INSERT: u64 = 2;
/// Write only if the dkey exists.
pub const DAOS_COND_DKEY_UPDATE: u64 = 4;
/// Read only if the dkey exists.
pub const DAOS_COND_DKEY_FETCH: u64 = 8;
/// Write only if the akey does not exist.
pub const DAOS_COND_AKEY_INSERT: u64 = 16;
/// Write only if the akey exists.
pub const DAOS_COND_AKEY_UPDATE: u64 = 32;
/// Read only if the akey exists.
pub const DAOS_COND_AKEY_FETCH: u64 = 64;
/// The conditions are in each akey's own flags.
pub const DAOS_COND_PER_AKEY: u64 = 128;
/// All the conditions.
pub const DAOS_COND_MASK: u64 = 0xff;

/// Put only if the key does not exist.
pub const DAOS_COND_KEY_INSERT: u64 = DAOS_COND_DKEY_INSERT;
/// Put only if the key exists.
pub const DAOS_COND_KEY_UPDATE: u64 = DAOS_COND_DKEY_UPDATE;
/// Get only if the key exists.
pub const DAOS_COND_KEY_GET: u64 = DAOS_COND_DKEY_FETCH;
/// Remove only if the key exists.
pub const DAOS_COND_KEY_REMOVE: u64 = DAOS_COND_PUNCH;

/// The transaction only reads.
pub const DAOS_TF_RDONLY: u64 = 1;
/// The caller keeps its buffers until the transaction is committed.
pub const DAOS_TF_ZERO_COPY: u64 = 2;

/// No kind of value.
pub const DAOS_IOD_NONE: c_int = 0;
/// One value that is written and read as a whole.
pub const DAOS_IOD_SINGLE: c_int = 1;
/// Records under indices.
pub const DAOS_IOD_ARRAY: c_int = 2;
/// A map of a fetch has all runs, not the lowest and the highest alone.
pub const DAOS_IOMF_DETAIL: u32 = 1;
/// A record size that the caller does not know.
pub const DAOS_REC_ANY: u64 = 0;

/// Query the highest key.
pub const DAOS_GET_MAX: u64 = 1;
/// Query the lowest key.
pub const DAOS_GET_MIN: u64 = 2;
/// Query the dkey.
pub const DAOS_GET_DKEY: u64 = 4;
/// Query the akey.
pub const DAOS_GET_AKEY: u64 = 8;
/// Query the run of records.
pub const DAOS_GET_RECX: u64 = 16;

/// A listing that has not begun.
pub const DAOS_ANCHOR_TYPE_ZERO: u16 = 0;
/// A listing that stands at the hash of a key.
pub const DAOS_ANCHOR_TYPE_HKEY: u16 = 1;
/// A listing that stands at a key.
pub const DAOS_ANCHOR_TYPE_KEY: u16 = 2;
/// A listing that is at its end.
pub const DAOS_ANCHOR_TYPE_EOF: u16 = 3;

/// Wait for an event without end.
pub const DAOS_EQ_WAIT: i64 = -1;
/// Do not wait for an event.
pub const DAOS_EQ_NOWAIT: i64 = 0;
/// Destroy an event queue even if it holds events.
pub const DAOS_EQ_DESTROY_FORCE: c_int = 1;
/// Query the events that are complete.
pub const DAOS_EQR_COMPLETED: c_int = 1;
/// Query the events that are under way.
pub const DAOS_EQR_WAITING: c_int = 2;

/// Make a snapshot.
pub const DAOS_SNAP_OPT_CR: c_int = 1;
/// Make the table of the object identifiers of a snapshot.
pub const DAOS_SNAP_OPT_OIT: c_int = 2;

/// The most bytes that the mark of an object identifier in such a table has.
pub const DAOS_OIT_MARKER_MAX_LEN: u64 = 32;

/// The last epoch.
pub const DAOS_EPOCH_MAX: u64 = u64::MAX;

/// The low four bits of a handle: an event queue.
pub const DAOS_HTYPE_EQ: u64 = 1;
/// The low four bits of a handle: a pool.
pub const DAOS_HTYPE_POOL: u64 = 3;
/// The low four bits of a handle: a container.
pub const DAOS_HTYPE_CO: u64 = 5;
/// The low four bits of a handle: an object.
pub const DAOS_HTYPE_OBJ: u64 = 7;
/// The low four bits of a handle: an array.
pub const DAOS_HTYPE_ARRAY: u64 = 9;
/// The low four bits of a handle: a transaction.
pub const DAOS_HTYPE_TX: u64 = 11;
/// The low four bits of a handle: a key-value object.
pub const DAOS_HTYPE_KV: u64 = 13;
