//! The [`FieldStore`] handle: making a store, opening one, and what all its operations share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use isotach_mars::{Clock, Key, Schema};
use isotach_object::{Error as ObjectError, Pool, PoolUri, Registry};

use crate::{
    Config, Error, Pattern, Result, Space,
    admin::{forbidden::Limits, locks::Action, overlay::Relabeller},
    archive::writers::Writers,
    catalogue::{
        dataset::Home,
        reader::Readers,
        root::{Entry, Root},
        snapshot_record::Past,
    },
    handle_budget::Room,
    retrieve::read::OpenContainers,
    sync::lock,
};

/// A handle on a field store. Threads may share it; clones are the same handle.
///
/// What one handle archives is seen by itself and by all others once it has flushed. See [`FieldStore::archive`] for an
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
    pub(crate) room: Room,
    /// The snapshot that this handle shows.
    pub(crate) past: Option<Arc<Past>>,
    /// What gives messages from below an overlay their keys.
    pub(crate) relabeller: Relabeller,
}

#[derive(Debug, Clone)]
struct OpenSpace {
    space: Space,
    /// None where nothing at all may be done.
    home: Option<Home>,
}

/// A space of an open store, for `where` and `info`.
#[derive(Debug, Clone)]
pub struct SpaceInfo {
    /// Its name.
    pub name: String,
    /// Which new datasets it takes.
    pub pattern: Pattern,
    /// The pool of its catalogue.
    pub catalogue: PoolUri,
    /// The pool of its store.
    pub store: PoolUri,
}

impl FieldStore {
    /// Makes the pools that are not there and a field store in them, or opens the store that is there.
    ///
    /// # Errors
    /// [`Error::OtherSchema`] when a store is there and `config` gives another schema; [`Error::Schema`],
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

    /// Opens a store that is there.
    ///
    /// # Errors
    /// [`Error::NotAStore`], [`Error::NewerFormat`], [`Error::Schema`], [`Error::Invalid`]; `NotFound` and whatever
    /// else the engines report.
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
        Ok(Self {
            inner: Arc::new(Inner {
                registry: registry.clone(),
                spaces,
                pools: Mutex::new(pools),
                schema_digest: schema.digest(),
                clock: config.clock,
                schema,
                schemas: Mutex::default(),
                writers: Writers::default(),
                readers: Readers::default(),
                containers: OpenContainers::default(),
                room: Room::default(),
                past: None,
                relabeller: Relabeller::default(),
                roots,
            }),
        })
    }

    /// The schema that this handle archives and understands requests with.
    pub fn schema(&self) -> &Schema {
        &self.inner.schema
    }

    /// The spaces of the store and their pools.
    pub fn spaces(&self) -> Vec<SpaceInfo> {
        let info = |space: &OpenSpace| SpaceInfo {
            name: space.space.name.clone(),
            pattern: space.space.pattern.clone(),
            catalogue: space.space.catalogue.clone(),
            store: space.space.store.clone(),
        };
        self.inner.spaces.iter().filter(|space| space.home.is_some()).map(info).collect()
    }
}

impl Inner {
    /// A handle of its own on the store as a snapshot has it.
    pub(crate) fn at(&self, past: &Arc<Past>) -> Self {
        Self {
            registry: self.registry.clone(),
            spaces: self.spaces.clone(),
            roots: self.roots.iter().map(|root| Arc::new(root.at(past))).collect(),
            pools: Mutex::new(lock(&self.pools).clone()),
            schema: self.schema.clone(),
            schema_digest: self.schema_digest,
            clock: self.clock,
            schemas: Mutex::new(lock(&self.schemas).clone()),
            writers: Writers::default(),
            readers: Readers::default(),
            containers: OpenContainers::default(),
            room: Room::default(),
            past: Some(Arc::clone(past)),
            relabeller: self.relabeller.clone(),
        }
    }

    /// The name of a pool's engine.
    pub(crate) fn scheme_of(&self, pool: &dyn Pool) -> Result<&'static str> {
        Ok(self.registry.engine(pool.uri().scheme())?.scheme())
    }

    /// Refuses to change what is past.
    pub(crate) fn check_present(&self, what: &'static str) -> Result<()> {
        match &self.past {
            None => Ok(()),
            Some(past) => Err(Error::ReadOnly { snapshot: past.name.to_string(), what }),
        }
    }

    /// The pool with this URI, opened once.
    pub(crate) fn pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        pool_of(&mut lock(&self.pools), &self.registry, uri)
    }

    /// The schema with this digest; `read` fetches its text when it is not the handle's own and not known yet.
    pub(crate) fn schema_of(&self, digest: u64, read: impl FnOnce() -> Result<String>) -> Result<Schema> {
        if let Some(schema) = self.known_schema(digest) {
            return Ok(schema);
        }
        let schema = Schema::parse(&read()?)?.with_clock(self.clock);
        lock(&self.schemas).insert(digest, schema.clone());
        Ok(schema)
    }

    /// The schema with this digest, if this handle has met it.
    pub(crate) fn known_schema(&self, digest: u64) -> Option<Schema> {
        if digest == self.schema_digest {
            return Some(self.schema.clone());
        }
        lock(&self.schemas).get(&digest).cloned()
    }

    /// The dataset with this text in the first root that has it.
    pub(crate) fn find_dataset(&self, text: &str) -> Result<Option<(Arc<Root>, Arc<Entry>)>> {
        for root in &self.roots {
            if let Some(entry) = self.with_room(|| root.lookup(text))? {
                return Ok(Some((Arc::clone(root), entry)));
            }
        }
        Ok(None)
    }

    /// Refuses what the configuration forbids anywhere, and what would touch every root.
    pub(crate) fn check_everywhere(&self, action: Action, what: &str) -> Result<()> {
        let mut limits = self.roots.iter().map(|root| root.limits.of_any());
        limits.try_for_each(|forbidden| forbidden.check(action, || what.to_owned()))
    }

    /// Where a new dataset goes: to the first space that takes it, and there to a root where archiving is allowed.
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

/// Refuses a store that is not there and may not be made.
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
