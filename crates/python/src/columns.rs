//! [`Columns`]: a listing key by key, for those who look at thousands of fields and need no object of Python's for each.

use std::collections::HashMap;

use isotach_fields::{FieldStore, ListOptions, Location as FieldLocation};
use isotach_mars::{Key, Request};
use pyo3::{
    exceptions::{PyIndexError, PyKeyError},
    prelude::*,
    types::{PyBytes, PyDict, PyType},
};

use crate::{
    convert::{self, key_to_dict},
    error::Outcome,
    handle::Handle,
    location::Location,
};

/// Stands for the value of a field that does not have the key.
const ABSENT: i32 = -1;

/// The fields that match a request. They are numbered in the order of the listing.
#[pyclass(frozen, module = "isotach._isotach")]
pub(crate) struct Columns {
    /// In the order in which fields have their keys.
    columns: Vec<Column>,
    locations: Vec<FieldLocation>,
}

/// One key of all fields.
#[derive(Default)]
struct Column {
    name: String,
    /// Each value once, in the order in which it was found.
    values: Vec<String>,
    /// The number of each value.
    known: HashMap<String, i32>,
    /// The number of each field's value.
    codes: Vec<i32>,
}

impl Column {
    fn push(&mut self, value: &str) {
        let code = self.known.get(value).copied().unwrap_or_else(|| {
            // A listing of more values than fit into 31 bits does not fit into memory.
            let code = i32::try_from(self.values.len()).unwrap_or(i32::MAX);
            self.values.push(value.to_owned());
            self.known.insert(value.to_owned(), code);
            code
        });
        self.codes.push(code);
    }
}

impl Columns {
    fn of(store: &FieldStore, request: &Request) -> isotach_fields::Result<Self> {
        let mut found = Self { columns: Vec::new(), locations: Vec::new() };
        for listed in store.list(request, ListOptions::default())? {
            let listed = listed?;
            found.push(&listed.key(), listed.location().clone());
        }
        Ok(found)
    }

    fn push(&mut self, key: &Key, location: FieldLocation) {
        let before = self.locations.len();
        for (name, value) in key.iter() {
            let at = self.columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
                let codes = vec![ABSENT; before];
                self.columns.push(Column { name: name.to_owned(), codes, ..Column::default() });
                self.columns.len() - 1
            });
            if let Some(column) = self.columns.get_mut(at) {
                column.push(value);
            }
        }
        self.locations.push(location);
        // Of keys that this field does not have.
        self.columns.iter_mut().for_each(|column| column.codes.resize(before + 1, ABSENT));
    }

    fn column(&self, name: &str) -> PyResult<&Column> {
        let found = self.columns.iter().find(|column| column.name == name);
        found.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    fn location_of(&self, field: usize) -> PyResult<FieldLocation> {
        let location = self.locations.get(field).cloned();
        location.ok_or_else(|| PyIndexError::new_err(format!("field {field} of {}", self.locations.len())))
    }

    fn key_of(&self, field: usize) -> Key {
        let mut key = Key::new();
        for column in &self.columns {
            let code = column.codes.get(field).and_then(|code| usize::try_from(*code).ok());
            if let Some(value) = code.and_then(|code| column.values.get(code)) {
                key.set(&column.name, value);
            }
        }
        key
    }
}

/// Lists the fields of a request.
#[pyfunction]
pub(crate) fn columns(handle: &Bound<'_, Handle>, request: &Bound<'_, PyAny>) -> Outcome<Columns> {
    let request = convert::request(request)?;
    handle.get().with(handle.py(), |store| Columns::of(store, &request))
}

/// What makes columns again: the key and the location of each field.
type Parts<'py> = Vec<(Bound<'py, PyDict>, Location)>;

#[pymethods]
impl Columns {
    fn __len__(&self) -> usize {
        self.locations.len()
    }

    /// The keys that fields have.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| &*column.name).collect()
    }

    fn values(&self, name: &str) -> PyResult<Vec<String>> {
        Ok(self.column(name)?.values.clone())
    }

    /// For each field the number of its value, little-endian in four bytes.
    fn codes<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes: Vec<u8> = self.column(name)?.codes.iter().flat_map(|code| code.to_le_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    fn key<'py>(&self, py: Python<'py>, field: usize) -> PyResult<Bound<'py, PyDict>> {
        self.location_of(field)?;
        key_to_dict(py, &self.key_of(field))
    }

    fn location(&self, field: usize) -> PyResult<Location> {
        self.location_of(field).map(Location)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Parts<'py>,))> {
        let (py, columns) = (slf.py(), slf.get());
        let parts = columns.locations.iter().enumerate().map(|(field, location)| {
            Ok((key_to_dict(py, &columns.key_of(field))?, Location(location.clone())))
        });
        Ok((slf.get_type().getattr("_restored")?, (parts.collect::<PyResult<_>>()?,)))
    }

    /// Columns from another process.
    #[classmethod]
    fn _restored(
        _class: &Bound<'_, PyType>,
        fields: Vec<(Bound<'_, PyAny>, Bound<'_, Location>)>,
    ) -> Outcome<Self> {
        let mut restored = Self { columns: Vec::new(), locations: Vec::new() };
        for (key, location) in fields {
            restored.push(&convert::key(&key)?, location.get().0.clone());
        }
        Ok(restored)
    }
}
