//! The library itself: its version, and the reasons of failures.

use std::{
    cell::RefCell,
    ffi::{CString, c_char, c_int},
};

use isotach_capi_kit::c_text;

use super::{Failure, export};
use crate::status;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps the reason of a failure for this thread, and returns the status.
pub(super) fn record(failure: &Failure) -> c_int {
    // A thread that is ending has lost its place for a reason.
    let _ = LAST.try_with(|last| *last.borrow_mut() = c_text(&failure.text));
    status::number(failure.code)
}

#[export]
fn isotach_error_text() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[export]
fn isotach_status_name(number: c_int) -> *const c_char {
    status::name(number).as_ptr()
}

#[export]
fn isotach_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
