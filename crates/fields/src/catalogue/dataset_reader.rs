//! The readers of a handle: open datasets with their cached collocations and axes.
//!
//! Each cached value belongs to the epoch at which it was read, and is read again when the container has changed. So an
//! open handle sees what others flush, for the cost of one epoch lookup.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use isotach_object::{Cell, Epoch, Error as ObjectError, ObjectId};

use crate::{
    Error, Result,
    catalogue::{
        collocation::{Cached, Collocation, CollocationObjects, repeats_names},
        dataset::Dataset,
        layout::{COLLOCATION, DATASET, ENTRY_TRANSACTION, kv_of, parse_collocation_text},
        root::for_each,
        stored::Stored,
    },
    sync::lock,
};

/// The number of index objects that a reader caches.
const INDEXES_MAX: usize = 1024;

/// The datasets that a handle reads, by incarnation and root.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    pub(crate) open: Mutex<HashMap<(usize, u64), Arc<DatasetReader>>>,
    pub(crate) uses: AtomicU64,
    /// The epoch of each root when its readers were last checked for wiped datasets.
    pub(crate) looked: Mutex<HashMap<usize, Epoch>>,
}

impl Readers {
    /// The number of open datasets.
    pub(crate) fn count(&self) -> usize {
        lock(&self.open).len()
    }

    /// Closes the readers that are unused for longest until `left` remain. A reader in use stays valid.
    pub(crate) fn close_oldest(&self, left: usize) {
        let mut open = lock(&self.open);
        while open.len() > left
            && let Some(oldest) =
                open.iter().min_by_key(|(_, r)| r.used.load(Ordering::Relaxed)).map(|(id, _)| *id)
        {
            open.remove(&oldest);
        }
    }
}

/// The collocations of a dataset.
pub(crate) type Collocations = Stored<Arc<Collocation>>;

/// The value that a dataset's last transaction left in it, unique to that transaction. `None` before the first.
pub(crate) type Mark = Option<Arc<[u8]>>;

/// A dataset that is being read.
#[derive(Debug)]
pub(crate) struct DatasetReader {
    pub(crate) dataset: Dataset,
    pub(super) collocations: Cached<Arc<Collocations>>,
    /// The index objects of the collocations used last, to save hashing their names again.
    indexes: Mutex<HashMap<Box<str>, ObjectId>>,
    pub(super) last_transaction: Cached<Mark>,
    pub(crate) used: AtomicU64,
}

impl DatasetReader {
    pub(crate) fn new(dataset: Dataset, used: u64) -> Self {
        Self {
            dataset,
            collocations: Mutex::default(),
            indexes: Mutex::default(),
            last_transaction: Mutex::default(),
            used: AtomicU64::new(used),
        }
    }

    /// The cached value, or what `read` makes of it if the container has changed since.
    pub(super) fn cached<T: Clone>(
        &self,
        cache: &Cached<T>,
        read: impl FnOnce(Option<T>) -> Result<T>,
    ) -> Result<T> {
        let epoch = self.dataset.catalogue.epoch()?;
        let known = match lock(cache).clone() {
            Some((at, value)) if at >= epoch => return Ok(value),
            known => known.map(|(_, value)| value),
        };
        let value = read(known)?;
        *lock(cache) = Some((epoch, value.clone()));
        Ok(value)
    }

    pub(super) fn read_last_transaction(&self) -> Result<Mark> {
        let mark = self.dataset.catalogue.get_many(&[Cell::kv(DATASET, ENTRY_TRANSACTION)])?;
        Ok(mark.into_iter().flatten().next().map(Arc::from))
    }

    pub(super) fn read_collocations(&self, known: Option<&Collocations>) -> Result<Arc<Collocations>> {
        let mut collocations = Vec::new();
        for_each(&*self.dataset.catalogue, DATASET, |key, _| {
            let Some((&COLLOCATION, text)) = key.split_first() else { return Ok(()) };
            let text = std::str::from_utf8(text).ok();
            // A known collocation keeps its cached axes.
            let collocation = text.and_then(|text| {
                known
                    .and_then(|known| known.get(text))
                    .cloned()
                    .or_else(|| self.collocation(text).map(Arc::new))
            });
            collocations.push(collocation.ok_or_else(|| {
                let name = String::from_utf8_lossy(key).into_owned();
                ObjectError::corrupt(format!("the entry of collocation {name:?}"), self.place())
            })?);
            Ok(())
        })?;
        Ok(Arc::new(Stored::new(collocations, |collocation| &collocation.text)))
    }

    /// The index object of the collocation with this text, whether it exists or not.
    pub(crate) fn index_of(&self, collocation: &str) -> ObjectId {
        let mut indexes = lock(&self.indexes);
        if let Some(index) = indexes.get(collocation) {
            return *index;
        }
        if indexes.len() >= INDEXES_MAX {
            indexes.clear();
        }
        let index = kv_of(collocation, "");
        indexes.insert(collocation.into(), index);
        index
    }

    /// The collocation with this text, whether it exists or not.
    pub(crate) fn collocation(&self, text: &str) -> Option<Collocation> {
        let (key, names) = parse_collocation_text(text)?;
        let mut whole = self.dataset.entry.key.clone();
        whole.extend_from(&key);
        Some(Collocation {
            text: text.into(),
            objects: CollocationObjects::new(text, names.iter().map(|name| &**name)),
            key,
            repeats_names: repeats_names(&whole, &names),
            names: names.into(),
            whole: Arc::new(whole),
            axes: Mutex::default(),
            axes_in_part: Mutex::default(),
        })
    }

    /// Whether an error was caused by a wipe of the dataset while it was read.
    pub(crate) fn was_wiped(&self, error: &Error) -> bool {
        matches!(error, Error::Object(ObjectError::NotFound { .. })) && !self.is_listed()
    }

    /// The result of reading the dataset; `None` if it was wiped meanwhile.
    pub(crate) fn unless_wiped<T>(&self, read: Result<T>) -> Result<Option<T>> {
        match read {
            Err(error) if self.was_wiped(&error) => Ok(None),
            read => read.map(Some).map_err(|error| self.failed(error)),
        }
    }

    /// Whether the root lists the dataset. True if that is unknown.
    pub(crate) fn is_listed(&self) -> bool {
        !matches!(self.dataset.root.same_incarnation(&self.dataset.entry), Ok(None))
    }

    /// An error of reading the dataset, not caused by a wipe.
    pub(crate) fn failed(&self, error: Error) -> Error {
        Error::of_listed(&self.dataset.entry.key, error)
    }

    /// The dataset's container of the catalogue, for messages.
    pub(crate) fn place(&self) -> String {
        format!("container {} of {}", self.dataset.catalogue.label(), self.dataset.root.uri())
    }
}
