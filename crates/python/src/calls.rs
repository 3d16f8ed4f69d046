//! What Python calls of an open store.

use std::{ops, path::PathBuf};

use isotach_fields::{FieldStore, ListOptions};
use isotach_grib::Eccodes;
use isotach_mars::{Key, Request};
use isotach_open::Origin;
use pyo3::{
    prelude::*,
    types::{PyDict, PyMemoryView},
};

use crate::{
    archive::{self, Target},
    buffer::{Input, Output, Shared},
    convert,
    error::Outcome,
    field::Field,
    handle::Handle,
    inspection::Inspection,
    listing::Listing,
    location::Location,
    reports::answered,
    retrieval::Retrieval,
    transaction::Transaction,
};

/// The version of the package.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Names the environment of this interpreter, in which ecCodes may be installed.
#[pyfunction]
pub(crate) fn set_environment(root: PathBuf) {
    Eccodes::set_environment(root);
}

impl Target for FieldStore {
    fn put(&self, key: &Key, bytes: &[u8]) -> isotach_fields::Result<()> {
        self.archive(key, bytes)
    }
}

#[pymethods]
impl Handle {
    /// Opens a store, or creates it.
    #[new]
    #[pyo3(signature = (kind, value, folder = None, at = None, *, create = false, schema = None))]
    fn new(
        py: Python<'_>,
        kind: &str,
        value: &str,
        folder: Option<PathBuf>,
        at: Option<String>,
        create: bool,
        schema: Option<&str>,
    ) -> Outcome<Self> {
        Self::open_or_create(py, (kind, value, folder), at, create.then_some(schema))
    }

    /// The arguments that open the store again, in any process.
    fn arguments(&self) -> (&'static str, String, Option<PathBuf>, Option<String>) {
        let at = self.at.clone();
        match &self.origin {
            Origin::Store { uri, .. } => ("uri", uri.to_string(), None, at),
            Origin::File { path, .. } => ("file", path.display().to_string(), None, at),
            Origin::Text { text, path } => ("text", text.clone(), path.parent().map(PathBuf::from), at),
        }
    }

    #[getter]
    fn name(&self) -> String {
        match &self.origin {
            Origin::Store { uri, .. } => uri.to_string(),
            Origin::File { path, .. } | Origin::Text { path, .. } => path.display().to_string(),
        }
    }

    #[getter]
    fn at(&self) -> Option<&str> {
        self.at.as_deref()
    }

    /// The same store at a snapshot.
    fn open_at(&self, py: Python<'_>, name: String) -> Outcome<Self> {
        let store = self.with(py, |store| store.at(&name))?;
        Ok(Self::of(self.origin.clone(), Some(name), store))
    }

    /// Drops the store. What is not flushed is lost.
    fn close(&self, py: Python<'_>) {
        self.shut(py);
    }

    #[getter]
    fn is_closed(&self, py: Python<'_>) -> bool {
        self.is_shut(py)
    }

    fn schema(&self, py: Python<'_>) -> Outcome<String> {
        self.with(py, |store| Ok(store.schema().source().to_owned()))
    }

    #[getter]
    fn is_dirty(&self, py: Python<'_>) -> bool {
        let store = self.opened(py).ok().flatten();
        store.is_some_and(|store| py.detach(move || store.is_dirty()))
    }

    fn archive(&self, py: Python<'_>, data: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> Outcome<()> {
        let (input, key) = (Input::of(data)?, convert::key(key)?);
        let bytes = input.as_slice();
        self.with(py, |store| store.archive(&key, bytes))
    }

    fn archive_messages<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyAny>> {
        archive::messages(py, self.store(py)?, data)
    }

    fn archive_file<'py>(&self, py: Python<'py>, path: PathBuf) -> Outcome<Bound<'py, PyAny>> {
        archive::file(py, self.store(py)?, &path)
    }

    fn flush(&self, py: Python<'_>) -> Outcome<()> {
        self.with(py, FieldStore::flush)
    }

    fn transaction(slf: &Bound<'_, Self>) -> Outcome<Transaction> {
        let transaction = slf.get().with(slf.py(), |store| Ok(store.transaction()))?;
        Ok(Transaction::new(slf.clone().unbind(), transaction))
    }

    fn retrieve(slf: &Bound<'_, Self>, request: &Bound<'_, PyAny>) -> Outcome<Retrieval> {
        let request: Request = convert::request(request)?;
        let retrieval = slf.get().with(slf.py(), |store| store.retrieve(&request))?;
        Ok(Retrieval::new(slf.clone().unbind(), retrieval, request))
    }

    fn retrieve_one(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> Outcome<Option<Field>> {
        let key = convert::key(key)?;
        Ok(self.with(py, |store| store.retrieve_field(&key))?.map(Field::from))
    }

    fn retrieve_into(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        buffer: &Bound<'_, PyAny>,
    ) -> Outcome<Option<usize>> {
        let (key, mut output) = (convert::key(key)?, Output::of(buffer)?);
        let bytes = output.as_slice_mut();
        self.with(py, |store| store.retrieve_into(&key, bytes))
    }

    fn share<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> Outcome<Option<Bound<'py, PyMemoryView>>> {
        let key = convert::key(key)?;
        let Some(bytes) = self.with(py, |store| store.retrieve_shared(&key))? else { return Ok(None) };
        let owner = Bound::new(py, Shared::from(bytes))?;
        Ok(Some(PyMemoryView::from(&owner)?))
    }

    fn locate(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> Outcome<Option<Location>> {
        let key = convert::key(key)?;
        let found = self.with(py, |store| store.locate(&key))?;
        Ok(found.map(|found| Location(found.location)))
    }

    /// The bytes at a location from an offset on, as many as `length`, or all.
    #[pyo3(signature = (location, offset = 0, length = None))]
    fn read(&self, py: Python<'_>, location: &Location, offset: u64, length: Option<u64>) -> Outcome<Field> {
        let location = location.0.clone();
        let end = length
            .map_or(ops::Bound::Unbounded, |length| ops::Bound::Excluded(offset.saturating_add(length)));
        let bytes = self.with(py, |store| match (offset, length) {
            (0, None) => store.read(&location),
            _ => store.read_part(&location, (ops::Bound::Included(offset), end)),
        })?;
        Ok(isotach_fields::Field { key: Key::new(), location, bytes }.into())
    }

    fn list(slf: &Bound<'_, Self>, request: &Bound<'_, PyAny>, duplicates: bool) -> Outcome<Listing> {
        let request = convert::request(request)?;
        let options = ListOptions { duplicates };
        let listing = slf.get().with(slf.py(), |store| store.list(&request, options))?;
        Ok(Listing::new(slf.clone().unbind(), listing, request))
    }

    fn inspect(slf: &Bound<'_, Self>, request: &Bound<'_, PyAny>) -> Outcome<Inspection> {
        let request = convert::request(request)?;
        let inspection = slf.get().with(slf.py(), |store| store.inspect(&request))?;
        Ok(Inspection::new(slf.clone().unbind(), inspection, request))
    }

    fn axes<'py>(&self, py: Python<'py>, request: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyDict>> {
        let request = convert::request(request)?;
        let answer = self.with(py, |store| store.axes(&request))?;
        let axes = PyDict::new(py);
        answer.found.iter().try_for_each(|axis| axes.set_item(&axis.name, &axis.values))?;
        answered(py, axes, answer.unusable)
    }

    fn explain(&self, py: Python<'_>, request: &Bound<'_, PyAny>) -> Outcome<Option<String>> {
        let request = convert::request(request)?;
        self.with(py, |store| Ok(store.explain(&request)))
    }
}
