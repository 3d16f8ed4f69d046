//! Values that belong to the process that made them.
//!
//! A forked child has only the thread that forked. Locks that other threads held stay locked, and threads that a value waits for do
//! not exist. So a child never drops such a value, and asks for it in vain.

use std::mem;

use forkguard::atfork::Guard;

/// A value that is dropped only in the process that made it.
#[derive(Debug)]
pub(crate) struct OfProcess<T> {
    /// Tells of a fork without a system call, which each call from Python would make.
    guard: Guard,
    /// `None` only while it is dropped.
    value: Option<T>,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { guard: Guard::default(), value: Some(value) }
    }

    /// The value, in the process that made it.
    pub(crate) fn here(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.is_here())
    }

    /// The value, to be read in any process.
    pub(crate) fn anywhere(&self) -> Option<&T> {
        self.value.as_ref()
    }

    fn is_here(&self) -> bool {
        !self.guard.clone().detected_fork()
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if !self.is_here() {
            mem::forget(self.value.take());
        }
    }
}
