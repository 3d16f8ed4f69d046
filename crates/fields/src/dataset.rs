//! A dataset's container: making it, finding it, and the containers behind it.
//!
//! Two processes that make the same dataset at once agree without a lock: the first to set the dataset's description
//! in its container wins there, and the first to add it to the root wins there; everyone then uses what stands.
//! The root's entry comes last, so what a crash leaves is a container that nobody lists and the next creator takes.

use std::sync::Arc;

use isotach_mars::{Key, Schema};
use isotach_object::{Cell, Container, Error as ObjectError, KeyValue, Label, Pool, Precondition, Update};

use crate::{
    Error, Result,
    bytes::Reader,
    control::Locks,
    layout::{
        DATASET, ENTRY_KEY, ENTRY_RULE, ENTRY_SCHEMA, ENTRY_VERSION, ENTRY_WIPED, VERSION, label_of,
        named_text,
    },
    location::ContainerUri,
    record::Record,
    root::{Entry, Root, commit_all},
    store::Inner,
    sweep,
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
        let catalogue = root.pool.open_container(&label)?;
        let (store, pool) = if record.store.is_empty() {
            (Arc::clone(&catalogue), root.uri().clone())
        } else {
            let pool = inner.pool(&record.store.parse()?)?;
            (pool.open_container(&label)?, pool.uri().clone())
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
    let mut taken = Vec::new();
    for attempt in 0..ATTEMPTS {
        if let Some(entry) = home.root.lookup(&text)? {
            return Ok(entry);
        }
        let label = label_of(key, attempt)?;
        let record = match prepare(home, key, &label, schema, rule) {
            Ok(Some(record)) => record,
            Ok(None) => {
                taken.push(label);
                continue;
            }
            // A wipe destroyed the container under our hands.
            Err(Error::Object(ObjectError::NotFound { .. })) if attempt + 1 < ATTEMPTS => continue,
            Err(error) => return Err(error),
        };
        if !home.root.insert(&text, &record)? {
            continue;
        }
        if !was_wiped(home, &label)? {
            end_wipes(home, &text, &taken)?;
            return Ok(Arc::new(Entry {
                text: text.into(),
                key: key.clone(),
                record,
                locks: Locks::default(),
            }));
        }
        // A wipe took the container between our look at it and our entry in the root: the entry must not stay.
        home.root.remove(&text, &record)?;
    }
    let what = format!("dataset {key}: others wiped it again and again while it was made");
    Err(Error::Object(ObjectError::Conflict { what }))
}

/// Destroys what killed wipes have left of earlier lives of a dataset, now that it is listed with another label.
fn end_wipes(home: &Home, text: &str, labels: &[Label]) -> Result<()> {
    for label in labels {
        if sweep::wiped_dataset(&home.root, label)?.is_some_and(|wiped| wiped == text) {
            let store = (!home.is_one_pool()).then_some(&*home.store);
            sweep::destroy_wiped(&home.root, store, label)?;
        }
    }
    Ok(())
}

/// Makes the containers under this label and describes the dataset there. `None` when the label is taken: by another
/// dataset, or by a container that is being wiped.
fn prepare(home: &Home, key: &Key, label: &Label, schema: &Schema, rule: &str) -> Result<Option<Record>> {
    if !home.is_one_pool() {
        exists_is_fine(home.store.create_container(label))?;
    }
    exists_is_fine(home.root.pool.create_container(label))?;
    let container = match home.root.pool.open_container(label) {
        Ok(container) => container,
        // Removed meanwhile, or something that is no container and has the name.
        Err(ObjectError::NotFound { .. } | ObjectError::InvalidInput { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    describe(&*container, home, key, schema, rule)?;
    container.flush()?;
    let Some(found) = Description::read(&*container)? else { return Ok(None) };
    if found.text != named_text(key) {
        return Ok(None);
    }
    if found.format != VERSION {
        return Err(Error::NewerFormat {
            what: format!("dataset {key}"),
            found: found.format,
            known: VERSION,
        });
    }
    let store = if home.is_one_pool() { String::new() } else { home.store.uri().to_string() };
    let governing = if found.schema == schema.source() {
        schema.digest()
    } else {
        Schema::parse(&found.schema)?.digest()
    };
    Ok(Some(Record {
        generation: 0,
        incarnation: found.incarnation,
        created_us: found.created_us,
        schema: governing,
        label: label.to_string(),
        store,
        rule: found.rule,
    }))
}

/// Writes the dataset's description, if there is none yet.
fn describe(container: &dyn Container, home: &Home, key: &Key, schema: &Schema, rule: &str) -> Result<()> {
    let mut version = VERSION.to_le_bytes().to_vec();
    version.extend_from_slice(&[0; 4]);
    version.extend_from_slice(&home.root.new_incarnation()?.to_le_bytes());
    version.extend_from_slice(&now_us().to_le_bytes());
    let text = named_text(key);
    let key_cell = Cell::kv(DATASET, ENTRY_KEY);
    let put = |name: &'static [u8], value| Update::Put { cell: Cell::kv(DATASET, name), value };
    let updates = [
        put(ENTRY_SCHEMA, schema.source().as_bytes()),
        put(ENTRY_VERSION, version.as_slice()),
        put(ENTRY_RULE, rule.as_bytes()),
        Update::Put { cell: key_cell, value: text.as_bytes() },
    ];
    commit_all(container, Precondition::Absent(key_cell), &updates)?;
    Ok(())
}

/// What a dataset's container says of itself.
struct Description {
    text: String,
    schema: String,
    rule: String,
    format: u32,
    incarnation: u64,
    created_us: u64,
}

impl Description {
    /// Reads it, unless the container is being wiped.
    fn read(container: &dyn Container) -> Result<Option<Self>> {
        let names = [ENTRY_KEY, ENTRY_SCHEMA, ENTRY_RULE, ENTRY_VERSION, ENTRY_WIPED];
        let mut found = container.get_many(&names.map(|name| Cell::kv(DATASET, name)))?;
        if found.pop().flatten().is_some() {
            return Ok(None);
        }
        let parsed = Self::parse(found);
        let place = || format!("container {}", container.label());
        Ok(Some(parsed.ok_or_else(|| ObjectError::corrupt("the description of the dataset", place()))?))
    }

    fn parse(found: Vec<Option<Vec<u8>>>) -> Option<Self> {
        let mut found = found.into_iter().flatten();
        let mut text = || String::from_utf8(found.next()?).ok();
        let (text, schema, rule) = (text()?, text()?, text()?);
        let version = found.next()?;
        let mut reader = Reader(&version);
        let (format, _) = (reader.u32()?, reader.u32()?);
        Some(Self { text, schema, rule, format, incarnation: reader.u64()?, created_us: reader.u64()? })
    }
}

fn was_wiped(home: &Home, label: &Label) -> Result<bool> {
    let container = home.root.pool.open_container(label);
    let mark = container.and_then(|container| KeyValue::new(&*container, DATASET)?.get(ENTRY_WIPED));
    match mark {
        Ok(mark) => Ok(mark.is_some()),
        Err(ObjectError::NotFound { .. } | ObjectError::InvalidInput { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn exists_is_fine(result: isotach_object::Result<()>) -> Result<()> {
    match result {
        Ok(()) | Err(ObjectError::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
