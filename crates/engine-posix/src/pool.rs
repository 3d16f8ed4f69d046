//! Pools: a directory with a superblock, the containers, and a place for what is being removed.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use isotach_object::{Capabilities, Container, Error, Label, Pool, PoolUri, PoolUsage, Result};

use crate::{
    CAPABILITIES,
    data::{self, DataReader},
    directory::Directory,
    filesystem,
    handle::PosixContainer,
    log::{self, Log},
    options::Options,
    random,
    state::Place,
    superblock::{self, Kind, Superblock},
};

const CONTAINERS: &str = "containers";
/// Containers that are not in the name space: being made, or being removed.
const LIMBO: &str = "limbo";
/// What has been in limbo for this long belongs to a process that died.
const ABANDONED: Duration = Duration::from_secs(3600);
/// The log's generation. Compaction will begin others.
const GENERATION: u64 = 1;

/// An open pool.
#[derive(Debug)]
pub(crate) struct PosixPool {
    uri: PoolUri,
    root: PathBuf,
    options: Options,
}

fn failed<'p>(what: &'p str, path: &'p Path) -> impl Fn(io::Error) -> Error + 'p {
    move |error| Error::from_io(error, format!("{what} {}", path.display()))
}

/// Writes a new file and makes it durable.
fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(failed("create", path))
}

/// Makes the names in a directory durable.
fn sync_directory(path: &Path) -> Result<()> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(failed("sync", path))
}

/// Makes an empty pool at `root`, which may be an empty directory or not there.
pub(crate) fn create(root: &Path) -> Result<()> {
    fs::create_dir_all(root).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            superblock::not_a_directory(root, Kind::Pool)
        }
        _ => failed("create", root)(error),
    })?;
    filesystem::check(root)?;
    if is_there(&root.join(superblock::FILE))? {
        return Err(Error::AlreadyExists { what: format!("pool {}", root.display()) });
    }
    let mut entries = fs::read_dir(root).map_err(failed("list", root))?;
    let stranger = |entry: &io::Result<fs::DirEntry>| {
        entry.as_ref().is_ok_and(|entry| entry.file_name() != CONTAINERS && entry.file_name() != LIMBO)
    };
    let has_containers =
        fs::read_dir(root.join(CONTAINERS)).is_ok_and(|mut entries| entries.next().is_some());
    if has_containers || entries.any(|entry| stranger(&entry)) {
        // Another process may have made the pool between the first look and this one.
        if is_there(&root.join(superblock::FILE))? {
            return Err(Error::AlreadyExists { what: format!("pool {}", root.display()) });
        }
        return Err(Error::invalid(
            format!("{} holds other files", root.display()),
            "an empty directory, or a new one, for a pool",
        ));
    }
    for folder in [CONTAINERS, LIMBO] {
        let path = root.join(folder);
        fs::create_dir_all(&path).map_err(failed("create", &path))?;
    }
    // The superblock comes last and by a link that replaces nothing: a pool is there whole or not at all.
    let block = Superblock::new()?.encode(Kind::Pool);
    let temporary = root.join(LIMBO).join(unique()?);
    write_new(&temporary, &block)?;
    let named = root.join(superblock::FILE);
    let linked = fs::hard_link(&temporary, &named).map_err(failed("create", &named));
    let _ = fs::remove_file(&temporary);
    linked?;
    sync_directory(root)?;
    root.parent().filter(|parent| !parent.as_os_str().is_empty()).map_or(Ok(()), sync_directory)
}

/// Whether something has this path. A path that may not be looked at is an error, not an absence.
fn is_there(path: &Path) -> Result<bool> {
    path.try_exists().map_err(failed("stat", path))
}

/// A name that nothing else has.
fn unique() -> Result<String> {
    Ok(format!("{:032x}", u128::from_le_bytes(random::bytes()?)))
}

/// Removes a pool with everything in it.
pub(crate) fn destroy(root: &Path) -> Result<()> {
    Superblock::read(root, Kind::Pool).or_else(absent(root))?;
    // Without its superblock it is no pool any more, whatever happens to the rest.
    let block = root.join(superblock::FILE);
    fs::remove_file(&block).map_err(failed("remove", &block))?;
    fs::remove_dir_all(root).map_err(failed("remove", root))
}

/// Tells a pool that is not there from a directory that is something else.
fn absent<T>(root: &Path) -> impl FnOnce(Error) -> Result<T> {
    move |error| match is_there(root) {
        Ok(false) => Err(Error::not_found(format!("pool {}", root.display()))),
        Ok(true) | Err(_) => Err(error),
    }
}

impl PosixPool {
    pub(crate) fn open(uri: &PoolUri, root: PathBuf, options: Options) -> Result<Self> {
        Superblock::read(&root, Kind::Pool).or_else(absent(&root))?;
        filesystem::check(&root)?;
        Ok(Self { uri: uri.clone(), root, options })
    }

    fn path(&self, label: &Label) -> PathBuf {
        self.root.join(CONTAINERS).join(label.as_str())
    }

    fn limbo(&self) -> Result<PathBuf> {
        Ok(self.root.join(LIMBO).join(unique()?))
    }

    fn open_place(&self, path: &Path) -> Result<Place> {
        let directory = Arc::new(Directory::open(path)?);
        let block = Superblock::read(path, Kind::Container)?;
        let log = Log::open(&directory, block.uuid, GENERATION)?;
        let data = DataReader::new(&Arc::new(directory.folder(data::FOLDER)?));
        Ok(Place { directory, uuid: block.uuid, marker: block.marker, log, data, options: self.options })
    }

    /// Removes what processes that died left in limbo. It is a courtesy: whatever fails is left for later.
    fn sweep_limbo(&self) {
        let is_old = |path: &Path| {
            let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
            modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > ABANDONED))
        };
        let entries = fs::read_dir(self.root.join(LIMBO)).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| is_old(path)) {
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }

    fn not_found(&self, label: &Label) -> Error {
        Error::not_found(format!("container {label} in {}", self.uri))
    }
}

/// Makes the files of a container.
fn fill(directory: &Path) -> Result<()> {
    fs::create_dir(directory).map_err(failed("create", directory))?;
    let folder = directory.join(data::FOLDER);
    fs::create_dir(&folder).map_err(failed("create", &folder))?;
    let block = Superblock::new()?;
    write_new(&directory.join(superblock::FILE), &block.encode(Kind::Container))?;
    write_new(&directory.join(log::file_name(GENERATION)), &log::header(block.uuid, GENERATION, 0))?;
    sync_directory(directory)
}

impl Pool for PosixPool {
    fn uri(&self) -> &PoolUri {
        &self.uri
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn create_container(&self, label: &Label) -> Result<()> {
        let path = self.path(label);
        if is_there(&path)? {
            return Err(Error::AlreadyExists { what: format!("container {label}") });
        }
        let limbo = self.limbo()?;
        // A directory that holds something is never replaced by a rename. What was in the way may be gone when looked for.
        let rename = || {
            fs::rename(&limbo, &path).map_err(|error| match error.kind() {
                io::ErrorKind::DirectoryNotEmpty => {
                    Error::AlreadyExists { what: format!("container {label}") }
                }
                _ => failed("create", &path)(error),
            })
        };
        let made = fill(&limbo).and_then(|()| rename());
        match made {
            Ok(()) => sync_directory(&self.root.join(CONTAINERS)),
            Err(error) => {
                let _ = fs::remove_dir_all(&limbo);
                match is_there(&path)? {
                    true => Err(Error::AlreadyExists { what: format!("container {label}") }),
                    false => Err(error),
                }
            }
        }
    }

    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        let path = self.path(label);
        let opened = self.open_place(&path).and_then(|place| PosixContainer::new(label.clone(), place));
        match opened {
            Ok(container) => Ok(Arc::new(container)),
            // Another process may have destroyed it while it was being opened.
            Err(error) if is_there(&path)? => Err(error),
            Err(_) => Err(self.not_found(label)),
        }
    }

    fn destroy_container(&self, label: &Label) -> Result<()> {
        let limbo = self.limbo()?;
        fs::rename(self.path(label), &limbo).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.not_found(label),
            _ => Error::from_io(error, format!("remove container {label}")),
        })?;
        sync_directory(&self.root.join(CONTAINERS))?;
        // The name is gone. What cannot be removed, because a handle still writes there, or for want of time,
        // is left in limbo and swept later.
        let _ = fs::remove_dir_all(&limbo);
        self.sweep_limbo();
        Ok(())
    }

    fn list_containers(&self) -> Result<Vec<Label>> {
        let folder = self.root.join(CONTAINERS);
        let mut labels = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed("list", &folder))? {
            let name = entry.map_err(failed("list", &folder))?.file_name();
            labels.extend(name.to_str().and_then(|name| name.parse::<Label>().ok()));
        }
        labels.sort();
        Ok(labels)
    }

    fn container_size(&self, label: &Label) -> Result<u64> {
        let path = self.path(label);
        if !is_there(&path)? {
            return Err(self.not_found(label));
        }
        data::folder_size(&path).map_err(failed("measure", &path))
    }

    fn usage(&self) -> Result<PoolUsage> {
        let used = data::folder_size(&self.root).map_err(failed("measure", &self.root))?;
        let (total, free) = filesystem::room(&self.root)?;
        Ok(PoolUsage { total, free, used })
    }
}
