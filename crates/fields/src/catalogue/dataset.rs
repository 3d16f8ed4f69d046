//! Creating a dataset's containers, and the handles on them.
//!
//! Each incarnation of a dataset has its own containers, under a label that is never used again. So a late wiper
//! destroys nothing of another incarnation. Processes that create a dataset at the same time each create their own
//! containers. The root's entry, put if absent, decides which are used, and the others destroy theirs, which nobody
//! else knows.

use std::sync::Arc;

use isotach_mars::{Key, Schema};
use isotach_object::{
    Cell, Container, ContainerOptions, Error as ObjectError, KeyValue, Label, NewRights, Pool, Update,
};

use crate::{
    Error, Result,
    catalogue::{
        layout::{
            DATASET, ENTRY_ABANDONED, ENTRY_KEY, ENTRY_RECORD, ENTRY_SCHEMA, label_of, named_text,
            new_incarnation,
        },
        location::ContainerUri,
        locks::Locks,
        record::Record,
        root::{Entry, Root},
    },
    sync::now_us,
};

/// How often the creation of a dataset is tried while others wipe and create it.
const ATTEMPTS: u32 = 64;

/// The place of a new dataset: the root that lists it and the pool of its store.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(crate) root: Arc<Root>,
    pub(crate) store: Arc<dyn Pool>,
}

impl Home {
    /// Whether catalogue and store share a pool, so that each dataset is one container.
    fn is_one_pool(&self) -> bool {
        self.root.uri() == self.store.uri()
    }

    /// Destroys containers that the root never listed. A sweep later finds by their age what cannot be destroyed now.
    fn destroy(&self, label: &Label) {
        if !self.is_one_pool() {
            let _ = destroy(&*self.store, label);
        }
        let _ = destroy(&*self.root.pool, label);
    }
}

/// Destroys a container, if it exists.
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
    /// The store's container as locations name it.
    pub(crate) uri: Arc<ContainerUri>,
    /// The schema that governs the dataset.
    pub(crate) schema: Schema,
}

impl Dataset {
    /// Whether the bytes and the index are in one container.
    pub(crate) fn is_one_container(&self) -> bool {
        self.entry.record.store.is_empty()
    }

    /// Whether a wipe of a collocation removes the index and the bytes in one transaction.
    pub(crate) fn is_wiped_atomically(&self) -> bool {
        self.is_one_container() && self.catalogue.capabilities().transactions
    }
}

/// Creates the dataset `key` at `home`, or returns the one that another process created meanwhile.
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
            // A sweep found the containers before they were listed, or a wipe did since. The entry must not stay.
            home.root.remove(&entry, None)?;
        }
        home.destroy(&label);
    }
    let what = format!("dataset {key}: others wiped it again and again while it was made");
    Err(Error::Object(ObjectError::Conflict { what }))
}

/// Creates the containers of a dataset, and writes its description into the catalogue's. The store's container is
/// created after that, so that a sweep finds both after a kill.
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

/// Creates a container with these rights, if its engine has rights.
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
    // The record comes last: if it exists, the rest does too.
    container.update(&[
        put(ENTRY_SCHEMA, schema.source().as_bytes()),
        put(ENTRY_KEY, text.as_bytes()),
        put(ENTRY_RECORD, &record),
    ])?;
    container.flush()?;
    Ok(())
}

/// Whether a sweep has marked or destroyed a container.
fn was_swept(home: &Home, label: &Label) -> Result<bool> {
    let container = home.root.pool.open_container(label);
    let mark = container.and_then(|container| KeyValue::new(&*container, DATASET)?.get(ENTRY_ABANDONED));
    match mark {
        Ok(mark) => Ok(mark.is_some()),
        Err(ObjectError::NotFound { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}
