//! Sites for tests, and short ways to make files and datasets.

use std::{
    env, process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_engine_daos::Daos;
use isotach_engine_posix::Posix;
use isotach_engine_rados::Rados;
use isotach_hdf5::{
    Access, Attribute, Charset, Creation, Data, File, Filter, Header, Kind, Object, Run, Site, Space, Target,
};
use isotach_object::{Anchor, Container, Engine, ObjectId, PoolUri, Registry, memory::Memory};

use crate::plain::Plain;

/// A place for files of one test.
pub(crate) struct Place {
    pub(crate) site: Site,
    pub(crate) name: String,
    registry: Registry,
    pool: PoolUri,
    _folder: Option<tempfile::TempDir>,
    is_in_cluster: bool,
}

/// A file in memory, one on an engine without transactions, one in a posix pool, one beside its path, and one in each cluster that there is.
pub(crate) fn places() -> Vec<Place> {
    let mut places = vec![memory(), plain(), pool(), beside()];
    places.extend(clusters().into_iter().map(|(engine, uri)| {
        let (registry, pool) = (Registry::new().with(engine), uri);
        let site = Site::new(Some(pool.clone()), registry.clone());
        Place {
            site,
            name: "/no/such/folder/a.h5".to_owned(),
            registry,
            pool,
            _folder: None,
            is_in_cluster: true,
        }
    }));
    places
}

/// The engines of disposable clusters, each with the URI of a new pool: Ceph's if `ISOTACH_RADOS_POOL` names a pool there, and that of DAOS
/// where `scripts/libdaos with` says where pools are.
pub(crate) fn clusters() -> Vec<(Arc<dyn Engine>, PoolUri)> {
    let is_set = |name| env::var(name).is_ok_and(|value| !value.is_empty());
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
    let unique = || format!("h5-{}-{time}-{}", process::id(), number());
    let mut clusters: Vec<(Arc<dyn Engine>, PoolUri)> = Vec::new();
    if is_set("ISOTACH_RADOS_POOL") {
        let uri = format!("rados://{}/{}", env::var("ISOTACH_RADOS_POOL").unwrap(), unique());
        clusters.push((Arc::new(Rados::new()), uri.parse().unwrap()));
    }
    if is_set("ISOTACH_DAOS_ROOT") {
        clusters.push((Arc::new(Daos::default()), format!("daos://{}", unique()).parse().unwrap()));
    }
    clusters
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_in_cluster {
            let engine = self.registry.engine(self.pool.scheme());
            let _ = engine.and_then(|engine| engine.destroy_pool(&self.pool));
        }
    }
}

/// A file in memory, on an engine without transactions and snapshots.
pub(crate) fn plain() -> Place {
    let registry = Registry::new().with(Arc::new(Plain::new(&Memory::new())));
    let pool: PoolUri = format!("plain:h5-{}", number()).parse().unwrap();
    let site = Site::new(Some(pool.clone()), registry.clone());
    Place {
        site,
        name: "/no/such/folder/a.h5".to_owned(),
        registry,
        pool,
        _folder: None,
        is_in_cluster: false,
    }
}

/// A number that no other test has.
pub(crate) fn number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

/// A file in memory.
pub(crate) fn memory() -> Place {
    let registry = Registry::new().with(Arc::new(Memory::new()));
    let pool: PoolUri = format!("memory:h5-{}", number()).parse().unwrap();
    let site = Site::new(Some(pool.clone()), registry.clone());
    Place {
        site,
        name: "/no/such/folder/a.h5".to_owned(),
        registry,
        pool,
        _folder: None,
        is_in_cluster: false,
    }
}

/// A file in a posix pool.
pub(crate) fn pool() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let pool: PoolUri = format!("posix:{}/pool?sync=no", folder.path().display()).parse().unwrap();
    let name = folder.path().join("a.h5").display().to_string();
    let registry = Registry::new().with(Arc::new(Posix));
    let site = Site::new(Some(pool.clone()), registry.clone());
    Place { site, name, registry, pool, _folder: Some(folder), is_in_cluster: false }
}

/// A file beside its path.
pub(crate) fn beside() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("a.h5").display().to_string();
    let registry = Registry::new().with(Arc::new(Posix));
    let site = Site::new(None, registry.clone()).with_options("sync=no");
    let pool = format!("posix:{}/.isotach-h5?sync=no", folder.path().display()).parse().unwrap();
    Place { site, name, registry, pool, _folder: Some(folder), is_in_cluster: false }
}

impl Place {
    pub(crate) fn create(&self) -> Arc<File> {
        self.site.create(&self.name, Creation::Truncate, &group(), b"properties").unwrap()
    }

    pub(crate) fn open(&self) -> Arc<File> {
        self.site.open(&self.name, Access::ReadWrite).unwrap()
    }

    pub(crate) fn has_snapshots(&self) -> bool {
        self.registry.engine(self.pool.scheme()).unwrap().capabilities().snapshots
    }

    /// The container of the file.
    pub(crate) fn container(&self) -> Arc<dyn Container> {
        let pool = self.registry.open_pool(&self.pool).unwrap();
        let labels = pool.list_containers().unwrap();
        assert_eq!(labels.len(), 1);
        pool.open_container(&labels[0]).unwrap()
    }

    /// The objects of the container, sorted.
    pub(crate) fn objects(&self) -> Vec<ObjectId> {
        let (mut objects, next) = self.container().list_objects(&Anchor::start(), 1 << 20).unwrap();
        assert!(next.is_none());
        objects.sort();
        objects
    }

    /// Commits, closes and opens again.
    pub(crate) fn reopened(&self, file: Arc<File>) -> Arc<File> {
        file.commit().unwrap();
        assert_eq!(Arc::strong_count(&file), 1, "all handles are closed");
        drop(file);
        self.open()
    }
}

pub(crate) fn group() -> Header {
    Header { tracks_link_order: true, ..Header::new(Kind::Group) }
}

pub(crate) fn data(dims: &[u64], chunk: &[u64], element: u32) -> Data {
    Data {
        element,
        space: Space::Simple { dims: dims.to_vec(), max: vec![u64::MAX; dims.len()] },
        chunk: chunk.to_vec(),
        fill: None,
        filters: Vec::new(),
        is_chunked: true,
    }
}

pub(crate) fn filter(id: u16, values: &[u32]) -> Filter {
    Filter { id, flags: 0, values: values.to_vec(), name: format!("filter {id}") }
}

/// Creates an object under a link of the root.
pub(crate) fn linked(file: &Arc<File>, name: &str, header: Header) -> Object {
    linked_in(&file.root().unwrap(), name, header)
}

pub(crate) fn linked_in(parent: &Object, name: &str, header: Header) -> Object {
    let object = parent.file().create_object(header).unwrap();
    parent.insert_link(name, hard(&object), Charset::Ascii).unwrap();
    object
}

pub(crate) fn hard(object: &Object) -> Target {
    Target::Hard { number: object.number(), kind: object.kind() }
}

pub(crate) fn dataset(file: &Arc<File>, name: &str, data: Data) -> Object {
    linked(file, name, Header::dataset(b"type".to_vec(), data))
}

/// The object at a path from the root.
pub(crate) fn at(file: &Arc<File>, path: &str) -> Object {
    let root = file.root().unwrap();
    match file.resolve(&root, path, isotach_hdf5::Last::Follow).unwrap() {
        isotach_hdf5::Resolved::Object(object) => object,
        other => panic!("{path} leads to {other:?}"),
    }
}

pub(crate) fn whole(object: &Object) -> Vec<Run> {
    let header = object.header().unwrap();
    vec![Run { first: 0, count: header.data.as_ref().unwrap().space.count().unwrap() }]
}

pub(crate) fn read_all(object: &Object) -> Vec<u8> {
    let header = object.header().unwrap();
    let data = header.data.as_ref().unwrap();
    let mut bytes = vec![0x55; (data.space.count().unwrap() * u64::from(data.element)) as usize];
    object.read(&whole(object), &mut bytes).unwrap();
    bytes
}

pub(crate) fn attribute(name: &str, value: &[u8]) -> Attribute {
    Attribute {
        name: name.to_owned(),
        charset: Charset::Utf8,
        order: 0,
        datatype: b"type".to_vec(),
        space: Space::fixed(&[value.len() as u64]),
        creation: b"acpl".to_vec(),
        value: value.to_vec(),
    }
}
