//! Flags and numbers that calls take, apart from object classes, properties and errors.

use core::ffi::{c_int, c_uint};

numbers! {
    DAOS_PC_RO: c_uint = 1, "Connect to a pool to read.";
    DAOS_PC_RW: c_uint = 2, "Connect to a pool to read and write.";
    DAOS_PC_EX: c_uint = 4, "Connect to a pool alone.";

    DAOS_COO_RO: c_uint = 1, "Open a container to read.";
    DAOS_COO_RW: c_uint = 2, "Open a container to read and write.";
    DAOS_COO_EX: c_uint = 4, "Open a container alone.";
    DAOS_COO_FORCE: c_uint = 8, "Open a container even if it is not healthy.";
    DAOS_COO_RO_MDSTATS: c_uint = 16, "Opening must not change the container's times.";
    DAOS_COO_EVICT: c_uint = 32, "Close the other handles of the same user.";
    DAOS_COO_EVICT_ALL: c_uint = 64, "Close all other handles.";
    DAOS_COO_NEW_LAYOUT: c_uint = 128, "Use the newest layout.";

    DAOS_OO_RO: c_uint = 2, "Open an object to read.";
    DAOS_OO_RW: c_uint = 4, "Open an object to read and write.";
    DAOS_OO_EXCL: c_uint = 8, "Open an object alone.";

    DAOS_COND_PUNCH: u64 = 1, "Remove only what exists.";
    DAOS_COND_DKEY_INSERT: u64 = 2, "Write only if the dkey does not exist.";
    DAOS_COND_DKEY_UPDATE: u64 = 4, "Write only if the dkey exists.";
    DAOS_COND_DKEY_FETCH: u64 = 8, "Read only if the dkey exists.";
    DAOS_COND_AKEY_INSERT: u64 = 16, "Write only if the akey does not exist.";
    DAOS_COND_AKEY_UPDATE: u64 = 32, "Write only if the akey exists.";
    DAOS_COND_AKEY_FETCH: u64 = 64, "Read only if the akey exists.";
    DAOS_COND_PER_AKEY: u64 = 128, "The conditions are in each akey's own flags.";
    DAOS_COND_MASK: u64 = 0xff, "All the conditions.";

    DAOS_COND_KEY_INSERT: u64 = DAOS_COND_DKEY_INSERT, "Put only if the key does not exist.";
    DAOS_COND_KEY_UPDATE: u64 = DAOS_COND_DKEY_UPDATE, "Put only if the key exists.";
    DAOS_COND_KEY_GET: u64 = DAOS_COND_DKEY_FETCH, "Get only if the key exists.";
    DAOS_COND_KEY_REMOVE: u64 = DAOS_COND_PUNCH, "Remove only if the key exists.";

    DAOS_TF_RDONLY: u64 = 1, "The transaction only reads.";
    DAOS_TF_ZERO_COPY: u64 = 2, "The caller keeps its buffers until the transaction is committed.";

    DAOS_IOD_NONE: c_int = 0, "No kind of value.";
    DAOS_IOD_SINGLE: c_int = 1, "One value that is written and read as a whole.";
    DAOS_IOD_ARRAY: c_int = 2, "Records under indices.";
    DAOS_IOMF_DETAIL: u32 = 1, "A map of a fetch has all runs, not the lowest and the highest alone.";
    DAOS_REC_ANY: u64 = 0, "A record size that the caller does not know.";

    DAOS_GET_MAX: u64 = 1, "Query the highest key.";
    DAOS_GET_MIN: u64 = 2, "Query the lowest key.";
    DAOS_GET_DKEY: u64 = 4, "Query the dkey.";
    DAOS_GET_AKEY: u64 = 8, "Query the akey.";
    DAOS_GET_RECX: u64 = 16, "Query the run of records.";

    DAOS_ANCHOR_TYPE_ZERO: u16 = 0, "A listing that has not begun.";
    DAOS_ANCHOR_TYPE_HKEY: u16 = 1, "A listing that stands at the hash of a key.";
    DAOS_ANCHOR_TYPE_KEY: u16 = 2, "A listing that stands at a key.";
    DAOS_ANCHOR_TYPE_EOF: u16 = 3, "A listing that is at its end.";

    DAOS_EQ_WAIT: i64 = -1, "Wait for an event without end.";
    DAOS_EQ_NOWAIT: i64 = 0, "Do not wait for an event.";
    DAOS_EQ_DESTROY_FORCE: c_int = 1, "Destroy an event queue even if it holds events.";
    DAOS_EQR_COMPLETED: c_int = 1, "Query the events that are complete.";
    DAOS_EQR_WAITING: c_int = 2, "Query the events that are under way.";

    DAOS_SNAP_OPT_CR: c_int = 1, "Make a snapshot.";
    DAOS_SNAP_OPT_OIT: c_int = 2, "Make the table of the object identifiers of a snapshot.";

    DAOS_OIT_MARKER_MAX_LEN: u64 = 32,
        "The most bytes that the mark of an object identifier in such a table has.";

    DAOS_EPOCH_MAX: u64 = u64::MAX, "The last epoch.";

    DAOS_HTYPE_EQ: u64 = 1, "The low four bits of a handle: an event queue.";
    DAOS_HTYPE_POOL: u64 = 3, "The low four bits of a handle: a pool.";
    DAOS_HTYPE_CO: u64 = 5, "The low four bits of a handle: a container.";
    DAOS_HTYPE_OBJ: u64 = 7, "The low four bits of a handle: an object.";
    DAOS_HTYPE_ARRAY: u64 = 9, "The low four bits of a handle: an array.";
    DAOS_HTYPE_TX: u64 = 11, "The low four bits of a handle: a transaction.";
    DAOS_HTYPE_KV: u64 = 13, "The low four bits of a handle: a key-value object.";
}
