//! [`Transaction`]: fields that become visible together.

use std::{
    mem,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use isotach_fields::Transaction as FieldsTransaction;
use isotach_mars::Key;
use pyo3::{prelude::*, sync::MutexExt};

use crate::{
    archive::{self, Target},
    buffer::Input,
    convert,
    error::{Failure, Outcome},
    handle::Handle,
    resource::Resource,
};

/// A transaction of this process.
#[pyclass(frozen, module = "isotach._isotach")]
pub(crate) struct Transaction {
    handle: Py<Handle>,
    state: Mutex<Option<Resource<Arc<FieldsTransaction>>>>,
}

impl Transaction {
    pub(crate) fn new(handle: Py<Handle>, transaction: FieldsTransaction) -> Self {
        Self { handle, state: Mutex::new(Some(Resource::new(Arc::new(transaction)))) }
    }

    fn state(&self, py: Python<'_>) -> MutexGuard<'_, Option<Resource<Arc<FieldsTransaction>>>> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self, py: Python<'_>) -> Outcome<Arc<FieldsTransaction>> {
        self.handle.get().check_open(py)?;
        match self.state(py).as_ref() {
            None => Err(Failure::Closed("the transaction")),
            Some(transaction) => transaction.here().cloned().ok_or(Failure::Closed(
                "the transaction belongs to the process that began it, and in this one it",
            )),
        }
    }
}

impl Target for Arc<FieldsTransaction> {
    fn put(&self, key: &Key, bytes: &[u8]) -> isotach_fields::Result<()> {
        self.archive(key, bytes)
    }
}

#[pymethods]
impl Transaction {
    fn archive(&self, py: Python<'_>, data: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> Outcome<()> {
        let (input, key) = (Input::of(data)?, convert::key(key)?);
        let (bytes, transaction) = (input.as_slice(), self.opened(py)?);
        Ok(py.detach(move || transaction.archive(&key, bytes))?)
    }

    fn archive_messages<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyAny>> {
        archive::messages(py, self.opened(py)?, data)
    }

    fn archive_file<'py>(&self, py: Python<'py>, path: PathBuf) -> Outcome<Bound<'py, PyAny>> {
        archive::file(py, self.opened(py)?, &path)
    }

    fn commit(&self, py: Python<'_>) -> Outcome<()> {
        let transaction = self.opened(py)?;
        Ok(py.detach(move || transaction.commit())?)
    }

    /// Ends the transaction. What is not committed is discarded.
    fn discard(&self, py: Python<'_>) {
        let ended = mem::take(&mut *self.state(py));
        drop(ended);
    }

    #[getter]
    fn is_empty(&self, py: Python<'_>) -> Outcome<bool> {
        let transaction = self.opened(py)?;
        Ok(py.detach(move || transaction.is_empty()))
    }
}
