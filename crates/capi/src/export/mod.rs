//! The functions that C calls: pointers become objects here, and results become statuses. All unsafe code of this crate is here.
//!
//! What a C program promises is in `isotach_capi_kit::pointers`, clause by clause.

#![expect(unsafe_code, reason = "a C interface: pointers come from outside")]

mod archive;
mod datasets;
mod errors;
mod fields;
mod retrieve;
mod store;
mod transaction;

use std::ffi::c_int;

use isotach_c_export::export;
use isotach_capi_kit::{Failure, Handle, Out, Result, Text, bytes, bytes_mut, guarded, texts};

use crate::status;

/// The status of a successful call.
trait Outcome {
    fn number(self) -> c_int;
}

impl Outcome for () {
    fn number(self) -> c_int {
        status::OK
    }
}

/// Whether there is what was asked for.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Yes,
    No,
}

impl From<bool> for Found {
    fn from(is_there: bool) -> Self {
        if is_there { Self::Yes } else { Self::No }
    }
}

impl Outcome for Found {
    fn number(self) -> c_int {
        if self == Self::Yes { status::OK } else { status::NONE }
    }
}

/// Runs the body of a function that is marked with [`export`], and gives its status. There are no events.
fn answer<T: Outcome>(_event: *mut (), act: impl FnOnce() -> Result<T>) -> c_int {
    guarded(act).map_or_else(|failure| errors::record(&failure), Outcome::number)
}
