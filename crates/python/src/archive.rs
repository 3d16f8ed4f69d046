//! Archiving the GRIB messages of a buffer or of a stream, each under the key that it carries.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use isotach_fields::{Error as FieldsError, Result};
use isotach_grib::{Eccodes, Message, MessageScanner, ScanError, SliceScanner};
use isotach_mars::Key;
use pyo3::{
    exceptions::{PyBlockingIOError, PyOSError, PyTypeError},
    prelude::*,
};

use crate::{
    buffer::Input,
    convert::keys_to_list,
    error::{Failure, Outcome},
};

/// What messages are archived into: a store or a transaction. It may be the last that keeps one open, so it is dropped detached.
pub(crate) trait Target: Send {
    /// Archives a field.
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<()>;
}

/// Archives every message of `data`, a buffer or an open binary file, and returns the keys.
pub(crate) fn messages<'py>(
    py: Python<'py>,
    target: impl Target,
    data: &Bound<'py, PyAny>,
) -> Outcome<Bound<'py, PyAny>> {
    let keys = if data.hasattr("read")? {
        let mut stream = Stream { file: data.clone().unbind(), failure: None };
        let keys = py.detach(|| of_reader(target, &mut stream));
        // An exception of the file says more than the scanner that met it.
        stream.failure.map_or(keys, |raised| Err(Failure::Raised(raised)))?
    } else {
        let input = Input::of(data)?;
        let bytes = input.as_slice();
        py.detach(|| of_slice(target, bytes))?
    };
    Ok(keys_to_list(py, &keys)?.into_any())
}

/// Archives every message of the file at `path`, and returns the keys.
pub(crate) fn file<'py>(py: Python<'py>, target: impl Target, path: &Path) -> Outcome<Bound<'py, PyAny>> {
    let keys = py.detach(|| {
        let file = File::open(path).map_err(|error| os_error(&error, path))?;
        of_reader(target, file)
    })?;
    Ok(keys_to_list(py, &keys)?.into_any())
}

/// Python's exception for an error of the system about a file.
pub(crate) fn os_error(error: &io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            PyOSError::new_err((number, io::Error::from(error.kind()).to_string(), path.to_owned()))
        }
        None => PyOSError::new_err(error.to_string()),
    }
}

fn of_slice(target: impl Target, bytes: &[u8]) -> Outcome<Vec<Key>> {
    let messages = SliceScanner::new(bytes);
    messages
        .map(|message| {
            let message = message.map_err(not_scanned)?;
            put_message(&target, message.number, message.offset, message.bytes)
        })
        .collect()
}

fn of_reader(target: impl Target, reader: impl Read) -> Outcome<Vec<Key>> {
    let messages = MessageScanner::new(reader);
    messages
        .map(|message| {
            let Message { number, offset, bytes } = message.map_err(not_scanned)?;
            put_message(&target, number, offset, &bytes)
        })
        .collect()
}

/// Archives one message under its own key.
fn put_message(target: &impl Target, number: u64, offset: u64, bytes: &[u8]) -> Outcome<Key> {
    let at = |error| Failure::at(format!("message {number} at byte {offset}"), error);
    let key = Eccodes::load().and_then(|eccodes| eccodes.message_key(bytes));
    let key = Key::from(key.map_err(|error| at(message_error(error)))?);
    target.put(&key, bytes).map_err(at)?;
    Ok(key)
}

pub(crate) fn not_scanned(error: ScanError) -> Failure {
    match error {
        ScanError::Io { source, .. } => Failure::Raised(source.into()),
        error => message_error(error).into(),
    }
}

/// The error of a message that cannot be understood.
pub(crate) fn message_error(source: impl std::error::Error + Send + Sync + 'static) -> FieldsError {
    FieldsError::Message { source: Box::new(source) }
}

/// An open binary file of Python's.
struct Stream {
    file: Py<PyAny>,
    /// The exception that `read` has raised.
    failure: Option<PyErr>,
}

impl Stream {
    fn read_some(&self, py: Python<'_>, buffer: &mut [u8]) -> PyResult<usize> {
        let read = self.file.bind(py).call_method1("read", (buffer.len(),))?;
        if read.is_none() {
            return Err(PyBlockingIOError::new_err(
                "a file that has no bytes yet: expected one whose read() waits for them",
            ));
        }
        let input = Input::of(&read).map_err(|error| match error.is_instance_of::<PyTypeError>(py) {
            true => PyTypeError::new_err(
                "a file whose read() returns no bytes: expected a file opened in binary mode",
            ),
            false => error,
        })?;
        let bytes = input.as_slice();
        let target = buffer
            .get_mut(..bytes.len())
            .ok_or_else(|| PyTypeError::new_err("a file whose read(n) returns more than n bytes"))?;
        target.copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            self.read_some(py, buffer).map_err(|error| {
                self.failure = Some(error);
                io::Error::other("the file could not be read")
            })
        })
    }
}
