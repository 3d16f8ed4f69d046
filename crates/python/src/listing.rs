//! [`Listing`]: the fields that match a request, without their bytes.

use std::sync::{Mutex, PoisonError};

use isotach_fields::{Error as FieldsError, Listed as FieldsListed, Listing as FieldsListing};
use isotach_mars::Request;
use pyo3::{prelude::*, types::PyDict};

use crate::{
    ahead::Ahead,
    convert::key_to_dict,
    error::{Failure, Outcome},
    handle::Handle,
    location::Location,
    request::brief,
    resource::Resource,
};

/// The fields that are listed in one turn without the interpreter.
const BATCH: usize = 512;

/// A field of a listing. Its keys are made when they are asked for.
#[pyclass(frozen, module = "isotach")]
pub(crate) struct Listed(FieldsListed);

#[pymethods]
impl Listed {
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        key_to_dict(py, &self.0.key())
    }

    /// The keys of the dataset, the collocation and the element.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyDict>; 3]> {
        let dataset = key_to_dict(py, self.0.dataset())?;
        Ok([dataset, key_to_dict(py, self.0.collocation())?, key_to_dict(py, &self.0.element())?])
    }

    #[getter]
    fn location(&self) -> Location {
        Location(self.0.location().clone())
    }

    #[getter]
    fn is_replaced(&self) -> bool {
        self.0.is_replaced()
    }

    fn __repr__(&self) -> String {
        let replaced = if self.0.is_replaced() { ", replaced" } else { "" };
        format!("<Listed {}: {} bytes{replaced}>", self.0.key(), self.0.location().length)
    }
}

/// The fields that match a request.
#[pyclass(frozen, module = "isotach")]
pub(crate) struct Listing {
    handle: Py<Handle>,
    request: Request,
    state: Resource<Mutex<Ahead<FieldsListing>>>,
}

impl Listing {
    pub(crate) fn new(handle: Py<Handle>, listing: FieldsListing, request: Request) -> Self {
        Self { handle, request, state: Resource::new(Mutex::new(Ahead::new(listing))) }
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Ahead<FieldsListing>) -> T + Send,
    ) -> Outcome<T> {
        self.handle.get().check_open(py)?;
        let state = self
            .state
            .here()
            .ok_or(Failure::Closed("a listing belongs to the process that began it, and in this one it"))?;
        Ok(py.detach(|| act(&mut state.lock().unwrap_or_else(PoisonError::into_inner))))
    }

    /// Takes a field that was read already, without waiting.
    fn take_read(&self, py: Python<'_>) -> Outcome<Option<Result<FieldsListed, FieldsError>>> {
        self.handle.get().check_open(py)?;
        let state = self.state.here().map(Mutex::try_lock);
        Ok(state.and_then(|state| state.ok()?.take_read()))
    }
}

#[pymethods]
impl Listing {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> Outcome<Option<Listed>> {
        let next = match self.take_read(py)? {
            Some(next) => Some(next),
            None => self.with(py, |state| state.next(BATCH))?,
        };
        Ok(next.transpose()?.map(Listed))
    }

    /// The next fields, at most `count`, which stay the next ones. Whether there are more.
    fn _peek(&self, py: Python<'_>, count: usize) -> Outcome<(Vec<Listed>, bool)> {
        let (fields, has_more) = self.with(py, |state| state.peek(count))?;
        Ok((fields.into_iter().map(Listed).collect(), has_more))
    }

    fn __repr__(&self) -> String {
        format!("<Listing of {}>", brief(&self.request))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("isotach._html")?.call_method1("listing", (slf,))
    }
}
