//! Bytes to and from Python without a copy, by the buffer protocol.

#![expect(unsafe_code, reason = "the edge to Python: memory that one side lends to the other")]

use std::{ffi::c_int, slice};

use isotach_object::SharedBytes;
use pyo3::{
    buffer::{Element, ElementType, PyUntypedBuffer},
    exceptions::{PyBufferError, PyTypeError},
    ffi,
    prelude::*,
    types::PyBytes,
};

use crate::process::OfProcess;

/// Bytes of the caller's: `bytes`, or any object whose memory is contiguous.
pub(crate) enum Input<'py> {
    Bytes(Bound<'py, PyBytes>),
    Buffer(PyUntypedBuffer),
}

impl<'py> Input<'py> {
    /// The bytes of an object.
    pub(crate) fn of(data: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = data.cast_exact::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone()));
        }
        let buffer = PyUntypedBuffer::get(data).map_err(|error| not_bytes(data, error))?;
        refuse_objects(&buffer, data)?;
        if !buffer.is_c_contiguous() && !buffer.is_fortran_contiguous() {
            let kind = data.get_type().name()?.to_string();
            return Err(PyBufferError::new_err(format!(
                "a {kind} whose memory is not contiguous: expected contiguous bytes, as numpy.ascontiguousarray gives"
            )));
        }
        Ok(Self::Buffer(buffer))
    }

    /// The bytes, for the one call that reads them. The documentation asks callers not to write to them meanwhile: of memory that
    /// another thread changes, the field may have bytes of before and of after, and a checksum that fits neither.
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes.as_bytes(),
            Self::Buffer(buffer) => buffer_bytes(buffer),
        }
    }
}

/// Not a buffer at all, or one that the object does not lend.
fn not_bytes(data: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyTypeError>(data.py()) {
        return error;
    }
    match data.get_type().name() {
        Ok(kind) => PyTypeError::new_err(format!(
            "data of type {kind}: expected bytes, a contiguous buffer such as a numpy array, an open binary file, or a Path"
        )),
        Err(error) => error,
    }
}

/// Refuses a buffer that holds Python objects, whose bytes are addresses of this process.
fn refuse_objects(buffer: &PyUntypedBuffer, owner: &Bound<'_, PyAny>) -> PyResult<()> {
    // The names of a record's items stand between colons.
    let mut types = buffer.format().to_bytes().split(|byte| *byte == b':').step_by(2);
    if types.any(|types| types.contains(&b'O')) {
        let kind = owner.get_type().name()?.to_string();
        return Err(PyTypeError::new_err(format!("a {kind} of Python objects: expected numbers or bytes")));
    }
    Ok(())
}

/// The memory that a buffer lends.
fn buffer_bytes(buffer: &PyUntypedBuffer) -> &[u8] {
    let (start, length) = (buffer.buf_ptr().cast::<u8>(), buffer.len_bytes());
    if start.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: the object lends `length` contiguous bytes from `start` until the buffer is released, which drops it, and may not move
    // or shrink them meanwhile. That nobody writes to them during a call is the caller's part, as with every reader of such memory.
    unsafe { slice::from_raw_parts(start, length) }
}

/// Writable memory of the caller's.
pub(crate) struct Output(PyUntypedBuffer);

impl Output {
    /// The memory of an object.
    pub(crate) fn of(target: &Bound<'_, PyAny>) -> PyResult<Self> {
        let kind = || target.get_type().name().map(|name| name.to_string());
        let wrong = |problem: String| {
            PyTypeError::new_err(format!(
                "{problem}: expected a writable contiguous buffer, such as a bytearray or a numpy array"
            ))
        };
        let buffer = match PyUntypedBuffer::get(target) {
            Ok(buffer) => buffer,
            Err(error) if error.is_instance_of::<PyTypeError>(target.py()) => {
                return Err(wrong(format!("a buffer of type {}", kind()?)));
            }
            // It has memory and does not lend it.
            Err(error) => return Err(error),
        };
        refuse_objects(&buffer, target)?;
        if buffer.readonly() {
            return Err(wrong(format!("a {} that is read-only", kind()?)));
        }
        if !buffer.is_c_contiguous() {
            return Err(wrong(format!("a {} whose memory is not contiguous", kind()?)));
        }
        Ok(Self(buffer))
    }

    /// The memory, for the one call that writes to it.
    pub(crate) fn as_slice_mut(&mut self) -> &mut [u8] {
        let (start, length) = (self.0.buf_ptr().cast::<u8>(), self.0.len_bytes());
        if start.is_null() || length == 0 {
            return &mut [];
        }
        // SAFETY: the object lends `length` contiguous writable bytes from `start` until the buffer is released, which drops `self`,
        // and may not move or shrink them meanwhile. That nobody else uses them during a call is the caller's part, as with
        // `readinto` of a file.
        unsafe { slice::from_raw_parts_mut(start, length) }
    }

    /// The memory as floating-point numbers, for the one call that writes to them. `None` if it does not hold numbers of this type.
    pub(crate) fn as_floats_mut<T: Element>(&mut self) -> Option<&mut [T]> {
        let format = self.0.format();
        // `Element::is_compatible_format` of PyO3 takes the machine's order of bytes for the other one.
        let other_order: &[u8] = if cfg!(target_endian = "little") { b">!" } else { b"<" };
        let is_other_order = format.to_bytes().first().is_some_and(|first| other_order.contains(first));
        if is_other_order
            || ElementType::from_format(format) != (ElementType::Float { bytes: size_of::<T>() })
        {
            return None;
        }
        // SAFETY: any bits are an element, as the trait demands. Memory that is not aligned would be in the first or the last part.
        match unsafe { self.as_slice_mut().align_to_mut() } {
            ([], numbers, []) => Some(numbers),
            _ => None,
        }
    }
}

/// Lends `bytes`, which `owner` keeps alive and unchanged, to a reader of its buffer.
///
/// # Safety
/// `view` is the one that the interpreter passes to `__getbuffer__` of `owner`. `bytes` stay where they are as long as `owner` lives.
pub(crate) unsafe fn lend<T>(
    owner: &Bound<'_, T>,
    bytes: &[u8],
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    let length = isize::try_from(bytes.len()).map_err(|_| PyBufferError::new_err("too many bytes"))?;
    let start = bytes.as_ptr().cast_mut().cast();
    // SAFETY: the view takes a reference to `owner`, which keeps the bytes (the caller's promise). It is marked as read-only, so nobody
    // writes through the pointer.
    match unsafe { ffi::PyBuffer_FillInfo(view, owner.as_ptr(), start, length, 1, flags) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(owner.py())),
    }
}

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
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let bytes = slf.get().0.anywhere().map_or(&[][..], |bytes| bytes.as_ref());
        // SAFETY: the interpreter passes the view. Shared bytes stay where they are until they are dropped.
        unsafe { lend(&slf, bytes, view, flags) }
    }
}
