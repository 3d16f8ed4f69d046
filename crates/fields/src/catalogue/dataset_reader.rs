//! The readers of a handle: open datasets with their cached collocations and axes.
//!
//! Each cached value belongs to the epoch at which it was read, and is read again when the container has changed. So an
//! open handle sees what others flush, for the cost of one epoch lookup.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use isotach_mars::Key;
use isotach_object::{Cell, Epoch, Error as ObjectError, ObjectId};

use crate::{
    Error, Result,
    catalogue::{
        collocation::{Axes, Collocation, CollocationObjects},
        dataset::Dataset,
        layout::{COLLOCATION, DATASET, ENTRY_TRANSACTION, kv_of, parse_collocation_text, value_of_axis_key},
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
    collocations: Mutex<Option<(Epoch, Arc<Collocations>)>>,
    /// The index objects of the collocations used last, to save hashing their names again.
    indexes: Mutex<HashMap<Box<str>, ObjectId>>,
    last_transaction: Mutex<Option<(Epoch, Mark)>>,
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

    pub(crate) fn last_transaction_now(&self) -> Result<Mark> {
        let epoch = self.dataset.catalogue.epoch()?;
        let mut cached = lock(&self.last_transaction);
        if let Some((at, mark)) = &*cached
            && *at >= epoch
        {
            return Ok(mark.clone());
        }
        let mark = self.dataset.catalogue.get_many(&[Cell::kv(DATASET, ENTRY_TRANSACTION)])?;
        let mark = mark.into_iter().flatten().next().map(Arc::from);
        *cached = Some((epoch, mark.clone()));
        Ok(mark)
    }

    pub(crate) fn collocations_now(&self) -> Result<Arc<Collocations>> {
        let epoch = self.dataset.catalogue.epoch()?;
        let before = lock(&self.collocations).clone();
        if let Some((at, known)) = &before
            && *at >= epoch
        {
            return Ok(Arc::clone(known));
        }
        let known = before.as_ref().map(|(_, known)| &**known);
        let now = Arc::new(Stored::new(self.read_collocations(known)?, |collocation| &collocation.text));
        *lock(&self.collocations) = Some((epoch, Arc::clone(&now)));
        Ok(now)
    }

    fn read_collocations(&self, known: Option<&Collocations>) -> Result<Vec<Arc<Collocation>>> {
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
        Ok(collocations)
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
            names: names.into(),
            whole: Arc::new(whole),
            axes: Mutex::default(),
        })
    }

    pub(crate) fn axes_now(&self, collocation: &Collocation) -> Result<Arc<Axes>> {
        let epoch = self.dataset.catalogue.epoch()?;
        let mut cached = lock(&collocation.axes);
        if let Some((at, axes)) = &*cached
            && *at >= epoch
        {
            return Ok(Arc::clone(axes));
        }
        let axes = Arc::new(self.read_axes(collocation)?);
        *cached = Some((epoch, Arc::clone(&axes)));
        Ok(axes)
    }

    fn read_axes(&self, collocation: &Collocation) -> Result<Axes> {
        let mut axes = Axes::default();
        for (name, object) in collocation.names.iter().zip(&collocation.objects.axes) {
            let mut values = BTreeSet::new();
            for_each(&*self.dataset.catalogue, *object, |key, _| {
                let value = value_of_axis_key(key).and_then(|value| Key::from_joined([&**name], value));
                let value =
                    value.ok_or_else(|| ObjectError::corrupt(format!("axis {name}"), self.place()))?;
                values.insert(value.get(name).unwrap_or_default().to_owned());
                Ok(())
            })?;
            axes.0.push((name.clone(), values));
        }
        Ok(axes)
    }

    /// Whether an error was caused by a wipe of the dataset while it was read.
    pub(crate) fn was_wiped(&self, error: &Error) -> bool {
        matches!(error, Error::Object(ObjectError::NotFound { .. })) && !self.is_listed()
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
