//! Bytes that an engine lends: a memory map, for example.

use std::ffi::c_int;

use isotach_object::SharedBytes;
use pyo3::{ffi, prelude::*};

use crate::{buffer::lend, process::OfProcess};

/// The owner of lent bytes, behind a `memoryview`.
#[pyclass(frozen, module = "isotach._isotach")]
pub(crate) struct Shared(OfProcess<SharedBytes>);

impl From<SharedBytes> for Shared {
    fn from(bytes: SharedBytes) -> Self {
        Self(OfProcess::new(bytes))
    }
}

#[pymethods]
impl Shared {
    #[expect(unsafe_code, reason = "the edge to Python: the buffer protocol")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let bytes = slf.get().0.anywhere().map_or(&[][..], |bytes| bytes.as_ref());
        // SAFETY: the interpreter passes the view. Shared bytes stay where they are until they are dropped.
        unsafe { lend(&slf, bytes, view, flags) }
    }
}
