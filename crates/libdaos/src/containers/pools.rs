//! Pools: each label names a pool of an engine, below the place that `ISOTACH_DAOS_ROOT` names.

use std::{
    env, fs, mem,
    path::{Path, PathBuf},
    process,
    sync::{Arc, LazyLock, Mutex, MutexGuard},
};

use isotach_engine_posix::Posix;
use isotach_engine_rados::Rados;
use isotach_object::{Engine, Error, Label, PoolUri, Registry};

use crate::{
    abi::{constants::*, errors::*, stored::is_uuid},
    containers::{
        Container,
        uuids::{random_uuid, uuid_in, uuid_of_label, uuid_text},
    },
    runtime::{
        error::{Der, Result, invalid, refuse},
        handles, locked,
    },
};

/// The variable that says where pools are: a URI such as `posix:/data/daos?sync=no`, or a path.
const ROOT: &str = "ISOTACH_DAOS_ROOT";

/// A connection to a pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) label: String,
    pub(crate) inner: Arc<dyn isotach_object::Pool>,
    pub(crate) flags: u32,
}

/// The engines, while the library is initialised, and the number of its users.
#[derive(Debug, Default)]
struct Library {
    /// The process that uses them.
    process: u32,
    users: usize,
    registry: Option<Registry>,
}

static LIBRARY: LazyLock<Mutex<Library>> = LazyLock::new(Mutex::default);

fn library() -> MutexGuard<'static, Library> {
    let mut library = locked(&LIBRARY);
    if library.process != process::id() {
        // A child process needs connections of its own, and must not close those of its parent.
        let registry = library.registry.as_ref().map(|_| engines());
        mem::forget(mem::replace(&mut library.registry, registry));
        library.process = process::id();
    }
    library
}

/// Counts one more user of the library.
pub(crate) fn init() -> Result<()> {
    let mut library = library();
    library.users += 1;
    library.registry.get_or_insert_with(engines);
    Ok(())
}

fn engines() -> Registry {
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(Posix), Arc::new(Rados::new())];
    engines.into_iter().fold(Registry::new(), Registry::with)
}

/// Counts one user less; the last one closes everything.
pub(crate) fn fini() -> Result<()> {
    let mut library = library();
    match library.users {
        0 => return Err(Der(DER_UNINIT)),
        1 => {
            handles::clear();
            library.registry = None;
        }
        _ => {}
    }
    library.users -= 1;
    Ok(())
}

/// Refuses a call before the library is initialised, or after its end.
pub(crate) fn check_started() -> Result<()> {
    match library().users {
        0 => refuse(DER_UNINIT, "a call before daos_init"),
        _ => Ok(()),
    }
}

fn registry() -> Result<Registry> {
    library().registry.clone().ok_or(Der(DER_UNINIT))
}

/// The URI of the pool with this label.
fn uri_of(label: &str) -> Result<PoolUri> {
    let Ok(root) = env::var(ROOT) else {
        return refuse(
            DER_AGENT_COMM,
            &format!("set {ROOT} to the place where pools are, such as posix:/data/daos"),
        );
    };
    let (place, options) =
        root.split_once('?').map_or((root.as_str(), None), |(place, options)| (place, Some(options)));
    let options = options.map(|options| format!("?{options}")).unwrap_or_default();
    let scheme = if place.starts_with(['/', '.']) { "posix:" } else { "" };
    Ok(format!("{scheme}{}/{label}{options}", place.trim_end_matches('/')).parse::<PoolUri>()?)
}

/// The folder with the epoch logs of a pool's containers, if pools are folders: beside them.
fn epoch_logs(label: &str) -> Option<PathBuf> {
    Some(folder()?.join(".epochs").join(label))
}

/// The folder in which pools are, if they are folders.
fn folder() -> Option<PathBuf> {
    let any = uri_of("any").ok().filter(|any| any.scheme() == "posix")?;
    Path::new(any.path()).parent().map(Path::to_owned)
}

/// See `dmg_pool_create`: creates a pool, and returns its UUID. Without a label it has the text of the UUID as its label.
pub(crate) fn create(label: Option<&str>) -> Result<[u8; 16]> {
    let label = match label {
        Some(label) if is_uuid(label) => return invalid("a pool's label may not look like a UUID"),
        Some(label) => label.to_owned(),
        None => uuid_text(&random_uuid()?),
    };
    let uri = uri_of(label.parse::<Label>()?.as_str())?;
    // An administrator's program need not have called `daos_init`.
    registry().unwrap_or_else(|_| engines()).engine(uri.scheme())?.create_pool(&uri)?;
    Ok(uuid_of(&label))
}

/// See `dmg_pool_destroy`. Only connections of this process are known.
pub(crate) fn destroy(uuid: &[u8; 16], force: bool) -> Result<()> {
    let text = uuid_text(uuid);
    let label = label_of(&text)?.unwrap_or(text);
    if !force && handles::has(|pool: &Pool| pool.label == label) {
        return refuse(DER_BUSY, "the pool is in use; disconnect, or use force");
    }
    let uri = uri_of(&label)?;
    let was_absent = is_absent(&uri);
    let registry = registry().unwrap_or_else(|_| engines());
    registry.engine(uri.scheme())?.destroy_pool(&uri).map_err(|error| failed(error, was_absent, &uri))?;
    if let Some(logs) = epoch_logs(&label) {
        // What stays is of containers that are gone.
        let _ = fs::remove_dir_all(logs);
    }
    Ok(())
}

/// The UUID of a pool: derived from its label, so every process has the same.
fn uuid_of(label: &str) -> [u8; 16] {
    uuid_in(label).unwrap_or_else(|| uuid_of_label(label))
}

/// See `daos_pool_connect`.
pub(crate) fn connect(label: &str, flags: u32) -> Result<u64> {
    // Other bits are for servers.
    let flags = flags & (DAOS_PC_RO | DAOS_PC_RW | DAOS_PC_EX);
    if flags.count_ones() != 1 {
        return invalid(
            "flags of daos_pool_connect: one of DAOS_PC_RO, DAOS_PC_RW and DAOS_PC_EX is expected",
        );
    }
    let registry = registry()?;
    if label.parse::<Label>().is_err() {
        return invalid("a pool's label: 1 to 127 of A-Z a-z 0-9 . _ : - are expected");
    }
    let label =
        if is_uuid(label) { label_of(label)?.unwrap_or_else(|| label.to_owned()) } else { label.to_owned() };
    let inner = opened(&registry, &uri_of(&label)?)?;
    Ok(handles::add(DAOS_HTYPE_POOL, Arc::new(Pool { label, inner, flags }), None))
}

/// Whether a pool does not exist yet: its superblock is written last. Checked before the attempt, since the pool may appear during it.
fn is_absent(uri: &PoolUri) -> bool {
    uri.scheme() == "posix" && !has_superblock(Path::new(uri.path()))
}

/// The error of an attempt on a pool. A folder without a superblock is a pool that is being created, or whose creation was interrupted: the
/// pool does not exist.
fn failed(error: Error, was_absent: bool, uri: &PoolUri) -> Der {
    match error {
        Error::InvalidInput { .. } if was_absent && Path::new(uri.path()).is_dir() => Der(DER_NONEXIST),
        error => error.into(),
    }
}

/// Opens a pool.
fn opened(registry: &Registry, uri: &PoolUri) -> Result<Arc<dyn isotach_object::Pool>> {
    let was_absent = is_absent(uri);
    match registry.open_pool(uri) {
        Err(Error::NotFound { .. }) => {
            let why = Path::new(uri.path()).parent().filter(|_| uri.scheme() == "posix").and_then(wrong_root);
            why.map_or(Err(Der(DER_NONEXIST)), |why| refuse(DER_NONEXIST, &why))
        }
        opened => opened.map_err(|error| failed(error, was_absent, uri)),
    }
}

/// Whether a folder is a pool or a container of the engine.
fn has_superblock(folder: &Path) -> bool {
    fs::exists(folder.join("superblock")).unwrap_or(true)
}

/// What is wrong with the folder that should hold the pools.
fn wrong_root(root: &Path) -> Option<String> {
    let wrong = match root.metadata() {
        Err(error) => error.to_string(),
        Ok(_) if has_superblock(root) => "this is a pool itself; name the folder in which it is".to_owned(),
        Ok(_) => return None,
    };
    Some(format!("no pool is found in {}, which {ROOT} names: {wrong}", root.display()))
}

/// The label of the pool whose UUID has this text, where pools are folders.
fn label_of(uuid: &str) -> Result<Option<String>> {
    let Some(folder) = folder() else { return Ok(None) };
    let Ok(entries) = fs::read_dir(folder) else { return Ok(None) };
    let mut labels = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(labels.find(|label| uuid_text(&uuid_of(label)).eq_ignore_ascii_case(uuid)))
}

/// See `daos_pool_disconnect`.
pub(crate) fn disconnect(handle: u64) -> Result<()> {
    let pool = Pool::get(handle)?;
    let is_of_it = |container: &Container| Arc::ptr_eq(&container.pool, &pool);
    match handles::remove_unless(handle, is_of_it)? {
        true => Ok(()),
        false => refuse(DER_BUSY, "containers of the pool are open"),
    }
}

impl Pool {
    /// The connection behind a handle.
    pub(crate) fn get(handle: u64) -> Result<Arc<Self>> {
        handles::get(handle, DAOS_HTYPE_POOL)
    }

    /// Refuses a change through a connection that is only for reading.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.flags == DAOS_PC_RO { Err(Der(DER_NO_PERM)) } else { Ok(()) }
    }

    pub(crate) fn uuid(&self) -> [u8; 16] {
        uuid_of(&self.label)
    }

    pub(crate) fn epoch_logs(&self) -> Option<PathBuf> {
        epoch_logs(&self.label)
    }
}
