//! The C interface: what `include/isotach_hdf5.h` declares. Each function is described there.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use isotach_hdf5::TransactionStatus;

use crate::{
    abi::{Herr, Hid},
    calls::{with_file, with_library},
    error::{Error, Result},
    handle::text,
    out::{put, put_bytes},
    past, site,
    view::View,
};

/// `isotach_h5_status_t`.
#[repr(C)]
pub(crate) struct Status {
    state: c_int,
    participants: c_uint,
    finished: c_uint,
    reason: [c_char; REASON],
}

/// How long a reason may be, with the zero at its end.
const REASON: usize = 244;
/// How long one look at a transaction waits. No other thread can use the library meanwhile.
const LOOK: Duration = Duration::from_millis(20);
/// How long the library is left to other threads between two looks.
const PAUSE: Duration = Duration::from_millis(1);

impl From<TransactionStatus> for Status {
    fn from(status: TransactionStatus) -> Self {
        let mut out = Self { state: 0, participants: 0, finished: 0, reason: [0; REASON] };
        match status {
            TransactionStatus::NotStarted => {}
            TransactionStatus::Open { participants, finished } => {
                out.state = 1;
                out.participants = participants;
                out.finished = finished.len() as c_uint;
            }
            TransactionStatus::Committed => out.state = 2,
            TransactionStatus::Aborted { reason } => {
                out.state = 3;
                // SAFETY: the buffer has this size.
                unsafe { put_bytes(out.reason.as_mut_ptr(), REASON, &reason) };
            }
        }
        out
    }
}

/// Declares functions on an open file: `view` is one opening of it.
macro_rules! on_file {
    ($($name:ident($view:ident $(, $argument:ident: $kind:ty)*) $body:block)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As the header demands: the library's address is `ISOTACH_H5_LIBRARY`, and pointers are to what they are said to be.
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name(library: *const Hid, file: Hid $(, $argument: $kind)*) -> Herr {
                let body = |$view: &Arc<View>| -> Result<()> { $body; Ok(()) };
                // SAFETY: the caller's promise.
                unsafe { with_file(library, file, body) }
            }
        )*
    };
}

on_file! {
    isotach_h5_start_transaction(view, number: u64, participant: c_uint, participants: c_uint) {
        view.writable()?;
        view.file.start_transaction(number, participant, participants)?;
        view.note_started(number);
    }
    isotach_h5_finish_transaction(view) {
        view.writable()?;
        view.file.finish_transaction()?;
    }
    isotach_h5_abort_transaction(view, number: u64) {
        view.writable()?;
        view.file.abort_transaction(number)?;
    }
    isotach_h5_get_transaction_status(view, number: u64, status: *mut Status) {
        let found = view.file.transaction_status(number)?;
        // SAFETY: the header demands a pointer to a status.
        unsafe { put(status, found.into()) };
    }
    isotach_h5_get_started_transaction(view, number: *mut u64) {
        // SAFETY: the header demands a pointer to a number.
        unsafe { put(number, view.file.started_transaction().unwrap_or(0)) };
    }
    isotach_h5_get_file_version(view, number: *mut u64) {
        // SAFETY: the header demands a pointer to a number.
        unsafe { put(number, view.file.transaction_version()?) };
    }
    isotach_h5_get_newest_version(view, number: *mut u64) {
        // SAFETY: the header demands a pointer to a number.
        unsafe { put(number, view.file.newest_transaction_version()?) };
    }
    isotach_h5_create_snapshot(view, name: *const c_char) {
        view.writable()?;
        // SAFETY: the header demands a text.
        view.file.create_snapshot(unsafe { text(name) }?)?;
    }
    isotach_h5_remove_snapshot(view, name: *const c_char) {
        view.writable()?;
        // SAFETY: the header demands a text.
        view.file.remove_snapshot(unsafe { text(name) }?)?;
    }
}

/// `isotach_h5_wait_transaction`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_wait_transaction(
    library: *const Hid,
    file: Hid,
    number: u64,
    timeout: i64,
    status: *mut Status,
) -> Herr {
    let timeout = u64::try_from(timeout).ok().map(Duration::from_millis);
    // None for a wait without end, and for an end that no clock reaches.
    let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        let mut found = TransactionStatus::NotStarted;
        let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
        // SAFETY: the caller's promise.
        let outcome = unsafe {
            with_file(library, file, |view| {
                found = view.file.wait_for_transaction(number, LOOK.min(left))?;
                Ok(())
            })
        };
        let is_settled = matches!(found, TransactionStatus::Aborted { .. } | TransactionStatus::Committed);
        if outcome < 0 || is_settled || left.is_zero() {
            if outcome >= 0 {
                // SAFETY: the header demands a pointer to a status, or null.
                unsafe { put(status, found.into()) };
            }
            return outcome;
        }
        // Outside of the call, so that other threads get HDF5's lock.
        thread::sleep(PAUSE.min(left));
    }
}

/// `isotach_h5_snapshot_op_t`.
type SnapshotCallback = unsafe extern "C" fn(*const c_char, u64, *mut c_void) -> Herr;

/// `isotach_h5_iterate_snapshots`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_iterate_snapshots(
    library: *const Hid,
    file: Hid,
    each: Option<SnapshotCallback>,
    data: *mut c_void,
) -> Herr {
    let mut snapshots = Vec::new();
    // SAFETY: the caller's promise.
    let listed = unsafe {
        with_file(library, file, |view| {
            if each.is_none() {
                return Err(Error::argument("op is NULL: expected a function to call for each snapshot"));
            }
            snapshots = view.file.snapshots()?;
            Ok(())
        })
    };
    let Some(each) = each.filter(|_| listed >= 0) else { return listed };
    for snapshot in snapshots {
        let name = CString::new(snapshot.name).unwrap_or_default();
        // SAFETY: the program's function takes a text, a number and what it was given.
        let outcome = unsafe { each(name.as_ptr(), snapshot.transaction, data) };
        if outcome != 0 {
            return outcome;
        }
    }
    0
}

/// `isotach_h5_set_snapshot`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_set_snapshot(
    library: *const Hid,
    fapl: Hid,
    name: *const c_char,
) -> Herr {
    // SAFETY: the caller's promise.
    unsafe {
        with_library(library, |library| {
            let name = if name.is_null() { None } else { Some(CStr::from_ptr(name)) };
            past::set_snapshot(library, fapl, name)?;
            Ok(0)
        })
    }
}

/// `isotach_h5_get_snapshot`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_get_snapshot(
    library: *const Hid,
    fapl: Hid,
    name: *mut c_char,
    size: usize,
) -> isize {
    let mut length = 0;
    // SAFETY: the caller's promise.
    let outcome = unsafe {
        with_library(library, |library| {
            past::check_list(library, fapl)?;
            let found = past::snapshot(library, fapl)?.unwrap_or_default();
            put_bytes(name, size, &found);
            length = found.len().cast_signed();
            Ok(0)
        })
    };
    if outcome < 0 { -1 } else { length }
}

/// `isotach_h5_set_version`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_set_version(library: *const Hid, fapl: Hid, number: u64) -> Herr {
    // SAFETY: the caller's promise.
    unsafe { with_library(library, |library| past::set_version(library, fapl, number).map(|()| 0)) }
}

/// `isotach_h5_get_version`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_get_version(
    library: *const Hid,
    fapl: Hid,
    number: *mut u64,
) -> Herr {
    // SAFETY: the caller's promise.
    unsafe {
        with_library(library, |library| {
            past::check_list(library, fapl)?;
            put(number, past::version(library, fapl)?.unwrap_or(0));
            Ok(0)
        })
    }
}

/// `isotach_h5_sweep`.
///
/// # Safety
/// As the header demands.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn isotach_h5_sweep(
    library: *const Hid,
    name: *const c_char,
    fapl: Hid,
    removed: *mut u64,
) -> Herr {
    // SAFETY: the caller's promise.
    unsafe {
        with_library(library, |library| {
            let swept = site::of_program(library, fapl)?.sweep(text(name)?)?;
            put(removed, swept);
            Ok(0)
        })
    }
}
