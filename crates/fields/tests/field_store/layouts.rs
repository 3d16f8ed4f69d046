//! The stores that tests run on, and short forms of what they do.

use std::sync::Arc;

use isotach_engine_posix::Posix;
use isotach_fields::{Config, FieldStore, ListOptions};
use isotach_mars::{Clock, Key, Request};
use isotach_object::{PoolUri, Registry, memory::Memory};
use tempfile::TempDir;

/// A schema with what tests need: an optional key with a default, one without, two rules for elements, steps, params.
pub(crate) const SCHEMA: &str = "
    param: Param; step: Step; date: Date; time: Time; expver: Expver; levelist: Double;
    [ class, expver, stream, date, time, domain?g
        [ type, levtype=pl/ml [ step, number?, levelist, param ]]
        [ type, levtype       [ step, number?, param ]]
    ]";

/// A place for stores: pools in memory or in a folder, which live as long as it.
pub(crate) struct Layout {
    pub(crate) name: &'static str,
    pub(crate) registry: Registry,
    pub(crate) config: Config,
    pub(crate) folder: TempDir,
}

impl Layout {
    fn new(folder: TempDir, name: &'static str, catalogue: &str, store: &str) -> Self {
        let at =
            |uri: &str| -> PoolUri { uri.replace("DIR", folder.path().to_str().unwrap()).parse().unwrap() };
        let registry = Registry::new().with(Arc::new(Memory::new())).with(Arc::new(Posix));
        let config = Config::split(&at(catalogue), &at(store))
            .with_schema(SCHEMA)
            .with_clock(Clock::fixed(2024, 1, 2).unwrap());
        Self { name, registry, config, folder }
    }

    /// Everything in one pool in memory.
    pub(crate) fn memory() -> Self {
        Self::all().swap_remove(0)
    }

    /// Everything in one folder, which does not wait for the device.
    pub(crate) fn posix() -> Self {
        Self::all().swap_remove(1)
    }

    /// Catalogue and store in two folders.
    pub(crate) fn apart() -> Self {
        Self::all().swap_remove(3)
    }

    /// All layouts.
    pub(crate) fn all() -> Vec<Self> {
        Self::all_in(|| tempfile::tempdir().unwrap())
    }

    /// All layouts, for what is not about files: in memory where the system has a folder there. Making a container waits
    /// for the device, which else takes most of the time.
    pub(crate) fn all_off_disk() -> Vec<Self> {
        Self::all_in(|| tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn all_in(folder: impl Fn() -> TempDir) -> Vec<Self> {
        let new = |name, catalogue, store| Self::new(folder(), name, catalogue, store);
        vec![
            new("memory", "memory:all", "memory:all"),
            new("posix", "posix:DIR/all?sync=no", "posix:DIR/all?sync=no"),
            new("memory apart", "memory:catalogue", "memory:store"),
            new("posix apart", "posix:DIR/catalogue?sync=no", "posix:DIR/store?sync=no"),
            new("posix and memory", "posix:DIR/catalogue?sync=no", "memory:store"),
        ]
    }

    /// A new store, or a handle of its own on the one that is there.
    pub(crate) fn store(&self) -> FieldStore {
        FieldStore::create(&self.config, &self.registry).unwrap()
    }
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

pub(crate) fn archive(store: &FieldStore, fields: &[(Key, &[u8])]) {
    store.archive_many(fields).unwrap();
    store.flush().unwrap();
}
