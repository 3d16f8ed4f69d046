//! The functions and data of libgurt behind the macros of DAOS's own headers: log lines, assertions, and faults. Programs read the data in
//! place.
//!
//! What must stay true: the data have the layouts of `gurt/dlog.h` and `gurt/debug.h`, since a program may have a copy of them in itself (the
//! linker makes one of data that an executable names). Only lines of errors and above come here; `d_vlog` adds them to the log.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    ptr,
    sync::atomic::{AtomicI32, AtomicPtr, Ordering},
};

use super::export;
use crate::{abi::errors::DER_INVAL, runtime::log};

/// The levels, from 0 for debugging on.
const LEVELS: [&str; 9] = ["DBUG", "INFO", "NOTE", "WARN", "ERR", "CRIT", "ALRT", "EMRG", "EMIT"];
const LEVEL_SHIFT: c_int = 24;
/// The level of errors where levels stand in a number.
const ERRORS: c_int = 4 << LEVEL_SHIFT;
/// A cached level before its first lookup.
const UNKNOWN: c_int = c_int::MIN;
/// Levels and streams of debugging lines, each of which has a place in the cache.
const CACHED: usize = 16;

/// A facility: the part of a program that writes a line.
#[repr(C)]
struct Facility {
    name: *const c_char,
    long_name: *const c_char,
    mask: c_int,
    is_enabled: bool,
}

/// The state that programs check before they format a line.
#[repr(C)]
struct State {
    /// Not null, for a log that is open.
    tag: *const c_char,
    facilities: *const Facility,
    node: *const c_char,
    count: c_int,
}

// SAFETY: the pointers are to strings and data that are static and never change.
unsafe impl Sync for Facility {}
// SAFETY: as for `Facility`.
unsafe impl Sync for State {}

static FACILITY: Facility =
    Facility { name: c"misc".as_ptr(), long_name: c"misc".as_ptr(), mask: ERRORS, is_enabled: true };

macro_rules! data {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            static $name: $type = $value;
        )*
    };
}

data! {
    d_log_xst: State = State { tag: c"isotach".as_ptr(), facilities: &raw const FACILITY, node: c"".as_ptr(), count: 1 };
    d_misc_logfac: c_int = 0;
    // Programs cache looked-up levels here.
    d_misc_logfac_cache: [AtomicI32; CACHED] = [const { AtomicI32::new(UNKNOWN) }; CACHED];
    d_alt_assert: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    // No faults are injected.
    d_fault_inject: c_uint = 0;
    d_fault_config_file: c_uint = 0;
    d_fault_attr_mem: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
}

macro_rules! streams {
    ($($name:ident = $bits:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            static $name: u64 = $bits;
        )*
    };
}

// All of them are below the level of errors.
streams! {
    DB_ALL = 0x00ff_ff00;
    DB_ANY = 1 << 8;
    DB_TRACE = 1 << 9;
    DB_MEM = 1 << 10;
    DB_NET = 1 << 11;
    DB_IO = 1 << 12;
    DB_TEST = 1 << 13;
}

unsafe extern "C" {
    /// The function of the C library. All supported systems pass a list of arguments by its address.
    fn vasprintf(text: *mut *mut c_char, format: *const c_char, arguments: *mut c_void) -> c_int;
}

/// Adds a line to the log.
#[export]
unsafe fn d_vlog(flags: c_int, format: *const c_char, arguments: *mut c_void) {
    let level = LEVELS.get((flags >> LEVEL_SHIFT & 0xf) as usize).copied().unwrap_or("ERR");
    let mut text = ptr::null_mut();
    // SAFETY: STRING for `format`, and the program gives the arguments that it names; `text` is of this function.
    if format.is_null() || unsafe { vasprintf(&raw mut text, format, arguments) } < 0 {
        return;
    }
    // SAFETY: `vasprintf` has allocated `text`, which ends with a NUL.
    log::line(level, unsafe { CStr::from_ptr(text) }.to_string_lossy().trim_end());
    // SAFETY: allocated by `vasprintf` for this function, and nothing borrows it any more.
    unsafe { libc::free(text.cast()) };
}

/// Does nothing: each line is written at once.
#[export]
fn d_log_sync() {}

/// Injects no fault.
#[export]
fn d_should_fail(_fault: *mut c_void) -> bool {
    false
}

/// Registers the function that failed assertions call.
#[export]
fn d_register_alt_assert(function: *mut c_void) -> c_int {
    if function.is_null() {
        return -DER_INVAL;
    }
    d_alt_assert.store(function, Ordering::Relaxed);
    0
}
