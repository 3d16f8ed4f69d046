//! [`Retrieval`]: the fields of a request, read as Python iterates.

use std::sync::{Mutex, PoisonError};

use isotach_fields::{Error as FieldsError, Retrieval as FieldsRetrieval};
use isotach_mars::Request;
use pyo3::prelude::*;

use crate::{
    error::{Failure, Outcome},
    field::Field,
    handle::Handle,
    reports::missing_to_python,
    request::Request as PyRequest,
    resource::Resource,
};

/// The most fields, and the bytes after which no more are added, of one batch. What a batch holds is not read into again: with more bytes, later fields
/// would be read into memory that has left the processor's cache.
const BATCH_FIELDS: usize = 64;
const BATCH_BYTES: usize = 1 << 20;

/// The fields of a request.
#[pyclass(frozen, module = "isotach._isotach")]
pub(crate) struct Retrieval {
    state: Resource<Mutex<State>>,
    handle: Py<Handle>,
    request: Request,
}

struct State {
    retrieval: FieldsRetrieval,
    /// The error behind the fields of a batch, for the next call.
    failure: Option<FieldsError>,
}

impl State {
    fn next(&mut self) -> Result<Option<Field>, FieldsError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        Ok(self.retrieval.next().transpose()?.map(Field::from))
    }

    fn next_batch(&mut self) -> Result<Vec<Field>, FieldsError> {
        let (mut fields, mut bytes) = (Vec::new(), 0);
        while fields.len() < BATCH_FIELDS && bytes < BATCH_BYTES {
            match self.next() {
                Ok(Some(field)) => {
                    bytes += field.length();
                    fields.push(field);
                }
                Ok(None) => break,
                Err(error) if fields.is_empty() => return Err(error),
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        Ok(fields)
    }
}

impl Retrieval {
    pub(crate) fn new(handle: Py<Handle>, retrieval: FieldsRetrieval, request: Request) -> Self {
        Self { state: Resource::new(Mutex::new(State { retrieval, failure: None })), handle, request }
    }

    /// Runs `act` detached: another thread may be reading a field.
    fn with<T: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut State) -> T + Send) -> Outcome<T> {
        self.handle.get().check_open(py)?;
        let state = self
            .state
            .here()
            .ok_or(Failure::Closed("a retrieval belongs to the process that began it, and in this one it"))?;
        Ok(py.detach(|| act(&mut state.lock().unwrap_or_else(PoisonError::into_inner))))
    }
}

#[pymethods]
impl Retrieval {
    /// The next field. `None` at the end.
    fn next(&self, py: Python<'_>) -> Outcome<Option<Field>> {
        Ok(self.with(py, State::next)??)
    }

    /// The next fields, at least one. None at the end.
    fn next_batch(&self, py: Python<'_>) -> Outcome<Vec<Field>> {
        Ok(self.with(py, State::next_batch)??)
    }

    /// After the end, the number of missing fields, their keys and a line that names them. `None` if they are unknown.
    fn missing<'py>(&self, py: Python<'py>) -> Outcome<Option<Bound<'py, PyAny>>> {
        let missing = self.with(py, |state| state.retrieval.missing())?;
        missing.map(|missing| missing_to_python(py, &missing, &self.request)).transpose()
    }

    #[getter]
    fn request(&self) -> PyRequest {
        self.request.clone().into()
    }
}
