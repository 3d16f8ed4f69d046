//! A dataset's container: making it, finding it, and the containers behind it.
//!
//! Each life of a dataset has containers of its own, under a label that is never used again. So whoever destroys them,
//! however late, destroys nothing of another life, and several that make a dataset at once each make their own: the
//! root's entry, put if absent, decides whose it is, and the others destroy theirs, which nobody else knows.

use std::sync::Arc;

use isotach_mars::{Key, Schema};
use isotach_object::{
    Cell, Container, ContainerOptions, Error as ObjectError, KeyValue, Label, NewRights, Pool, Update,
};

use crate::{
    Error, Result,
    admin::locks::Locks,
    catalogue::{
        layout::{
            DATASET, ENTRY_ABANDONED, ENTRY_KEY, ENTRY_RECORD, ENTRY_SCHEMA, label_of, named_text,
            new_incarnation,
        },
        location::ContainerUri,
        record::Record,
        root::{Entry, Root},
    },
    store::Inner,
    sync::now_us,
};

/// How often the making of a dataset is tried when others wipe and make it at the same time.
const ATTEMPTS: u32 = 64;

/// Where a dataset is to be made: the root that lists it and the pool of its store.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(crate) root: Arc<Root>,
    pub(crate) store: Arc<dyn Pool>,
}

impl Home {
    /// Whether catalogue and store are one pool, and so each dataset one container.
    fn is_one_pool(&self) -> bool {
        self.root.uri() == self.store.uri()
    }

    /// Destroys containers that the root never listed. What fails is left for a sweep, which knows them by their age.
    fn destroy(&self, label: &Label) {
        if !self.is_one_pool() {
            let _ = destroy(&*self.store, label);
        }
        let _ = destroy(&*self.root.pool, label);
    }
}

/// Destroys a container. One that is not there is as good.
pub(crate) fn destroy(pool: &dyn Pool, label: &Label) -> Result<()> {
    match pool.destroy_container(label) {
        Ok(()) | Err(ObjectError::NotFound { .. }) => Ok(()),
        Err(error) => Err(Error::Object(error)),
    }
}

/// A dataset's containers, opened.
#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    pub(crate) entry: Arc<Entry>,
    pub(crate) root: Arc<Root>,
    /// The container of the catalogue.
    pub(crate) catalogue: Arc<dyn Container>,
    /// The container of the store; the same handle as `catalogue` when the pools are the same.
    pub(crate) store: Arc<dyn Container>,
    /// What the store's container is called in locations.
    pub(crate) uri: Arc<ContainerUri>,
    /// The schema that governs the dataset.
    pub(crate) schema: Schema,
}

impl Dataset {
    /// Opens new handles on the containers of a dataset that the root lists.
    fn open(inner: &Inner, root: &Arc<Root>, entry: &Arc<Entry>) -> Result<Self> {
        let record = &entry.record;
        let label: Label = record.label.parse()?;
        let catalogue = root.open_listed(&*root.pool, &label)?;
        let (store, pool) = if record.store.is_empty() {
            (Arc::clone(&catalogue), root.uri().clone())
        } else {
            let pool = inner.pool(&record.store.parse()?)?;
            (root.open_listed(&*pool, &label)?, pool.uri().clone())
        };
        let schema = inner.schema_of(record.schema, || read_schema(&*catalogue))?;
        Ok(Self {
            entry: Arc::clone(entry),
            root: Arc::clone(root),
            catalogue,
            store,
            uri: Arc::new(ContainerUri { pool, label }),
            schema,
        })
    }

    /// As `open`, or `None` if the dataset was wiped after the root was looked at.
    pub(crate) fn open_unless_wiped(
        inner: &Inner,
        root: &Arc<Root>,
        entry: &Arc<Entry>,
    ) -> Result<Option<Self>> {
        let opened = Self::open(inner, root, entry);
        if opened.is_err() {
            // Whatever it is, it is no failure if the dataset went while it was opened.
            let now = root.lookup(&entry.text)?;
            if now.is_none_or(|now| now.record.incarnation != entry.record.incarnation) {
                return Ok(None);
            }
        }
        opened.map(Some).map_err(|error| Error::of_listed(&entry.key, error))
    }

    /// Whether the bytes and the index are in one container.
    pub(crate) fn is_one_container(&self) -> bool {
        self.entry.record.store.is_empty()
    }

    /// Whether a wipe of a collocation removes the index and the bytes in one transaction.
    pub(crate) fn is_wiped_at_once(&self) -> bool {
        self.is_one_container() && self.catalogue.capabilities().transactions
    }
}

fn read_schema(catalogue: &dyn Container) -> Result<String> {
    let text = KeyValue::new(catalogue, DATASET)?.get(ENTRY_SCHEMA)?.unwrap_or_default();
    let corrupt =
        |_| ObjectError::corrupt("the schema of the dataset", format!("container {}", catalogue.label()));
    Ok(String::from_utf8(text).map_err(corrupt)?)
}

/// Makes the dataset `key` at `home`, or finds the one that another process made meanwhile.
pub(crate) fn create(home: &Home, key: &Key, schema: &Schema, rule: &str) -> Result<Arc<Entry>> {
    let text = named_text(key);
    for _ in 0..ATTEMPTS {
        if let Some(entry) = home.root.lookup(&text)? {
            return Ok(entry);
        }
        let incarnation = new_incarnation();
        let label = label_of(key, incarnation)?;
        let record = Record {
            incarnation,
            created_us: now_us(),
            schema: schema.digest(),
            label: label.to_string(),
            store: if home.is_one_pool() { String::new() } else { home.store.uri().to_string() },
            rule: rule.to_owned(),
            ..Record::default()
        };
        make_containers(home, &label, &text, schema, &record)?;
        let (text, key) = (text.as_str().into(), key.clone());
        let (locks, forbidden) = (Locks::default(), home.root.limits.of(&key));
        let entry = Arc::new(Entry { text, key, record, locks, forbidden });
        if home.root.insert(&entry.text, &entry.record)? {
            if !was_swept(home, &label)? {
                return Ok(entry);
            }
            // A sweep found the containers before they were listed, or a wipe since: the entry must not stay.
            home.root.remove(&entry, None)?;
        }
        home.destroy(&label);
    }
    let what = format!("dataset {key}: others wiped it again and again while it was made");
    Err(Error::Object(ObjectError::Conflict { what }))
}

/// Makes the containers of a dataset, and writes into the catalogue's what they are. The store's comes after that, so
/// that whatever a kill leaves of the two is known by the catalogue's.
fn make_containers(home: &Home, label: &Label, text: &str, schema: &Schema, record: &Record) -> Result<()> {
    let rights = home.root.rights_of_new()?;
    create_container(&*home.root.pool, label, &rights)?;
    let made = describe(home, label, text, schema, record).and_then(|()| match home.is_one_pool() {
        true => Ok(()),
        false => create_container(&*home.store, label, &rights),
    });
    if made.is_err() {
        let _ = destroy(&*home.root.pool, label);
    }
    made
}

/// Makes a container with these rights, as far as its engine has any.
fn create_container(pool: &dyn Pool, label: &Label, rights: &NewRights) -> Result<()> {
    let options = match pool.facets().access_control {
        Some(_) => ContainerOptions::with_rights(rights.clone()),
        None => ContainerOptions::default(),
    };
    Ok(pool.create_container(label, &options)?)
}

fn describe(home: &Home, label: &Label, text: &str, schema: &Schema, record: &Record) -> Result<()> {
    let container = home.root.pool.open_container(label)?;
    let record = record.encode();
    let put = |name: &'static [u8], value| Update::Put { cell: Cell::kv(DATASET, name), value };
    // The record comes last: where it is, the rest is too.
    container.update(&[
        put(ENTRY_SCHEMA, schema.source().as_bytes()),
        put(ENTRY_KEY, text.as_bytes()),
        put(ENTRY_RECORD, &record),
    ])?;
    container.flush()?;
    Ok(())
}

/// Whether a container carries the mark of a sweep, or is gone altogether.
fn was_swept(home: &Home, label: &Label) -> Result<bool> {
    let container = home.root.pool.open_container(label);
    let mark = container.and_then(|container| KeyValue::new(&*container, DATASET)?.get(ENTRY_ABANDONED));
    match mark {
        Ok(mark) => Ok(mark.is_some()),
        Err(ObjectError::NotFound { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}
