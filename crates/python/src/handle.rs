//! [`Handle`]: an open store, shared by threads, opened again in forked children and after pickling. Its methods for Python are in
//! `calls`.
//!
//! What must stay true: the lock of the state is taken while attached and released before anything waits. So it is free whenever a
//! process forks.

use std::{
    mem,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use isotach_fields::{Error as FieldsError, FieldStore};
use isotach_object::{Error as ObjectError, Registry};
use isotach_open::{Origin, from_environment, is_in_memory, no_store, pool_uri, registry};
use pyo3::{prelude::*, sync::MutexExt};

use crate::{
    error::{Failure, Outcome},
    resource::Resource,
};

/// What the store is called in the message of a closed one.
const STORE: &str = "the store";

/// An open store.
#[pyclass(frozen, module = "isotach._isotach")]
pub(crate) struct Handle {
    pub(crate) origin: Origin,
    /// The snapshot that it shows.
    pub(crate) at: Option<String>,
    state: Mutex<State>,
}

enum State {
    Open(Resource<FieldStore>),
    Closed,
}

impl State {
    fn opened(&self) -> Outcome<Option<FieldStore>> {
        match self {
            Self::Open(store) => Ok(store.here().cloned()),
            Self::Closed => Err(Failure::Closed(STORE)),
        }
    }
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
        _ => from_environment()?.ok_or_else(|| no_store(&["an argument"]))?,
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
        let engines = registry();
        let opened = py.detach(|| open(&self.origin, self.at.as_deref(), &engines))?;
        let mut state = self.state(py);
        // Another thread of the child may have been faster, or may have closed the handle.
        if let Some(store) = state.opened()? {
            return Ok(store);
        }
        *state = State::Open(Resource::new(opened.clone()));
        Ok(opened)
    }

    /// The store, if this process has opened it.
    pub(crate) fn opened(&self, py: Python<'_>) -> Outcome<Option<FieldStore>> {
        self.state(py).opened()
    }

    /// Fails if the handle is closed.
    pub(crate) fn check_open(&self, py: Python<'_>) -> Outcome<()> {
        if self.is_shut(py) { Err(Failure::Closed(STORE)) } else { Ok(()) }
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

    /// Opens a store, or creates it with `schema`. `kind` is that of the argument: see `origin_of`.
    pub(crate) fn open_or_create(
        py: Python<'_>,
        (kind, value, folder): (&str, &str, Option<PathBuf>),
        at: Option<String>,
        create: Option<Option<&str>>,
    ) -> Outcome<Self> {
        let engines = registry();
        let origin = origin_of(kind, value, folder)?;
        let opened = py.detach(|| match create {
            Some(schema) => self::create(&origin, schema, &engines),
            None => open(&origin, at.as_deref(), &engines),
        })?;
        // Children and other processes may have other working folders.
        Ok(Self::of(origin.absolute()?, at, opened))
    }

    /// A handle on a store that this process has opened.
    pub(crate) fn of(origin: Origin, at: Option<String>, store: FieldStore) -> Self {
        Self { origin, at, state: Mutex::new(State::Open(Resource::new(store))) }
    }

    /// Drops the store.
    pub(crate) fn shut(&self, py: Python<'_>) {
        let closed = mem::replace(&mut *self.state(py), State::Closed);
        drop(closed);
    }

    pub(crate) fn is_shut(&self, py: Python<'_>) -> bool {
        matches!(&*self.state(py), State::Closed)
    }
}
