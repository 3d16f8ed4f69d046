//! `isotach.Location`: where a field's bytes are.

use std::sync::Arc;

use isotach_fields::Location as FieldLocation;
use isotach_mars::Key;
use pyo3::{
    prelude::*,
    types::{PyDict, PyType},
};

use crate::{
    convert::{key, key_to_dict, moment},
    error::Outcome,
};

/// Where a field's bytes are.
#[pyclass(frozen, eq, hash, module = "isotach")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Location(pub(crate) FieldLocation);

/// What makes a location again.
type Parts<'py> = (String, u64, u64, u32, u64, Option<Bound<'py, PyDict>>);

#[pymethods]
impl Location {
    #[new]
    #[pyo3(signature = (uri, offset, length, checksum, archived_us = 0, relabel = None))]
    fn new(
        uri: &str,
        offset: u64,
        length: u64,
        checksum: u32,
        archived_us: u64,
        relabel: Option<&Bound<'_, PyAny>>,
    ) -> Outcome<Self> {
        let relabel: Option<Key> = relabel.map(key).transpose()?;
        let location = FieldLocation::parse(uri, offset, length, checksum)?;
        Ok(Self(FieldLocation { archived_us, relabel: relabel.map(Arc::new), ..location }))
    }

    #[getter]
    fn uri(&self) -> String {
        self.0.to_string()
    }

    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }

    #[getter]
    fn length(&self) -> u64 {
        self.0.length
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum
    }

    #[getter]
    fn archived<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        moment(py, self.0.archived_us)
    }

    #[getter]
    fn is_adopted(&self) -> bool {
        self.0.is_adopted()
    }

    #[getter]
    fn relabel<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.0.relabel.as_ref().map(|key| key_to_dict(py, key)).transpose()
    }

    fn __str__(&self) -> String {
        self.uri()
    }

    fn __repr__(&self) -> String {
        let FieldLocation { offset, length, checksum, .. } = &self.0;
        format!("Location({:?}, offset={offset}, length={length}, checksum={checksum:#010x})", self.uri())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Parts<'py>)> {
        let location = &slf.get().0;
        let relabel = slf.get().relabel(slf.py())?;
        let FieldLocation { offset, length, checksum, archived_us, .. } = *location;
        Ok((slf.get_type(), (location.to_string(), offset, length, checksum, archived_us, relabel)))
    }
}
