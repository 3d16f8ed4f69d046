//! [`Tree`]: the handle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isotach_object::{
    Cell, Container, ContainerOptions, Error, IdRange, Label, ObjectClass, ObjectId, ObjectType, Pool,
    Result, Update,
};

use crate::{
    changes::Changes,
    fence::{self, Fence},
    path,
};

/// The key in [`path::SETTINGS`] of the kind of the content with the version of its layout.
const KIND: &[u8] = b"layout";
/// The kind of a tree.
const TREE: &[u8] = b"tree 1";
/// The kind of a tree that was swept. A program that commits without the fence must not open it.
const SWEPT_TREE: &[u8] = b"tree 2";

/// Sets the kind of a tree that is being swept.
pub(crate) const SWEPT: Update<'static> =
    Update::Put { cell: Cell::kv(path::SETTINGS, KIND), value: SWEPT_TREE };

/// How many ids are taken from the engine at once.
const IDS: u64 = 256;

/// A handle on a tree. Threads may share it.
#[derive(Debug)]
pub struct Tree {
    pub(crate) container: Arc<dyn Container>,
    ids: Mutex<IdRange>,
    /// The open transaction.
    changes: Mutex<Option<Changes>>,
    pub(crate) fence: Mutex<Fence>,
}

impl Tree {
    /// Creates an empty tree, or opens it if it exists.
    ///
    /// # Errors
    /// As [`Tree::open`] and [`Pool::create_container`].
    pub fn create(pool: &dyn Pool, label: &Label) -> Result<Self> {
        match Self::open(pool, label) {
            Err(Error::NotFound { .. }) => {}
            outcome => return outcome,
        }
        let kind = Update::Put { cell: Cell::kv(path::SETTINGS, KIND), value: TREE };
        match pool.create_container(label, &ContainerOptions { updates: &[kind], ..Default::default() }) {
            Err(Error::AlreadyExists { .. }) | Ok(()) => Self::open(pool, label),
            Err(error) => Err(error),
        }
    }

    /// Opens a tree.
    ///
    /// # Errors
    /// `NotFound`; `InvalidInput` where the container holds something else; `NewerFormat` for a newer layout.
    pub fn open(pool: &dyn Pool, label: &Label) -> Result<Self> {
        let container = pool.open_container(label)?;
        let mut found = container.get_many(&[Cell::kv(path::SETTINGS, KIND), fence::CELL])?.into_iter();
        let kind = found.next().flatten().unwrap_or_default();
        if ![TREE, SWEPT_TREE].contains(&&*kind) {
            return Err(match kind.strip_prefix(b"tree ") {
                Some(version) => {
                    Error::NewerFormat { what: format!("tree {label} has layout {}", version.escape_ascii()) }
                }
                None => Error::invalid(format!("container {label}"), "one that holds a tree"),
            });
        }
        let fence = Mutex::new(Fence(found.next().flatten()));
        Ok(Self { container, ids: Mutex::new(0..0), changes: Mutex::new(None), fence })
    }

    /// Makes everything that was written durable.
    ///
    /// # Errors
    /// As [`Container::flush`].
    pub fn flush(&self) -> Result<()> {
        self.container.flush()
    }

    /// The open transaction, if there is one.
    pub(crate) fn changes(&self) -> MutexGuard<'_, Option<Changes>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of a new array.
    pub(crate) fn new_array(&self) -> Result<ObjectId> {
        Ok(ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, self.new_id()?))
    }

    /// A number that nothing else in the container ever gets.
    pub(crate) fn new_id(&self) -> Result<u64> {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if ids.is_empty() {
            *ids = self.container.allocate_ids(IDS)?;
        }
        let id = ids.start;
        ids.start += 1;
        Ok(id)
    }

    /// What the container holds under a path, without the open transaction.
    pub(crate) fn stored(&self, path: &str) -> Result<Option<Vec<u8>>> {
        let (directory, name) = path::split(path)?;
        let cell = Cell::kv(path::directory(directory), name.as_bytes());
        Ok(self.container.get_many(&[cell])?.pop().flatten())
    }

    /// What a reader of this handle finds under a path.
    pub(crate) fn entry(&self, path: &str) -> Result<Option<Vec<u8>>> {
        if let Some(changes) = self.changes().as_mut() {
            return changes.entry(path, || self.stored(path));
        }
        self.stored(path)
    }
}
