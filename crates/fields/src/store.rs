//! The [`FieldStore`] handle: creating and opening a store, and the state that its operations share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use isotach_mars::{Clock, Key, Schema};
use isotach_object::{Error as ObjectError, Pool, PoolUri, Registry};

use crate::{
    Config, Error, Result, Space,
    archive::{jump::Indexer, writers::Writers},
    catalogue::{
        dataset::Home,
        dataset_reader::Readers,
        layers::Relabeller,
        locks::Action,
        open_containers::OpenContainers,
        root::{Entry, Root},
        snapshot_record::SnapshotId,
    },
    config::forbidden::Limits,
    handle_budget::{self, HandleBudget},
    sync::lock,
};

/// A handle on a field store. Threads may share it; clones are the same handle.
///
/// Fields that one handle archives are visible to all handles once it has flushed. See [`FieldStore::archive`] for an
/// example.
#[derive(Debug, Clone)]
pub struct FieldStore {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    registry: Registry,
    spaces: Vec<OpenSpace>,
    /// The roots of all spaces, each once.
    pub(crate) roots: Vec<Arc<Root>>,
    pools: Mutex<HashMap<PoolUri, Arc<dyn Pool>>>,
    pub(crate) schema: Schema,
    pub(crate) schema_digest: u64,
    clock: Clock,
    /// Schemas of datasets that differ from the handle's, by digest.
    schemas: Mutex<HashMap<u64, Schema>>,
    pub(crate) writers: Writers,
    pub(crate) readers: Readers,
    pub(crate) containers: OpenContainers,
    pub(crate) budget: HandleBudget,
    /// The snapshot that this handle shows.
    pub(crate) snapshot: Option<Arc<SnapshotId>>,
    /// The function that relabels messages from below an overlay.
    pub(crate) relabeller: Relabeller,
    /// The function that makes jump indexes of messages that are archived.
    pub(crate) indexer: Indexer,
}

#[derive(Debug, Clone)]
struct OpenSpace {
    space: Space,
    /// `None` if every action is forbidden.
    home: Option<Home>,
}

impl FieldStore {
    /// Creates the missing pools and a field store in them, or opens an existing store.
    ///
    /// # Errors
    /// [`Error::OtherSchema`] when a store exists and `config` has another schema; [`Error::Schema`],
    /// [`Error::Invalid`], and what the engines report.
    pub fn create(config: &Config, registry: &Registry) -> Result<Self> {
        let schema = match &config.schema {
            Some(text) => Schema::parse(text)?,
            None => Schema::standard(),
        };
        for space in &config.spaces {
            if space.forbidden.contains(Action::Archive) {
                check_made(registry, space)?;
                continue;
            }
            create_pool(registry, &space.catalogue)?;
            create_pool(registry, &space.store)?;
            let (root, made) = Root::create(registry.open_pool(&space.catalogue)?, schema.source())?;
            if !made && config.schema.is_some() && Schema::parse(&root.schema()?)? != schema {
                return Err(Error::OtherSchema { store: root.uri().to_string() });
            }
        }
        Self::open(config, registry)
    }

    /// Opens an existing store.
    ///
    /// # Errors
    /// [`Error::NotAStore`], [`Error::NewerFormat`], [`Error::Schema`], [`Error::Invalid`]; `NotFound` and what else
    /// the engines report.
    pub fn open(config: &Config, registry: &Registry) -> Result<Self> {
        let mut roots: Vec<Arc<Root>> = Vec::new();
        let mut spaces = Vec::new();
        let mut pools = HashMap::new();
        for space in &config.spaces {
            if space.forbidden.is_total() {
                spaces.push(OpenSpace { space: space.clone(), home: None });
                continue;
            }
            let catalogue = pool_of(&mut pools, registry, &space.catalogue)?;
            let root = match roots.iter().find(|root| root.uri() == catalogue.uri()) {
                Some(root) => Arc::clone(root),
                None => {
                    roots.push(Arc::new(Root::open(catalogue, config.limits_of(&space.catalogue))?));
                    Arc::clone(&roots[roots.len() - 1])
                }
            };
            let home = Home { root, store: pool_of(&mut pools, registry, &space.store)? };
            spaces.push(OpenSpace { space: space.clone(), home: Some(home) });
        }
        let first = roots
            .first()
            .ok_or_else(|| Error::invalid("a store without spaces that may be used", "at least one"))?;
        let text = config.schema.clone().map_or_else(|| first.schema(), Ok)?;
        let schema = Schema::parse(&text)?.with_clock(config.clock);
        Ok(Self { inner: Inner::new(registry, spaces, roots, pools, schema, config.clock).into() })
    }

    /// The schema by which this handle archives fields and interprets requests.
    pub fn schema(&self) -> &Schema {
        &self.inner.schema
    }

    /// The spaces of the store, without those in which every action is forbidden.
    pub fn spaces(&self) -> Vec<Space> {
        let usable = self.inner.spaces.iter().filter(|open| open.home.is_some());
        usable.map(|open| open.space.clone()).collect()
    }
}

impl Inner {
    fn new(
        registry: &Registry,
        spaces: Vec<OpenSpace>,
        roots: Vec<Arc<Root>>,
        pools: HashMap<PoolUri, Arc<dyn Pool>>,
        schema: Schema,
        clock: Clock,
    ) -> Self {
        Self {
            registry: registry.clone(),
            spaces,
            roots,
            pools: Mutex::new(pools),
            schema_digest: schema.digest(),
            schema,
            clock,
            schemas: Mutex::default(),
            writers: Writers::default(),
            readers: Readers::default(),
            containers: OpenContainers::default(),
            budget: HandleBudget::default(),
            snapshot: None,
            relabeller: Relabeller::default(),
            indexer: Indexer::default(),
        }
    }

    /// A separate handle on the store as a snapshot shows it.
    pub(crate) fn at(&self, snapshot: &Arc<SnapshotId>) -> Self {
        let roots = self.roots.iter().map(|root| Arc::new(root.at(snapshot))).collect();
        let (spaces, pools) = (self.spaces.clone(), lock(&self.pools).clone());
        Self {
            schemas: Mutex::new(lock(&self.schemas).clone()),
            snapshot: Some(Arc::clone(snapshot)),
            relabeller: self.relabeller.clone(),
            ..Self::new(&self.registry, spaces, roots, pools, self.schema.clone(), self.clock)
        }
    }

    /// Runs `act`, which opens files. If the process may open no more, closes half of the readers and every handle that holds
    /// nothing to flush, and tries again while there is something to close. This handle must not keep what `act` opens
    /// before it fails: it would be closed and opened again.
    pub(crate) fn with_handles<T>(&self, act: impl FnMut() -> Result<T>) -> Result<T> {
        handle_budget::retry(act, || {
            let open = self.readers.count();
            self.budget.halve_readers(open);
            self.readers.close_oldest(open / 2);
            self.containers.close() + self.writers.close_clean() + open > 0
        })
    }

    /// The name of a pool's engine.
    pub(crate) fn scheme_of(&self, pool: &dyn Pool) -> Result<&'static str> {
        Ok(self.registry.engine(pool.uri().scheme())?.scheme())
    }

    /// Refuses changes through a handle on a snapshot.
    pub(crate) fn check_present(&self, what: &'static str) -> Result<()> {
        match &self.snapshot {
            None => Ok(()),
            Some(snapshot) => Err(Error::ReadOnly { snapshot: snapshot.name.to_string(), what }),
        }
    }

    /// The pool with this URI, opened once.
    pub(crate) fn pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        pool_of(&mut lock(&self.pools), &self.registry, uri)
    }

    /// The schema with this digest. `read` fetches the text of an unknown one.
    pub(crate) fn schema_of(&self, digest: u64, read: impl FnOnce() -> Result<String>) -> Result<Schema> {
        if let Some(schema) = self.known_schema(digest) {
            return Ok(schema);
        }
        let schema = Schema::parse(&read()?)?.with_clock(self.clock);
        lock(&self.schemas).insert(digest, schema.clone());
        Ok(schema)
    }

    /// The schema with this digest, if it is known.
    pub(crate) fn known_schema(&self, digest: u64) -> Option<Schema> {
        if digest == self.schema_digest {
            return Some(self.schema.clone());
        }
        lock(&self.schemas).get(&digest).cloned()
    }

    /// The dataset with this text in the first root that has it.
    pub(crate) fn find_dataset(&self, text: &str) -> Result<Option<(Arc<Root>, Arc<Entry>)>> {
        for root in &self.roots {
            if let Some(entry) = self.with_handles(|| root.lookup(text))? {
                return Ok(Some((Arc::clone(root), entry)));
            }
        }
        Ok(None)
    }

    /// Refuses an action on all roots that the configuration forbids in any of them.
    pub(crate) fn check_everywhere(&self, action: Action, what: &str) -> Result<()> {
        let mut limits = self.roots.iter().map(|root| root.limits.of_any());
        limits.try_for_each(|forbidden| forbidden.check(action, || what.to_owned()))
    }

    /// The place of a new dataset: in the first space that takes it, a root where archiving is allowed.
    pub(crate) fn home_of(&self, dataset: &Key) -> Result<&Home> {
        let takes = |open: &&OpenSpace| open.space.pattern.matches(dataset);
        let patterns =
            || self.spaces.iter().map(|open| open.space.pattern.to_string()).collect::<Vec<_>>().join(" or ");
        let first = self.spaces.iter().find(takes).ok_or_else(|| {
            Error::invalid(format!("dataset {dataset}"), format!("one that a space takes: {}", patterns()))
        })?;
        let of_space = self.spaces.iter().filter(|open| open.space.group == first.space.group).filter(takes);
        let open: Vec<(&Home, String)> = of_space
            .filter(|open| !open.space.forbidden.contains(Action::Archive))
            .filter_map(|open| Some((open.home.as_ref()?, open.space.catalogue.to_string())))
            .collect();
        let names: Vec<&str> = open.iter().map(|(_, name)| name.as_str()).collect();
        match open.is_empty() {
            false => Ok(open[first.space.spread.choose(dataset, &names)].0),
            true => Err(Error::Forbidden {
                what: format!("dataset {dataset}"),
                action: Action::Archive,
                by: first.space.forbidden.reason(Action::Archive).unwrap_or_default().to_owned(),
            }),
        }
    }
}

fn pool_of(
    pools: &mut HashMap<PoolUri, Arc<dyn Pool>>,
    registry: &Registry,
    uri: &PoolUri,
) -> Result<Arc<dyn Pool>> {
    if let Some(pool) = pools.get(uri) {
        return Ok(Arc::clone(pool));
    }
    let pool = registry.open_pool(uri)?;
    pools.insert(uri.clone(), Arc::clone(&pool));
    Ok(pool)
}

/// Refuses a store that does not exist and may not be created.
fn check_made(registry: &Registry, space: &Space) -> Result<()> {
    if space.forbidden.is_total() {
        return Ok(());
    }
    let opened = registry.open_pool(&space.catalogue).map_err(Error::from);
    match opened.and_then(|pool| Root::open(pool, Limits::default())) {
        Err(Error::Object(ObjectError::NotFound { .. }) | Error::NotAStore { .. }) => {
            let what = || format!("store {}, which is not there", space.catalogue);
            space.forbidden.check(Action::Archive, what)
        }
        found => found.map(drop),
    }
}

fn create_pool(registry: &Registry, uri: &PoolUri) -> Result<()> {
    match registry.engine(uri.scheme())?.create_pool(uri) {
        Ok(()) | Err(ObjectError::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
