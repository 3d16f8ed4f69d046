//! `isotach.Field`: a field with its bytes, which Python reads without a copy.

use std::ffi::c_int;

use isotach_engine_kit::aligned::AlignedBuffer;
use isotach_fields::{Field as ReadField, FieldBytes, Location as FieldLocation};
use isotach_mars::Key;
use pyo3::{
    ffi,
    prelude::*,
    types::{PyBytes, PyDict, PyType},
};

use crate::{
    buffer::{Input, lend},
    convert::{key, key_to_dict},
    error::Outcome,
    location::Location,
    process::OfProcess,
};

/// A field with its bytes.
#[pyclass(frozen, module = "isotach")]
pub(crate) struct Field {
    key: Key,
    location: FieldLocation,
    /// They go back to the retrieval that read them.
    bytes: OfProcess<FieldBytes>,
}

impl From<ReadField> for Field {
    fn from(ReadField { key, location, bytes }: ReadField) -> Self {
        Self { key, location, bytes: OfProcess::new(bytes) }
    }
}

impl Field {
    pub(crate) fn length(&self) -> usize {
        self.bytes().len()
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.anywhere().map_or(&[][..], |bytes| bytes.as_ref())
    }
}

/// What makes a field again.
type Parts<'py> = (Bound<'py, PyDict>, Location, Bound<'py, PyBytes>);

#[pymethods]
impl Field {
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        key_to_dict(py, &self.key)
    }

    #[getter]
    fn location(&self) -> Location {
        Location(self.location.clone())
    }

    fn __len__(&self) -> usize {
        self.bytes().len()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.bytes())
    }

    fn __repr__(&self) -> String {
        format!("<Field {}: {} bytes>", self.key, self.bytes().len())
    }

    #[expect(unsafe_code, reason = "the edge to Python: the buffer protocol")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: the interpreter passes the view. The bytes of a field stay where they are until it is dropped.
        unsafe { lend(&slf, slf.get().bytes(), view, flags) }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let (py, field) = (slf.py(), slf.get());
        let parts = (field.key(py)?, field.location(), field.__bytes__(py));
        Ok((slf.get_type().getattr("_restored")?, parts))
    }

    /// A field from another process.
    #[classmethod]
    fn _restored(
        _class: &Bound<'_, PyType>,
        pairs: &Bound<'_, PyAny>,
        location: &Location,
        bytes: &Bound<'_, PyAny>,
    ) -> Outcome<Self> {
        let input = Input::of(bytes)?;
        let mut buffer = AlignedBuffer::new(input.as_slice().len());
        buffer.copy_from_slice(input.as_slice());
        let field = ReadField { key: key(pairs)?, location: location.0.clone(), bytes: buffer.into() };
        Ok(field.into())
    }
}
