//! [`Tree`]: named values on a container, shared by threads, opened again in forked children and after pickling.
//!
//! What must stay true:
//! - As for a store's handle, the lock of the state is taken while attached and released before anything waits.
//! - A child that was forked within a transaction changes nothing outside of it. It asks no lock of its parent whether one was open.

use std::{
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use isotach_object::{Error as ObjectError, Label, Pool, PoolUri, Registry, Result};
use isotach_open::{pool_uri, registry};
use isotach_tree::{Part, Tree as NamedValues};
use pyo3::{prelude::*, sync::MutexExt, types::PyMemoryView};

use crate::{
    buffer::{Input, Shared},
    error::Outcome,
    process::OfProcess,
};

/// An open tree.
#[pyclass(frozen, module = "isotach._isotach")]
pub(crate) struct Tree {
    pool: PoolUri,
    label: Label,
    state: Mutex<OfProcess<Arc<NamedValues>>>,
    /// The process that has a transaction open; 0 for none.
    in_transaction: AtomicU32,
}

fn open(pool: &PoolUri, label: &Label, engines: &Registry) -> Result<NamedValues> {
    NamedValues::open(&*engines.open_pool(pool)?, label)
}

/// Opens a tree. Its container and its pool are created if they do not exist.
fn create(uri: &PoolUri, label: &Label, engines: &Registry) -> Result<NamedValues> {
    NamedValues::create(&*created_pool(uri, engines)?, label)
}

fn created_pool(uri: &PoolUri, engines: &Registry) -> Result<Arc<dyn Pool>> {
    match engines.open_pool(uri) {
        // A posix pool that another process is creating is a folder that is no pool.
        Err(ObjectError::NotFound { .. } | ObjectError::InvalidInput { .. }) => {}
        outcome => return outcome,
    }
    match engines.engine(uri.scheme())?.create_pool(uri) {
        Ok(()) | Err(ObjectError::AlreadyExists { .. }) => engines.open_pool(uri),
        Err(error) => Err(error),
    }
}

impl Tree {
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, OfProcess<Arc<NamedValues>>> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// The tree of this process. A forked child opens its own.
    fn tree(&self, py: Python<'_>) -> Outcome<Arc<NamedValues>> {
        if let Some(tree) = self.state(py).here() {
            return Ok(Arc::clone(tree));
        }
        let engines = registry();
        let opened = Arc::new(py.detach(|| open(&self.pool, &self.label, &engines))?);
        let mut state = self.state(py);
        // Another thread of the child may have been faster.
        if let Some(tree) = state.here() {
            return Ok(Arc::clone(tree));
        }
        *state = OfProcess::new(Arc::clone(&opened));
        Ok(opened)
    }

    /// Runs `act` on the tree, detached from the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&NamedValues) -> Result<T> + Send,
    ) -> Outcome<T> {
        let tree = self.tree(py)?;
        Ok(py.detach(move || act(&tree))?)
    }

    /// Whether the transaction of a parent was open when this process was forked.
    fn is_forked_in_transaction(&self) -> bool {
        ![0, process::id()].contains(&self.in_transaction.load(Ordering::Relaxed))
    }

    /// As [`Tree::with`], for changes. A forked child does not have the transaction of its parent, and must not make the changes
    /// without it.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&NamedValues) -> Result<T> + Send,
    ) -> Outcome<T> {
        if self.is_forked_in_transaction() {
            let what = format!("a change of {} in a child forked within a transaction", self.label);
            return Err(ObjectError::invalid(what, "one through a handle that the child opens").into());
        }
        self.with(py, act)
    }

    /// Ends a transaction by `act`. Whatever its outcome, none is open afterwards.
    fn end(&self, py: Python<'_>, act: impl FnOnce(&NamedValues) -> Result<()> + Send) -> Outcome<()> {
        self.change(py, |tree| {
            // Before it ends: afterwards another thread may have begun the next one.
            self.in_transaction.store(0, Ordering::Relaxed);
            act(tree)
        })
    }
}

#[pymethods]
impl Tree {
    /// Opens a tree in a container of a pool, or creates both.
    #[new]
    #[pyo3(signature = (pool, container, *, create = false))]
    fn new(py: Python<'_>, pool: &str, container: &str, create: bool) -> Outcome<Self> {
        let (pool, label, engines) = (pool_uri(pool)?, container.parse::<Label>()?, registry());
        let opened = py.detach(|| match create {
            true => self::create(&pool, &label, &engines),
            false => open(&pool, &label, &engines),
        })?;
        let state = Mutex::new(OfProcess::new(Arc::new(opened)));
        Ok(Self { pool, label, state, in_transaction: AtomicU32::new(0) })
    }

    /// The URI of a pool, valid in any working folder.
    #[staticmethod]
    fn address(pool: &str) -> Outcome<String> {
        Ok(pool_uri(pool)?.to_string())
    }

    /// Bytes of a value: from `start` on, up to `end`, or the `last` ones.
    #[pyo3(signature = (path, start = None, end = None, last = None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        start: Option<u64>,
        end: Option<u64>,
        last: Option<u64>,
    ) -> Outcome<Option<Bound<'py, PyMemoryView>>> {
        let part = match (start, end, last) {
            (_, _, Some(last)) => Part::Last(last),
            (None, None, None) => Part::Whole,
            (start, Some(end), None) => Part::Range(start.unwrap_or(0), end),
            (Some(start), None, None) => Part::From(start),
        };
        let Some(bytes) = self.with(py, |tree| tree.read(path, part))? else { return Ok(None) };
        let owner = Bound::new(py, Shared::from(bytes))?;
        Ok(Some(PyMemoryView::from(&owner)?))
    }

    fn size(&self, py: Python<'_>, path: &str) -> Outcome<Option<u64>> {
        self.with(py, |tree| tree.size(path))
    }

    fn put(&self, py: Python<'_>, path: &str, data: &Bound<'_, PyAny>) -> Outcome<()> {
        let input = Input::of(data)?;
        let bytes = input.as_slice();
        self.change(py, |tree| tree.put(path, bytes))
    }

    fn put_if_absent(&self, py: Python<'_>, path: &str, data: &Bound<'_, PyAny>) -> Outcome<bool> {
        let input = Input::of(data)?;
        let bytes = input.as_slice();
        self.change(py, |tree| tree.put_if_absent(path, bytes))
    }

    fn remove(&self, py: Python<'_>, path: &str) -> Outcome<()> {
        self.change(py, |tree| tree.remove(path))
    }

    fn remove_below(&self, py: Python<'_>, directory: &str) -> Outcome<()> {
        self.change(py, |tree| tree.remove_below(directory))
    }

    /// The paths that begin with a prefix.
    fn list(&self, py: Python<'_>, prefix: &str) -> Outcome<Vec<String>> {
        self.with(py, |tree| Ok(tree.list(prefix)?.into_iter().map(|listed| listed.path).collect()))
    }

    /// The bytes of all values whose paths begin with a prefix.
    fn size_of_all(&self, py: Python<'_>, prefix: &str) -> Outcome<u64> {
        self.with(py, |tree| Ok(tree.list(prefix)?.iter().map(|listed| listed.size).sum()))
    }

    fn children(&self, py: Python<'_>, directory: &str) -> Outcome<Vec<String>> {
        self.with(py, |tree| tree.children(directory))
    }

    fn is_empty(&self, py: Python<'_>, directory: &str) -> Outcome<bool> {
        self.with(py, |tree| tree.is_empty(directory))
    }

    fn flush(&self, py: Python<'_>) -> Outcome<()> {
        self.with(py, NamedValues::flush)
    }

    /// Sweeps, and frees the space of what was replaced or removed. Returns the freed bytes.
    fn purge(&self, py: Python<'_>) -> Outcome<u64> {
        self.change(py, |tree| {
            tree.sweep()?;
            let pool = registry().open_pool(&self.pool)?;
            let maintenance = pool.facets().maintenance;
            maintenance.map_or(Ok(0), |maintenance| Ok(maintenance.purge(&self.label, true)?.freed))
        })
    }

    fn begin(&self, py: Python<'_>) -> Outcome<()> {
        self.change(py, NamedValues::begin)?;
        self.in_transaction.store(process::id(), Ordering::Relaxed);
        Ok(())
    }

    fn commit(&self, py: Python<'_>) -> Outcome<()> {
        self.end(py, NamedValues::commit)
    }

    fn roll_back(&self, py: Python<'_>) -> Outcome<()> {
        match self.is_forked_in_transaction() {
            // The child has made no change, and its exception is more than a second error.
            true => Ok(()),
            false => self.end(py, NamedValues::roll_back),
        }
    }
}
