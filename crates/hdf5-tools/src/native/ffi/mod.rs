//! The only unsafe code of this crate: HDF5's C interface, loaded at run time, behind safe types.
//!
//! What must stay true:
//! - one thread uses a library, since most are built without thread support: [`Library`] is neither `Send` nor `Sync`;
//! - a loaded library is never unloaded, so function pointers taken from it are good for ever;
//! - an [`Id`] is given back exactly once, by `Drop`;
//! - buffers that HDF5 reads or fills have the size of their elements in memory, which [`Elements`] checks.

#![expect(unsafe_code, reason = "HDF5 is a C library; all calls into it are made in this module")]

mod api;
mod calls;
mod elements;
mod error;
mod id;
mod lists;
mod mappings;
mod raw;
mod walk;

pub(crate) use api::Library;
pub(crate) use elements::{Arena, Elements};
pub(crate) use id::Id;
pub(crate) use lists::{Layout, PropertyClass};

/// The default property list.
const DEFAULT: i64 = 0;

/// Calls a function that takes ids and numbers only.
macro_rules! call {
    ($library:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: HDF5 checks ids and numbers. One thread uses the library.
        unsafe { ($library.functions.$name)($($argument),*) }
    }};
}

/// Calls a function with pointers to local variables, arrays and texts, which outlive the call and are as large as the function is told.
macro_rules! call_with_memory {
    ($library:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: each pointer is to a variable, an array or a text of the caller's that outlives the call, and has the size that the
        // function expects. HDF5 checks ids and numbers. One thread uses the library.
        unsafe { ($library.functions.$name)($($argument),*) }
    }};
}
use {call, call_with_memory};
