//! Opening datasets, and reading their catalogues within the handle budget.

use std::sync::{Arc, atomic::Ordering};

use isotach_object::{Anchor, Cell, Container, Error as ObjectError, KeyValue, Label, ObjectId, Page, Pool};

use crate::{
    Error, Result,
    catalogue::{
        dataset::Dataset,
        dataset_reader::{Collocations, DatasetReader, Mark},
        layout::{DATASET, ENTRY_SCHEMA},
        location::ContainerUri,
        record::Record,
        root::{Entry, Root},
    },
    store::Inner,
    sync::lock,
};

/// How many entries a page of a long listing holds.
const PAGE: usize = 4096;

impl Inner {
    /// The pools of a dataset's containers: the catalogue's, and the store's if that is another one.
    pub(crate) fn pools_of(&self, root: &Root, record: &Record) -> Result<Vec<Arc<dyn Pool>>> {
        let mut pools = vec![Arc::clone(&root.pool)];
        if !record.store.is_empty() {
            pools.push(self.pool(&record.store.parse()?)?);
        }
        Ok(pools)
    }

    /// The size of a dataset's containers, in bytes of storage.
    pub(crate) fn size_of(&self, root: &Root, record: &Record) -> Result<u64> {
        let (pools, label) = (self.pools_of(root, record)?, record.label.parse()?);
        pools.iter().map(|pool| self.with_handles(|| Ok(pool.container_size(&label)?))).sum()
    }

    /// New handles on the containers of a dataset, the catalogue's first.
    pub(crate) fn open_apart(&self, root: &Root, record: &Record) -> Result<Vec<Arc<dyn Container>>> {
        let (pools, label) = (self.pools_of(root, record)?, record.label.parse()?);
        pools.iter().map(|pool| self.with_handles(|| Ok(pool.open_container(&label)?))).collect()
    }

    /// A reader of a dataset. `None` if the dataset was wiped after the root was read.
    pub(crate) fn reader(&self, root: &Arc<Root>, entry: &Arc<Entry>) -> Result<Option<Arc<DatasetReader>>> {
        let id = (Arc::as_ptr(root) as usize, entry.record.incarnation);
        let now = self.readers.uses.fetch_add(1, Ordering::Relaxed);
        if let Some(reader) = lock(&self.readers.open).get(&id) {
            reader.used.store(now, Ordering::Relaxed);
            return Ok(Some(Arc::clone(reader)));
        }
        let opened = self.with_handles(|| self.open_dataset(root, entry))?;
        let Some(dataset) = opened else { return Ok(None) };
        self.close_wiped(root)?;
        // Reading its fields needs no further handle.
        self.containers.keep(&dataset.uri, &dataset.store, self.budget.readers_max());
        let reader = Arc::new(DatasetReader::new(dataset, now));
        self.readers.close_oldest(self.budget.readers_max().saturating_sub(1));
        Ok(Some(Arc::clone(lock(&self.readers.open).entry(id).or_insert(reader))))
    }

    /// Closes the wiped datasets of this root: their open files take space on the disk.
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

    /// Opens new handles on the containers of a dataset that the root lists.
    fn open_listed_dataset(&self, root: &Arc<Root>, entry: &Arc<Entry>) -> Result<Dataset> {
        let record = &entry.record;
        let label: Label = record.label.parse()?;
        let catalogue = root.open_listed(&*root.pool, &label)?;
        let (store, pool) = if record.store.is_empty() {
            (Arc::clone(&catalogue), root.uri().clone())
        } else {
            let pool = self.pool(&record.store.parse()?)?;
            (root.open_listed(&*pool, &label)?, pool.uri().clone())
        };
        let schema = self.schema_of(record.schema, || read_schema(&*catalogue))?;
        Ok(Dataset {
            entry: Arc::clone(entry),
            root: Arc::clone(root),
            catalogue,
            store,
            uri: Arc::new(ContainerUri { pool, label }),
            schema,
        })
    }

    /// Opens a dataset that the root lists. `None` if it was wiped after the root was read.
    pub(crate) fn open_dataset(&self, root: &Arc<Root>, entry: &Arc<Entry>) -> Result<Option<Dataset>> {
        let opened = self.open_listed_dataset(root, entry);
        if opened.is_err() {
            // No failure if the dataset was wiped while it was opened.
            let now = root.lookup(&entry.text)?;
            if now.is_none_or(|now| now.record.incarnation != entry.record.incarnation) {
                return Ok(None);
            }
        }
        opened.map(Some).map_err(|error| Error::of_listed(&entry.key, error))
    }
}

fn read_schema(catalogue: &dyn Container) -> Result<String> {
    let text = KeyValue::new(catalogue, DATASET)?.get(ENTRY_SCHEMA)?.unwrap_or_default();
    let corrupt =
        |_| ObjectError::corrupt("the schema of the dataset", format!("container {}", catalogue.label()));
    Ok(String::from_utf8(text).map_err(corrupt)?)
}

impl DatasetReader {
    /// The value of the dataset's last transaction, as it is now.
    pub(crate) fn last_transaction(&self, inner: &Inner) -> Result<Mark> {
        inner.with_handles(|| self.cached(&self.last_transaction, |_| self.read_last_transaction()))
    }

    /// The dataset's collocations, as they are now.
    pub(crate) fn collocations(&self, inner: &Inner) -> Result<Arc<Collocations>> {
        inner.with_handles(|| {
            self.cached(&self.collocations, |known| self.read_collocations(known.as_deref()))
        })
    }

    /// The values of cells of the catalogue.
    pub(crate) fn get_many(&self, inner: &Inner, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        inner.with_handles(|| Ok(self.dataset.catalogue.get_many(cells)?))
    }

    /// A page of a key-value object of the catalogue.
    pub(crate) fn page(&self, inner: &Inner, object: ObjectId, anchor: &Anchor) -> Result<Page> {
        inner.with_handles(|| Ok(self.dataset.catalogue.list_entries(object, anchor, PAGE, true)?))
    }

    /// Calls `each` with every page of a key-value object of the catalogue.
    pub(crate) fn for_pages(
        &self,
        inner: &Inner,
        object: ObjectId,
        mut each: impl FnMut(&Page) -> Result<()>,
    ) -> Result<()> {
        let mut next = Some(Anchor::start());
        while let Some(anchor) = next {
            let page = self.page(inner, object, &anchor)?;
            each(&page)?;
            next = page.next().cloned();
        }
        Ok(())
    }
}
