//! [`Handle`]: an open store, shared by threads, opened again in forked children and after pickling.
//!
//! What must stay true: the lock of the state is taken while attached and released before anything waits. So it is free whenever a
//! process forks.

use std::{
    mem,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use isotach_fields::{Error as FieldsError, FieldStore, ListOptions};
use isotach_grib::Eccodes;
use isotach_mars::{Key, Request};
use isotach_object::{Error as ObjectError, Registry};
use isotach_open::{Origin, from_environment, is_in_memory, pool_uri, registry};
use pyo3::{
    prelude::*,
    sync::MutexExt,
    types::{PyDict, PyMemoryView},
};

use crate::{
    archive::{self, Target},
    buffer::{Input, Output},
    convert,
    error::{Failure, Outcome},
    field::Field,
    inspection::Inspection,
    listing::Listing,
    location::Location,
    process::OfProcess,
    retrieval::Retrieval,
    shared::Shared,
    transaction::Transaction,
};

/// What the store is called in the message of a closed one.
const STORE: &str = "the store";

/// An open store.
#[pyclass(frozen, module = "isotach._isotach")]
pub(crate) struct Handle {
    origin: Origin,
    /// The snapshot that it shows.
    at: Option<String>,
    state: Mutex<State>,
}

enum State {
    Open(OfProcess<FieldStore>),
    Closed,
}

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

/// The engines of this process. The stores of the memory engine live as long as they do.
pub(crate) fn engines(py: Python<'_>) -> Registry {
    static ENGINES: Mutex<Option<OfProcess<Registry>>> = Mutex::new(None);
    let mut engines = ENGINES.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = engines.as_ref().and_then(OfProcess::here) {
        return known.clone();
    }
    let new = registry();
    *engines = Some(OfProcess::new(new.clone()));
    new
}

/// The origin of a configuration. `kind` is that of the argument: a URI, a file, or a text.
fn origin_of(kind: &str, value: &str, folder: Option<PathBuf>) -> Outcome<Origin> {
    let given_by = "the argument";
    let origin = match kind {
        "uri" => Origin::Store { uri: pool_uri(value)?, given_by },
        "file" => Origin::File { path: value.into(), given_by },
        "text" => {
            let path = folder.unwrap_or_default().join("configuration");
            Origin::Text { text: value.to_owned(), path }
        }
        _ => from_environment()?.ok_or_else(|| FieldsError::Invalid {
            what: "no store".to_owned(),
            expected:
                "an argument, ISOTACH_STORE or ISOTACH_CONFIG in the environment, or a file isotach.yaml"
                    .to_owned(),
        })?,
    };
    Ok(origin)
}

fn open(origin: &Origin, at: Option<&str>, engines: &Registry) -> Outcome<FieldStore> {
    let config = origin.config(engines)?;
    let store = origin.open(&config, engines).map_err(|error| match error {
        FieldsError::Object(ObjectError::NotFound { .. }) if is_in_memory(&config) => {
            Failure::at("a memory: store exists within one process only", error)
        }
        FieldsError::Object(ObjectError::NotFound { .. }) | FieldsError::NotAStore { .. } => {
            Failure::at("isotach.create creates a store", error)
        }
        error => error.into(),
    })?;
    Ok(at.map_or(Ok(store.clone()), |name| store.at(name))?)
}

fn create(origin: &Origin, schema: Option<&str>, engines: &Registry) -> Outcome<FieldStore> {
    let config = origin.config(engines)?;
    let config = match schema {
        Some(text) => config.with_schema(text),
        None => config,
    };
    Ok(origin.create(&config, engines)?)
}

impl Handle {
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// The store of this process. A forked child opens its own.
    pub(crate) fn store(&self, py: Python<'_>) -> Outcome<FieldStore> {
        if let Some(store) = self.opened(py)? {
            return Ok(store);
        }
        let engines = engines(py);
        let opened = py.detach(|| open(&self.origin, self.at.as_deref(), &engines))?;
        // Another thread of the child may have been faster.
        if let Some(store) = self.opened(py)? {
            return Ok(store);
        }
        *self.state(py) = State::Open(OfProcess::new(opened.clone()));
        Ok(opened)
    }

    /// The store, if this process has opened it.
    fn opened(&self, py: Python<'_>) -> Outcome<Option<FieldStore>> {
        match &*self.state(py) {
            State::Open(store) => Ok(store.here().cloned()),
            State::Closed => Err(Failure::Closed(STORE)),
        }
    }

    /// Fails if the handle is closed.
    pub(crate) fn check_open(&self, py: Python<'_>) -> Outcome<()> {
        self.opened(py).map(drop)
    }

    /// Runs `act` on the store, detached from the interpreter.
    pub(crate) fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&FieldStore) -> isotach_fields::Result<T> + Send,
    ) -> Outcome<T> {
        let store = self.store(py)?;
        Ok(py.detach(move || act(&store))?)
    }
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
        let engines = engines(py);
        let origin = origin_of(kind, value, folder)?;
        let opened = py.detach(|| match create {
            true => self::create(&origin, schema, &engines),
            false => open(&origin, at.as_deref(), &engines),
        })?;
        // Children and other processes may have other working folders.
        let origin = origin.absolute()?;
        Ok(Self { origin, at, state: Mutex::new(State::Open(OfProcess::new(opened))) })
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
        let state = Mutex::new(State::Open(OfProcess::new(store)));
        Ok(Self { origin: self.origin.clone(), at: Some(name), state })
    }

    /// Drops the store. What is not flushed is lost.
    fn close(&self, py: Python<'_>) {
        let closed = mem::replace(&mut *self.state(py), State::Closed);
        py.detach(move || drop(closed));
    }

    #[getter]
    fn is_closed(&self, py: Python<'_>) -> bool {
        matches!(&*self.state(py), State::Closed)
    }

    fn schema(&self, py: Python<'_>) -> Outcome<String> {
        Ok(self.store(py)?.schema().source().to_owned())
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
        archive::messages(py, &self.store(py)?, data)
    }

    fn archive_file<'py>(&self, py: Python<'py>, path: PathBuf) -> Outcome<Bound<'py, PyAny>> {
        archive::file(py, &self.store(py)?, &path)
    }

    fn flush(&self, py: Python<'_>) -> Outcome<()> {
        self.with(py, FieldStore::flush)
    }

    fn transaction(slf: &Bound<'_, Self>) -> Outcome<Transaction> {
        let transaction = slf.get().store(slf.py())?.transaction();
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

    fn read(&self, py: Python<'_>, location: &Location) -> Outcome<Field> {
        let location = location.0.clone();
        let bytes = self.with(py, |store| store.read(&location))?;
        Ok(isotach_fields::Field { key: Key::new(), location, bytes }.into())
    }

    fn list(slf: &Bound<'_, Self>, request: &Bound<'_, PyAny>, duplicates: bool) -> Outcome<Listing> {
        let request = convert::request(request)?;
        let options = ListOptions { duplicates };
        let listing = slf.get().with(slf.py(), |store| store.list(&request, options))?;
        Ok(Listing::new(slf.clone().unbind(), listing))
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
        crate::reports::answered(py, axes, answer.unusable)
    }

    fn explain(&self, py: Python<'_>, request: &Bound<'_, PyAny>) -> Outcome<Option<String>> {
        let request = convert::request(request)?;
        self.with(py, |store| Ok(store.explain(&request)))
    }
}
