//! From errors of the library to Python's exceptions, whose classes are in `isotach._exceptions`.

use isotach_fields::Error as FieldsError;
use isotach_object::Error as ObjectError;
use isotach_values::Error as ValuesError;
use pyo3::{prelude::*, sync::PyOnceLock, types::PyDict};

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Fields(Box<FieldsError>),
    /// An error of the library while it handled a part of the input, whose place is named.
    At(String, Box<FieldsError>),
    /// A field whose values cannot be given.
    Values(Box<ValuesError>),
    /// The handle, or what it belongs to, is closed.
    Closed(&'static str),
    /// An exception, or an error of the system that becomes one.
    Raised(PyErr),
}

impl Failure {
    /// An error about the part of the input at this place, or with this advice.
    pub(crate) fn at(place: impl Into<String>, error: FieldsError) -> Self {
        Self::At(place.into(), Box::new(error))
    }
}

/// What a call of the native module returns.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl From<FieldsError> for Failure {
    fn from(error: FieldsError) -> Self {
        Self::Fields(Box::new(error))
    }
}

impl From<ObjectError> for Failure {
    fn from(error: ObjectError) -> Self {
        FieldsError::from(error).into()
    }
}

impl From<ValuesError> for Failure {
    fn from(error: ValuesError) -> Self {
        match error {
            ValuesError::Fields(error) => error.into(),
            error => Self::Values(Box::new(error)),
        }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| match failure {
            Failure::Fields(error) => raised(py, error.code(), &error.to_string(), Some(&*error)),
            Failure::At(place, error) => {
                let raised = raised(py, error.code(), &error.to_string(), Some(&*error));
                match raised.value(py).call_method1("add_note", (place,)) {
                    Ok(_) => raised,
                    Err(other) => other,
                }
            }
            Failure::Values(error) => raised(py, error.code(), &error.to_string(), None),
            Failure::Closed(what) => raised(py, "closed", &format!("{what} is closed"), None),
            Failure::Raised(error) => error,
        })
    }
}

/// The exception for a code.
fn raised(py: Python<'_>, code: &str, message: &str, error: Option<&FieldsError>) -> PyErr {
    static EXCEPTION_OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let raised = EXCEPTION_OF.import(py, "isotach._exceptions", "exception_of").and_then(|exception_of| {
        let facts = PyDict::new(py);
        error.map_or(Ok(()), |error| add_facts(&facts, error))?;
        exception_of.call1((code, message, facts))
    });
    raised.map_or_else(|error| error, PyErr::from_value)
}

/// What a handler may want to know apart from the text.
fn add_facts(facts: &Bound<'_, PyDict>, error: &FieldsError) -> PyResult<()> {
    match error {
        FieldsError::Corrupt { field, place, .. } => {
            facts.set_item("field", field)?;
            facts.set_item("place", place)
        }
        FieldsError::Field { field, source } | FieldsError::DamagedDataset { dataset: field, source } => {
            let name = if matches!(error, FieldsError::Field { .. }) { "field" } else { "dataset" };
            facts.set_item(name, field)?;
            match source {
                ObjectError::Corrupt { place, .. } => facts.set_item("place", place),
                _ => Ok(()),
            }
        }
        FieldsError::Object(ObjectError::Corrupt { place, .. }) => facts.set_item("place", place),
        FieldsError::Lost { dataset, fields, .. } | FieldsError::Wiped { dataset, fields } => {
            facts.set_item("dataset", dataset)?;
            facts.set_item("fields", fields)
        }
        FieldsError::Locked { dataset, .. }
        | FieldsError::Moving { dataset }
        | FieldsError::LostDataset { dataset, .. }
        | FieldsError::ClosedDataset { dataset, .. }
        | FieldsError::NothingBelow { dataset, .. } => facts.set_item("dataset", dataset),
        FieldsError::NotEnded { source, .. } | FieldsError::PartlyDeleted { source, .. } => {
            add_facts(facts, source)
        }
        _ => Ok(()),
    }
}

/// All codes of the library.
#[pyfunction]
pub(crate) fn codes() -> Vec<&'static str> {
    let mut codes = [&FieldsError::CODES[..], &ObjectError::CODES[..], &ValuesError::CODES[..]].concat();
    codes.sort_unstable();
    codes.dedup();
    codes
}
