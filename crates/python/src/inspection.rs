//! [`Inspection`]: the locations of the fields of a request, in the request's order.

use std::sync::{Mutex, PoisonError};

use isotach_fields::{Inspected as FieldsInspected, Inspection as FieldsInspection};
use isotach_mars::Request;
use pyo3::{prelude::*, types::PyDict};

use crate::{
    ahead::Ahead,
    convert::key_to_dict,
    error::{Failure, Outcome},
    handle::Handle,
    location::Location,
    reports::missing_to_python,
    request::brief,
    resource::Resource,
};

/// A field that was found.
#[pyclass(frozen, module = "isotach")]
pub(crate) struct Inspected(FieldsInspected);

#[pymethods]
impl Inspected {
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        key_to_dict(py, &self.0.key)
    }

    #[getter]
    fn location(&self) -> Location {
        Location(self.0.location.clone())
    }

    fn __repr__(&self) -> String {
        format!("<Inspected {}: {} bytes>", self.0.key, self.0.location.length)
    }
}

/// The locations of the fields of a request.
#[pyclass(frozen, module = "isotach")]
pub(crate) struct Inspection {
    handle: Py<Handle>,
    request: Request,
    state: Resource<Mutex<Ahead<FieldsInspection>>>,
}

impl Inspection {
    pub(crate) fn new(handle: Py<Handle>, inspection: FieldsInspection, request: Request) -> Self {
        Self { handle, request, state: Resource::new(Mutex::new(Ahead::new(inspection))) }
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Ahead<FieldsInspection>) -> T + Send,
    ) -> Outcome<T> {
        self.handle.get().check_open(py)?;
        let state = self.state.here().ok_or(Failure::Closed(
            "an inspection belongs to the process that began it, and in this one it",
        ))?;
        Ok(py.detach(|| act(&mut state.lock().unwrap_or_else(PoisonError::into_inner))))
    }
}

#[pymethods]
impl Inspection {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> Outcome<Option<Inspected>> {
        Ok(self.with(py, |state| state.next(1))?.transpose()?.map(Inspected))
    }

    /// After the end, the missing fields. `None` if they are unknown.
    #[getter]
    fn missing<'py>(&self, py: Python<'py>) -> Outcome<Option<Bound<'py, PyAny>>> {
        let missing = self.with(py, |state| state.inner.missing())?;
        missing.map(|missing| missing_to_python(py, &missing, &self.request)).transpose()
    }

    /// The next fields, at most `count`, which stay the next ones. Whether there are more.
    fn _peek(&self, py: Python<'_>, count: usize) -> Outcome<(Vec<Inspected>, bool)> {
        let (fields, has_more) = self.with(py, |state| state.peek(count))?;
        Ok((fields.into_iter().map(Inspected).collect(), has_more))
    }

    fn __repr__(&self) -> String {
        format!("<Inspection of {}>", brief(&self.request))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("isotach._html")?.call_method1("inspection", (slf,))
    }
}
