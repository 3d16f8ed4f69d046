//! Values whose end may wait: for a thread that reads ahead, for a lock, or for the storage.

use pyo3::prelude::*;

use crate::process::OfProcess;

/// A value of this process that is dropped detached from the interpreter, so that other threads run meanwhile.
#[derive(Debug)]
pub(crate) struct Resource<T: Send> {
    /// `None` only while it is dropped.
    value: Option<OfProcess<T>>,
}

impl<T: Send> Resource<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(OfProcess::new(value)) }
    }

    /// The value, in the process that made it.
    pub(crate) fn here(&self) -> Option<&T> {
        self.value.as_ref().and_then(OfProcess::here)
    }
}

impl<T: Send> Drop for Resource<T> {
    fn drop(&mut self) {
        // In another process it is left alone, which takes no time.
        let Some(value) = self.value.take().filter(|value| value.here().is_some()) else { return };
        // Without an interpreter, which has ended, it is dropped all the same.
        Python::try_attach(|py| py.detach(move || drop(value)));
    }
}
