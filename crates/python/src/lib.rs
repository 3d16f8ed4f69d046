//! The native module `isotach._isotach`, on which the Python package `isotach` is built. It is private: names, defaults and
//! documentation are in Python.
//!
//! What must stay true:
//! - Every call that may wait is made detached from the interpreter, so that other threads of Python run meanwhile.
//! - A lock that is taken while attached is never kept while detached. So no other thread holds one when a process forks.
//! - What one process has made is neither used nor freed by a forked child: see `process`. What waits when it is freed is freed
//!   detached: see `resource`.

#![expect(clippy::needless_pass_by_value, reason = "arguments from Python are converted to values")]

mod admin;
mod ahead;
mod archive;
mod buffer;
mod calls;
mod columns;
mod convert;
mod decode;
mod error;
mod field;
mod fork;
mod handle;
mod inspection;
mod listing;
mod location;
mod process;
mod reports;
mod request;
mod resource;
mod retrieval;
mod transaction;
mod tree;
mod values;
mod verify;

use pyo3::prelude::*;

/// The native module.
#[pymodule(gil_used = false)]
mod _isotach {
    #[pymodule_export]
    use crate::{
        admin::{adopt, control, delete, purge, remove_snapshot, snapshot, snapshots, stats, status, wipe},
        calls::{set_environment, version},
        columns::{Columns, columns},
        decode::decode_into,
        error::codes,
        field::Field,
        fork::{after_fork, before_fork},
        handle::Handle,
        inspection::{Inspected, Inspection},
        listing::{Listed, Listing},
        location::Location,
        request::Request,
        retrieval::Retrieval,
        transaction::Transaction,
        tree::Tree,
        values::{values, values_at, values_in_file},
        verify::verify,
    };
}
