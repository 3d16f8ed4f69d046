//! The stores that tests run on, and short forms of their operations.
//!
//! If `ISOTACH_RADOS_POOL` names a pool of a disposable Ceph cluster, tests of all layouts also run on it. If
//! `ISOTACH_DAOS_ROOT` is set, as by `scripts/libdaos with`, they run on DAOS.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_engine_daos::Daos;
use isotach_engine_posix::Posix;
use isotach_engine_rados::Rados;
use isotach_fields::{Config, ContainerUri, FieldStore, ListOptions, VerifyOptions, VerifyReport};
use isotach_mars::{Clock, Key, Request};
use isotach_object::{
    Anchor, Capabilities, Container, Engine, ObjectType, PoolUri, Registry, memory::Memory,
};
use tempfile::TempDir;

use crate::faulty::far_engine;

/// The schema of tests: an optional key with a default, one without, two rules for elements, steps, params.
pub(crate) const SCHEMA: &str = "
    param: Param; step: Step; date: Date; time: Time; expver: Expver; levelist: Double;
    [ class, expver, stream, date, time, domain?g
        [ type, levtype=pl/ml [ step, number?, levelist, param ]]
        [ type, levtype       [ step, number?, param ]]
    ]";

/// A place for stores: pools in memory, in a folder or in a cluster, which are removed with it.
pub(crate) struct Layout {
    pub(crate) name: &'static str,
    pub(crate) registry: Registry,
    pub(crate) config: Config,
    pub(crate) folder: TempDir,
    in_cluster: Option<InCluster>,
}

/// The pool of a layout in a cluster. The cluster is disposable, so other pools are left behind.
struct InCluster(Arc<dyn Engine>, PoolUri);

impl Drop for InCluster {
    fn drop(&mut self) {
        // Many tests create no store in it, and some destroy it themselves.
        let _ = self.0.destroy_pool(&self.1);
    }
}

/// A cluster for tests: the names of its layouts, its engine, and the URI of a new pool.
type ForTests = ([&'static str; 3], Arc<dyn Engine>, fn() -> String);

/// The available clusters.
fn clusters() -> Vec<ForTests> {
    let is_set = |name| env::var(name).is_ok_and(|value| !value.is_empty());
    let mut all: Vec<ForTests> = Vec::new();
    if is_set("ISOTACH_RADOS_POOL") {
        all.push((["rados", "posix and rados", "rados and posix"], Arc::new(Rados::new()), || {
            format!("rados://{}/{}", env::var("ISOTACH_RADOS_POOL").unwrap(), unique())
        }));
    }
    if is_set("ISOTACH_DAOS_ROOT") {
        all.push((["daos", "posix and daos", "daos and posix"], Arc::new(Daos::new()), || {
            format!("daos://{}", unique())
        }));
    }
    all
}

/// A unique name, in this process and others.
fn unique() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    format!("fields-{}-{time}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

impl Layout {
    fn new(folder: TempDir, name: &'static str, catalogue: &str, store: &str) -> Self {
        let at =
            |uri: &str| -> PoolUri { uri.replace("DIR", folder.path().to_str().unwrap()).parse().unwrap() };
        let registry = Registry::new().with(Arc::new(Memory::new())).with(Arc::new(Posix));
        let config = Config::split(&at(catalogue), &at(store))
            .with_schema(SCHEMA)
            .with_clock(Clock::fixed(2024, 1, 2).unwrap());
        Self { name, registry, config, folder, in_cluster: None }
    }

    /// A layout in which `CLUSTER` stands for a new pool in a cluster.
    fn in_cluster(
        name: &'static str,
        engine: &Arc<dyn Engine>,
        uri: &str,
        catalogue: &str,
        store: &str,
    ) -> Self {
        let at = |text: &str| text.replace("CLUSTER", uri);
        let mut layout = Self::new(on_disk(), name, &at(catalogue), &at(store));
        layout.registry = layout.registry.with(Arc::clone(engine));
        layout.in_cluster = Some(InCluster(Arc::clone(engine), uri.parse().unwrap()));
        layout
    }

    /// Everything in one pool in memory.
    pub(crate) fn memory() -> Self {
        Self::everywhere_in(on_disk).swap_remove(0)
    }

    /// Everything in one folder, without syncs.
    pub(crate) fn posix() -> Self {
        Self::everywhere_in(on_disk).swap_remove(1)
    }

    /// Catalogue and store in two folders.
    pub(crate) fn apart() -> Self {
        Self::everywhere_in(on_disk).swap_remove(3)
    }

    /// Everything in one pool in memory with pending reads.
    pub(crate) fn far() -> Self {
        let mut layout = Self::new(on_disk(), "memory that is read ahead", "memory:far", "memory:far");
        layout.registry = Registry::new().with(far_engine()).with(Arc::new(Posix));
        layout
    }

    /// All layouts.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Self::everywhere_in(on_disk);
        all.push(Self::far());
        all.extend(Self::all_in_cluster());
        all
    }

    /// The layouts of every machine, for tests that are not about files: in memory where there is space.
    /// Creating a container waits for the device, which takes most of the time otherwise.
    pub(crate) fn everywhere_off_disk() -> Vec<Self> {
        Self::everywhere_in(|| tempfile::tempdir_in(isotach_needs::folder_off_disk()).unwrap())
    }

    /// The layouts in the available clusters.
    pub(crate) fn all_in_cluster() -> Vec<Self> {
        let mut all = Vec::new();
        for ([whole, store, catalogue], engine, uri) in clusters() {
            let mut add = |name, catalogue, store| {
                all.push(Self::in_cluster(name, &engine, &uri(), catalogue, store));
            };
            add(whole, "CLUSTER", "CLUSTER");
            add(store, "posix:DIR/catalogue?sync=no", "CLUSTER");
            add(catalogue, "CLUSTER", "posix:DIR/store?sync=no");
        }
        all
    }

    /// Whether a part of it is in a cluster.
    pub(crate) fn is_in_cluster(&self) -> bool {
        self.in_cluster.is_some()
    }

    /// Whether catalogue and store are in the same pool.
    pub(crate) fn is_in_one_pool(&self) -> bool {
        let space = &self.config.spaces[0];
        space.catalogue == space.store
    }

    /// Whether datasets can have snapshots there.
    pub(crate) fn has_snapshots(&self) -> bool {
        let can = |capabilities: Capabilities| capabilities.snapshots && capabilities.transactions;
        let space = &self.config.spaces[0];
        [&space.catalogue, &space.store].map(|uri| self.capabilities(uri)).into_iter().all(can)
    }

    /// Whether fields can be archived in a transaction there.
    pub(crate) fn has_transactions(&self) -> bool {
        self.capabilities(&self.config.spaces[0].catalogue).transactions
    }

    fn capabilities(&self, uri: &PoolUri) -> Capabilities {
        self.registry.engine(uri.scheme()).unwrap().capabilities()
    }

    /// The layouts that every machine has.
    fn everywhere_in(folder: impl Fn() -> TempDir) -> Vec<Self> {
        let new = |name, catalogue, store| Self::new(folder(), name, catalogue, store);
        vec![
            new("memory", "memory:all", "memory:all"),
            new("posix", "posix:DIR/all?sync=no", "posix:DIR/all?sync=no"),
            new("memory apart", "memory:catalogue", "memory:store"),
            new("posix apart", "posix:DIR/catalogue?sync=no", "posix:DIR/store?sync=no"),
            new("posix and memory", "posix:DIR/catalogue?sync=no", "memory:store"),
        ]
    }

    /// A container, below the field layer.
    pub(crate) fn container(&self, at: &ContainerUri) -> Arc<dyn Container> {
        self.registry.open_pool(&at.pool).unwrap().open_container(&at.label).unwrap()
    }

    /// The number of arrays in a dataset's store, below the field layer.
    pub(crate) fn arrays(&self, store: &FieldStore, dataset: &str) -> usize {
        let status = store.status(&request(dataset)).unwrap().remove(0);
        arrays_in(&*self.container(&status.store))
    }

    /// The number of containers in the catalogue's pool and in the store's. A shared pool counts twice.
    pub(crate) fn containers(&self) -> usize {
        let pools = [&self.config.spaces[0].catalogue, &self.config.spaces[0].store];
        pools.iter().map(|uri| self.registry.open_pool(uri).unwrap().list_containers().unwrap().len()).sum()
    }

    /// Two handles on a new store.
    pub(crate) fn two_handles(&self) -> [FieldStore; 2] {
        [self.store(), self.store()]
    }

    /// A new store, and [`Self::target`].
    pub(crate) fn store_and_target(&self) -> [FieldStore; 2] {
        [self.store(), self.target()]
    }

    /// A store in a pool of its own in memory.
    pub(crate) fn target(&self) -> FieldStore {
        let config = Config::single(&"memory:target".parse().unwrap()).with_schema(SCHEMA);
        FieldStore::create(&config, &self.registry).unwrap()
    }

    /// A new store, or another handle on an existing one.
    pub(crate) fn store(&self) -> FieldStore {
        FieldStore::create(&self.config, &self.registry).unwrap()
    }
}

/// These layouts. Prints the name of each, so that a failure tells the last one.
pub(crate) fn named(layouts: impl IntoIterator<Item = Layout>) -> impl Iterator<Item = Layout> {
    layouts.into_iter().inspect(|layout| println!("on {}", layout.name))
}

fn with_made<T>(
    layouts: impl IntoIterator<Item = Layout>,
    make: fn(&Layout) -> T,
) -> impl Iterator<Item = (Layout, T)> {
    named(layouts).map(move |layout| {
        let made = make(&layout);
        (layout, made)
    })
}

/// All layouts, each with what a test makes there first.
pub(crate) fn everywhere<T>(make: fn(&Layout) -> T) -> impl Iterator<Item = (Layout, T)> {
    with_made(Layout::all(), make)
}

/// As [`everywhere`], where snapshots are.
pub(crate) fn where_snapshots_are<T>(make: fn(&Layout) -> T) -> impl Iterator<Item = (Layout, T)> {
    with_made(Layout::all().into_iter().filter(Layout::has_snapshots), make)
}

/// As [`everywhere`], where transactions of many cells are.
pub(crate) fn where_transactions_are<T>(make: fn(&Layout) -> T) -> impl Iterator<Item = (Layout, T)> {
    with_made(Layout::all().into_iter().filter(Layout::has_transactions), make)
}

fn on_disk() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A field of the test schema on a pressure level.
pub(crate) fn field(step: &str, param: &str) -> Key {
    format!("class=od,expver=1,stream=oper,date=20240101,time=0,type=fc,levtype=pl,step={step},levelist=500,param={param}")
        .parse()
        .unwrap()
}

/// `field` with other values.
pub(crate) fn with(key: &Key, changes: &str) -> Key {
    let mut key = key.clone();
    key.extend_from(&changes.parse().unwrap());
    key
}

/// The number of arrays that a container holds.
pub(crate) fn arrays_in(container: &dyn Container) -> usize {
    let (mut count, mut next) = (0, Some(Anchor::start()));
    while let Some(anchor) = next {
        let (objects, after) = container.list_objects(&anchor, 100).unwrap();
        count += objects.iter().filter(|object| object.otype() == ObjectType::Array).count();
        next = after;
    }
    count
}

pub(crate) fn request(text: &str) -> Request {
    text.parse().unwrap()
}

/// The request for all of a field's keys with other values.
pub(crate) fn request_like(key: &Key, changes: &str) -> Request {
    let mut all = Request::from(key);
    for (name, values) in request(changes).iter() {
        all.set(name, values.to_vec());
    }
    all
}

/// The bytes of all fields of an exact request, in order.
pub(crate) fn bytes_of(store: &FieldStore, request: &Request) -> Vec<Vec<u8>> {
    store.retrieve(request).unwrap().map(|field| field.unwrap().bytes.into_vec()).collect()
}

/// The keys of all fields of a partial request, sorted.
pub(crate) fn listed(store: &FieldStore, text: &str) -> Vec<String> {
    let listing = store.list(&request(text), ListOptions::default()).unwrap();
    let mut keys: Vec<String> = listing.map(|listed| listed.unwrap().key().to_string()).collect();
    keys.sort();
    keys
}

/// Verifies everything, with the bytes of each field or without.
pub(crate) fn verify(store: &FieldStore, data: bool) -> VerifyReport {
    store.verify(&request(""), VerifyOptions { data, ..VerifyOptions::default() }, &|_| ()).unwrap()
}

/// Every file below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { all.extend(files_below(&entry)) } else { all.push(entry) }
    }
    all
}

pub(crate) fn archive(store: &FieldStore, fields: &[(Key, &[u8])]) {
    fields.iter().for_each(|(key, bytes)| store.archive(key, bytes).unwrap());
    store.flush().unwrap();
}
