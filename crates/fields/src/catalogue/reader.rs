//! What a handle keeps of the datasets it reads: open containers, collocations, axes.
//!
//! Everything kept is tied to the epoch it was read at, and read again when the container has moved on. So a handle that
//! is open sees what others flush, at the cost of one look at the epoch.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use isotach_mars::{Key, LevelFilter};
use isotach_object::{Anchor, Cell, Epoch, Error as ObjectError, ObjectId, Page};

use crate::{
    Error, Result,
    archive::batch::CollocationObjects,
    catalogue::{
        axes::by_size,
        dataset::Dataset,
        layout::{COLLOCATION, DATASET, ENTRY_TRANSACTION, kv_of, parse_collocation_text, value_of_axis_key},
        root::{Entry, Root, for_each},
        select::Stored,
    },
    store::Inner,
    sync::lock,
};

/// How many entries a page of a long listing holds.
const PAGE: usize = 4096;

/// How many names of index objects a reader keeps.
const INDEXES_MAX: usize = 1024;

/// The datasets that a handle reads, by incarnation and root.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    open: Mutex<HashMap<(usize, u64), Arc<DatasetReader>>>,
    uses: AtomicU64,
    /// The epoch of each root when it was last looked which datasets were wiped.
    looked: Mutex<HashMap<usize, Epoch>>,
}

impl Readers {
    /// How many datasets are open.
    pub(crate) fn count(&self) -> usize {
        lock(&self.open).len()
    }

    /// Closes those not used for longest, until so many are left. Whoever uses one of them goes on with it.
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

impl Inner {
    /// A reader of a dataset. None if the dataset was wiped after the root was looked at.
    pub(crate) fn reader(&self, root: &Arc<Root>, entry: &Arc<Entry>) -> Result<Option<Arc<DatasetReader>>> {
        let id = (Arc::as_ptr(root) as usize, entry.record.incarnation);
        let now = self.readers.uses.fetch_add(1, Ordering::Relaxed);
        if let Some(reader) = lock(&self.readers.open).get(&id) {
            reader.used.store(now, Ordering::Relaxed);
            return Ok(Some(Arc::clone(reader)));
        }
        let opened = self.with_room(|| Dataset::open_unless_wiped(self, root, entry))?;
        let Some(dataset) = opened else { return Ok(None) };
        self.close_wiped(root)?;
        // Reading its fields needs no handle of its own.
        self.containers.keep(&dataset.uri, &dataset.store, self.room.readers_max());
        let reader = Arc::new(DatasetReader::new(dataset, now));
        self.readers.close_oldest(self.room.readers_max().saturating_sub(1));
        Ok(Some(Arc::clone(lock(&self.readers.open).entry(id).or_insert(reader))))
    }

    /// Closes the datasets of this root that were wiped: while their files are open, their room on the disk is not free.
    fn close_wiped(&self, root: &Arc<Root>) -> Result<()> {
        let (root, epoch) = (Arc::as_ptr(root) as usize, root.epoch()?);
        if lock(&self.readers.looked).insert(root, epoch) == Some(epoch) {
            return Ok(());
        }
        let open = lock(&self.readers.open).clone();
        for (id, reader) in open.iter().filter(|((of, _), reader)| *of == root && !reader.is_listed()) {
            lock(&self.readers.open).remove(id);
            self.containers.forget(&reader.dataset.uri);
        }
        Ok(())
    }
}

/// The collocations of a dataset.
pub(crate) type Collocations = Stored<Arc<Collocation>>;

/// What a transaction leaves in its dataset, which no other leaves; None before the first.
pub(crate) type Mark = Option<Arc<[u8]>>;

/// A dataset that is being read.
#[derive(Debug)]
pub(crate) struct DatasetReader {
    pub(crate) dataset: Dataset,
    collocations: Mutex<Option<(Epoch, Arc<Collocations>)>>,
    /// The index objects of collocations looked into lately, to save working out their names again.
    indexes: Mutex<HashMap<Box<str>, ObjectId>>,
    last_transaction: Mutex<Option<(Epoch, Mark)>>,
    used: AtomicU64,
}

/// A collocation of a dataset.
#[derive(Debug)]
pub(crate) struct Collocation {
    pub(crate) text: Box<str>,
    pub(crate) key: Key,
    /// The names of its elements' keys.
    pub(crate) names: Arc<[Box<str>]>,
    pub(crate) objects: CollocationObjects,
    /// Its key with the dataset's in front; shared by all its fields.
    pub(crate) whole: Arc<Key>,
    axes: Mutex<Option<(Epoch, Arc<Axes>)>>,
}

/// The values that the elements of a collocation have, for each of their keys; empty for an absent one.
#[derive(Debug, Default)]
pub(crate) struct Axes(pub(crate) Vec<(Box<str>, BTreeSet<String>)>);

impl Axes {
    /// Whether some element has this value of this key.
    pub(crate) fn contains(&self, name: &str, value: &str) -> bool {
        self.0.iter().find(|(known, _)| **known == *name).is_some_and(|(_, values)| values.contains(value))
    }

    /// The values that elements have of this key, numbers by size and an absent value first.
    pub(crate) fn values(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().find(|(known, _)| **known == *name).map(|(_, values)| values);
        let mut values: Vec<String> = values.into_iter().flatten().cloned().collect();
        values.sort_by(|a, b| by_size(a, b));
        values.sort_by_key(|value| !value.is_empty());
        values
    }

    /// Whether a filter wants some value of every axis. If not, none of the elements is wanted.
    pub(crate) fn may_match(&self, filter: &LevelFilter) -> bool {
        self.0.iter().all(|(name, values)| values.iter().any(|value| filter.matches_value(name, value)))
    }
}

impl DatasetReader {
    fn new(dataset: Dataset, used: u64) -> Self {
        Self {
            dataset,
            collocations: Mutex::default(),
            indexes: Mutex::default(),
            last_transaction: Mutex::default(),
            used: AtomicU64::new(used),
        }
    }

    /// What each transaction of the dataset changes, as it is now.
    pub(crate) fn last_transaction(&self, inner: &Inner) -> Result<Mark> {
        inner.with_room(|| self.last_transaction_now())
    }

    fn last_transaction_now(&self) -> Result<Mark> {
        let epoch = self.dataset.catalogue.epoch()?;
        let mut kept = lock(&self.last_transaction);
        if let Some((at, mark)) = &*kept
            && *at >= epoch
        {
            return Ok(mark.clone());
        }
        let mark = self.dataset.catalogue.get_many(&[Cell::kv(DATASET, ENTRY_TRANSACTION)])?;
        let mark = mark.into_iter().flatten().next().map(Arc::from);
        *kept = Some((epoch, mark.clone()));
        Ok(mark)
    }

    /// The dataset's collocations, as they are now.
    pub(crate) fn collocations(&self, inner: &Inner) -> Result<Arc<Collocations>> {
        inner.with_room(|| self.collocations_now())
    }

    fn collocations_now(&self) -> Result<Arc<Collocations>> {
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
            // One that is known already keeps its axes.
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

    /// What cells of the catalogue hold.
    pub(crate) fn get_many(&self, inner: &Inner, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        inner.with_room(|| Ok(self.dataset.catalogue.get_many(cells)?))
    }

    /// A page of a key-value object of the catalogue.
    pub(crate) fn page(&self, inner: &Inner, object: ObjectId, anchor: &Anchor) -> Result<Page> {
        inner.with_room(|| Ok(self.dataset.catalogue.list_entries(object, anchor, PAGE, true)?))
    }

    /// The index of the collocation with this text, whether it is there or not.
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

    /// The collocation with this text, whether it is there or not.
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

    /// The axes of a collocation, as they are now.
    pub(crate) fn axes(&self, inner: &Inner, collocation: &Collocation) -> Result<Arc<Axes>> {
        inner.with_room(|| self.axes_now(collocation))
    }

    fn axes_now(&self, collocation: &Collocation) -> Result<Arc<Axes>> {
        let epoch = self.dataset.catalogue.epoch()?;
        let mut kept = lock(&collocation.axes);
        if let Some((at, axes)) = &*kept
            && *at >= epoch
        {
            return Ok(Arc::clone(axes));
        }
        let axes = Arc::new(self.read_axes(collocation)?);
        *kept = Some((epoch, Arc::clone(&axes)));
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

    /// Whether an error comes of the dataset having been wiped while it was read: what is not there is no error.
    pub(crate) fn was_wiped(&self, error: &Error) -> bool {
        matches!(error, Error::Object(ObjectError::NotFound { .. })) && !self.is_listed()
    }

    /// Whether the root lists it, as far as that can be told.
    fn is_listed(&self) -> bool {
        !matches!(self.dataset.root.same_life(&self.dataset.entry), Ok(None))
    }

    /// An error of reading the dataset that [`DatasetReader::was_wiped`] does not explain.
    pub(crate) fn failed(&self, error: Error) -> Error {
        Error::of_listed(&self.dataset.entry.key, error)
    }

    /// The dataset's container of the catalogue, for messages.
    pub(crate) fn place(&self) -> String {
        format!("container {} of {}", self.dataset.catalogue.label(), self.dataset.root.uri())
    }
}

impl Collocation {
    /// The same collocation as part of another dataset.
    pub(crate) fn shown_in(&self, dataset: &Key) -> Self {
        let mut whole = dataset.clone();
        whole.extend_from(&self.key);
        Self {
            text: self.text.clone(),
            key: self.key.clone(),
            names: Arc::clone(&self.names),
            objects: self.objects.clone(),
            whole: Arc::new(whole),
            axes: Mutex::default(),
        }
    }

    /// Whether its elements have the keys that a filter speaks of.
    pub(crate) fn has_elements(&self, filter: &LevelFilter) -> bool {
        filter.names().eq(self.names.iter().map(|name| &**name))
    }

    /// The whole key of the field with this element text.
    pub(crate) fn field_key(&self, element: &str) -> Option<Key> {
        let element = Key::from_joined(self.names.iter().map(|name| &**name), element)?;
        let mut key = (*self.whole).clone();
        key.extend_from(&element);
        Some(key)
    }
}
