//! The functions that C calls: pointers become objects here, and results become numbers. All unsafe code of this crate is here.
//!
//! What a C program promises is in `isotach_capi_kit::pointers`, clause by clause.

#![expect(unsafe_code, reason = "a C interface: pointers come from outside")]

mod failures;
mod fields;
mod handle;
mod key;
mod library;
mod listing;
mod reader;
mod report;
mod request;

use std::ffi::c_int;

use isotach_c_export::export;
use isotach_capi_kit::{Handle, In, Out, Result, Text, bytes, bytes_mut, guarded, texts};

/// The numbers of `fdb_c.h`.
const SUCCESS: c_int = 0;
const GENERAL_EXCEPTION: c_int = 1;
const UNKNOWN_EXCEPTION: c_int = 2;
const ITERATION_COMPLETE: c_int = 3;

/// A `bool` of C: 0 is false. It is no `bool` of Rust, since a caller with an older header may leave any byte there.
type Bool = u8;

/// The number of a successful call.
trait Outcome {
    fn number(self) -> c_int;
}

impl Outcome for () {
    fn number(self) -> c_int {
        SUCCESS
    }
}

/// Whether an iterator has a next element.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    There,
    End,
}

impl Outcome for Next {
    fn number(self) -> c_int {
        if self == Self::There { SUCCESS } else { ITERATION_COMPLETE }
    }
}

/// Runs the body of a function that is marked with [`export`], and gives its number. There are no events.
fn answer<T: Outcome>(_event: *mut (), act: impl FnOnce() -> Result<T>) -> c_int {
    guarded(act).map_or_else(|failure| failures::record(&failure), Outcome::number)
}
