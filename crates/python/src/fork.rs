//! What Python calls around a fork, so that the child can use ecCodes.
//!
//! What must stay true: ecCodes is called detached only. So a thread that waits for the interpreter while it holds the pause makes
//! nobody wait who keeps the interpreter.

use std::cell::RefCell;

use isotach_grib::{Eccodes, Pause};
use pyo3::prelude::*;

thread_local! {
    static PAUSE: RefCell<Option<Pause>> = const { RefCell::new(None) };
}

/// Called before a fork: lets no other thread load or call ecCodes, which a process has only one of. Waits detached, for the thread
/// that has the pause may need the interpreter to end it.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) {
    py.detach(|| PAUSE.with(|pause| *pause.borrow_mut() = Some(Eccodes::pause())));
}

/// Called after a fork, in the parent and in the child.
#[pyfunction]
pub(crate) fn after_fork() {
    PAUSE.with(|pause| *pause.borrow_mut() = None);
}
