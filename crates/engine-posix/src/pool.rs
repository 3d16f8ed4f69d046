//! Pools: a directory with a superblock, the containers, and the trash.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use isotach_engine_kit::random;
use isotach_object::{
    AccessControl, Acl, Capabilities, Container, ContainerOptions, CreationRights, Error, Finding, Label,
    Maintenance, Part, Pool, PoolFacets, PoolUri, PoolUsage, Purged, Result, Rights, RightsChange, SetAside,
    Transaction, Verified, Verify, VerifyProgress,
};

use crate::{
    access::rights,
    capability::{SCHEME, capabilities},
    format::superblock::{self, Kind, Superblock},
    handle::PosixContainer,
    io::{
        data::{self, DataReader},
        directory::Directory,
        disk::{Folder, Naming, Space, Unreadable, failing, if_there},
        filesystem, flush_notes,
        log::{self, GENERATION, Log},
        storage::Storage,
        unsynced,
    },
    options::Options,
    purge::{self, reserve},
    verify::{self, quarantine, restore},
};

const CONTAINERS: &str = "containers";
/// The trash: containers outside the name space, which are being created or removed. On disk the folder is called `limbo`.
const TRASH: &str = "limbo";
/// The name of a pool's superblock while the pool is being removed.
const LEAVING: &str = "leaving";
/// What has been in the trash for this long belongs to a dead process.
const ABANDONED: Duration = Duration::from_secs(3600);

/// An open pool.
#[derive(Debug)]
pub(crate) struct PosixPool {
    disk: Arc<dyn Folder>,
    uri: PoolUri,
    root: PathBuf,
    options: Options,
}

/// Creates an empty pool at `root`, which is an empty directory or does not exist.
pub(crate) fn create(disk: &dyn Folder, root: &Path) -> Result<()> {
    disk.make_folders(root).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            superblock::not_a_directory(root, Kind::Pool)
        }
        _ => failing("create", root)(error),
    })?;
    filesystem::check(disk, root)?;
    let named = root.join(superblock::FILE);
    let refuse_pool = || match is_there(disk, &named)? {
        true => {
            // Its creator may have died before its name was durable, and others rely on it.
            disk.sync_name(&named).map_err(failing("sync", root))?;
            Err(Error::AlreadyExists { what: format!("pool {}", root.display()) })
        }
        false => Ok(()),
    };
    refuse_pool()?;
    let names = disk.names_in(root).map_err(failing("list", root))?;
    let has_strangers = names.iter().any(|name| name != CONTAINERS && name != TRASH);
    let has_containers = disk.names_in(&root.join(CONTAINERS)).is_ok_and(|names| !names.is_empty());
    if has_containers || has_strangers {
        // Another process may have created the pool since the first check.
        refuse_pool()?;
        return Err(Error::invalid(
            format!("{} holds other files", root.display()),
            "an empty directory, or a new one, for a pool",
        ));
    }
    for folder in [CONTAINERS, TRASH] {
        let path = root.join(folder);
        // A user who may create containers here may not remove those of others.
        let made = disk.make_folder(&path, Naming::Owned).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => disk.folder(&path, true).map(drop),
            _ => Err(error),
        });
        made.map_err(failing("create", &path))?;
    }
    let sync = || disk.sync_folder(root).map_err(failing("sync", root));
    // Otherwise the superblock's name could survive a power failure that theirs do not.
    sync()?;
    // The superblock comes last, by a link that replaces nothing: a pool exists completely or not at all.
    let block = Superblock::new()?.encode(Kind::Pool);
    let temporary = root.join(TRASH).join(unique()?);
    let made = disk.write_new(&temporary, &block).and_then(|file| file.sync());
    made.map_err(failing("create", &temporary))?;
    let linked = disk.link(&temporary, &named).map_err(failing("create", &named));
    let _ = disk.remove(&temporary);
    if linked.is_err() {
        // Another process may have been first.
        refuse_pool()?;
    }
    linked?;
    sync()
}

/// Whether a path exists. A path that cannot be checked is an error, not an absence.
fn is_there(disk: &dyn Folder, path: &Path) -> Result<bool> {
    disk.is_there(path).map_err(failing("stat", path))
}

/// A unique name.
fn unique() -> Result<String> {
    Ok(format!("{:032x}", u128::from_le_bytes(random::bytes()?)))
}

/// Removes a pool and everything in it, also after an interrupted removal or creation.
pub(crate) fn destroy(disk: &dyn Folder, root: &Path) -> Result<()> {
    let (block, leaving) = (root.join(superblock::FILE), root.join(LEAVING));
    match Superblock::read(disk, root, Kind::Pool) {
        // Without its superblock it is no pool any more, whatever happens to the rest. This name still identifies it.
        Ok(_) => disk.rename(&block, &leaving).map_err(failing("remove", &block))?,
        Err(_) if Superblock::read_as(disk, root, LEAVING, Kind::Pool).is_ok() => {}
        Err(error) => {
            if is_half_made(disk, root)? {
                remove_parts(disk, root)?;
            }
            return absent(disk, root)(error);
        }
    }
    remove_parts(disk, root)
}

/// Whether a directory has only what an interrupted creation of a pool leaves.
fn is_half_made(disk: &dyn Folder, root: &Path) -> Result<bool> {
    let names = if_there(disk.names_in(root)).map_err(failing("list", root))?;
    let Some(names) = names else { return Ok(false) };
    let has_strangers = names.iter().any(|name| name != CONTAINERS && name != TRASH);
    let all = |name, is_ours: fn(&OsString) -> bool| {
        disk.names_in(&root.join(name)).is_ok_and(|names| names.iter().all(is_ours))
    };
    // Until it is written, the superblock is in the trash, under a name from `unique`.
    let has_limbo = names.iter().any(|name| name == TRASH);
    let is_unique =
        |name: &OsString| name.len() == 32 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit);
    Ok(!has_strangers && all(CONTAINERS, |_| false) && (!has_limbo || all(TRASH, is_unique)))
}

/// Removes everything in a pool, the file that identifies it last, and then its folder.
fn remove_parts(disk: &dyn Folder, root: &Path) -> Result<()> {
    let sync = || disk.sync_folder(root).map_err(failing("sync", root));
    let remove = |name: &OsString| {
        let path = root.join(name);
        disk.remove_all(&path).map_err(failing("remove", &path))
    };
    // Each step is durable before the next, so a power failure leaves something that is known to be a pool, or nothing.
    sync()?;
    let names = disk.names_in(root).map_err(failing("list", root))?;
    let (last, parts): (Vec<OsString>, Vec<OsString>) = names.into_iter().partition(|name| name == LEAVING);
    parts.iter().try_for_each(remove)?;
    sync()?;
    last.iter().try_for_each(remove)?;
    // The path may be a link to the folder. The link is not the engine's.
    match disk.remove_folder(root) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(()),
        outcome => outcome.map_err(failing("remove", root)),
    }
}

/// Distinguishes a missing pool from a directory that is something else.
fn absent<'p, T>(disk: &'p dyn Folder, root: &'p Path) -> impl FnOnce(Error) -> Result<T> + 'p {
    move |error| match is_there(disk, root) {
        Ok(false) => Err(Error::not_found(format!("pool {}", root.display()))),
        Ok(true) | Err(_) => Err(error),
    }
}

impl PosixPool {
    pub(crate) fn open(
        disk: &Arc<dyn Folder>,
        uri: &PoolUri,
        root: PathBuf,
        options: Options,
    ) -> Result<Self> {
        Superblock::read(&**disk, &root, Kind::Pool).or_else(absent(&**disk, &root))?;
        filesystem::check(&**disk, &root)?;
        Ok(Self { disk: Arc::clone(disk), uri: uri.clone(), root, options })
    }

    /// The path of a container that exists.
    fn existing(&self, label: &Label) -> Result<PathBuf> {
        let path = self.path(label);
        if is_there(&*self.disk, &path)? { Ok(path) } else { Err(self.not_found(label)) }
    }

    fn path(&self, label: &Label) -> PathBuf {
        self.root.join(CONTAINERS).join(label.as_str())
    }

    fn trash_path(&self) -> Result<PathBuf> {
        Ok(self.root.join(TRASH).join(unique()?))
    }

    pub(crate) fn open_storage(&self, path: &Path) -> Result<Storage> {
        let directory = Arc::new(Directory::open(&*self.disk, path)?);
        let block = Superblock::read_in(&directory, Kind::Container)?;
        let log = Log::open(&self.disk, &directory, block.uuid, GENERATION)?;
        let data = DataReader::new(&Arc::new(directory.folder(data::FOLDER)?));
        Ok(Storage { directory, uuid: block.uuid, marker: block.marker, log, data, options: self.options })
    }

    /// Removes what dead processes left in the trash. Failures are ignored, and the next sweep tries again. Called right after something
    /// was put there.
    fn sweep_trash(&self) {
        let trash = self.root.join(TRASH);
        let modified = |path: &Path| self.disk.stat(path).map(|stat| stat.modified);
        // The folder was changed just now, by the clock that also dates its contents. The clock of this process may differ.
        let Ok(now) = modified(&trash) else { return };
        let is_old = |path: &Path| {
            modified(path).is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > ABANDONED))
        };
        let names = self.disk.names_in(&trash).unwrap_or_default();
        for path in names.iter().map(|name| trash.join(name)).filter(|path| is_old(path)) {
            let _ = self.disk.remove_all(&path);
        }
    }

    /// Creates a container atomically: `fill` creates its files in the trash.
    fn make_container(&self, label: &Label, fill: impl Fn(&Path) -> Result<()>) -> Result<()> {
        let path = self.path(label);
        // Its creator may have died before it was durable, and others rely on it.
        let exists = || {
            if self.options.sync {
                unsynced::settle_at(&*self.disk, &path)?;
            }
            Err(Error::AlreadyExists { what: format!("container {label}") })
        };
        if is_there(&*self.disk, &path)? {
            return exists();
        }
        let trash = self.trash_path()?;
        // A rename never replaces a directory that is not empty. What was in the way may be gone when it is checked.
        let rename = || {
            self.disk.rename(&trash, &path).map_err(|error| match error.kind() {
                io::ErrorKind::DirectoryNotEmpty => {
                    Error::AlreadyExists { what: format!("container {label}") }
                }
                _ => failing("create", &path)(error),
            })
        };
        let made = fill(&trash).and_then(|()| rename());
        match made {
            Ok(()) if self.options.sync => self.sync_containers(),
            Ok(()) => Ok(()),
            Err(error) => {
                let _ = self.disk.remove_all(&trash);
                match is_there(&*self.disk, &path)? {
                    true => exists(),
                    false => Err(error),
                }
            }
        }
    }

    fn sync_containers(&self) -> Result<()> {
        let folder = self.root.join(CONTAINERS);
        self.disk.sync_folder(&folder).map_err(failing("sync", &folder))
    }

    fn not_found(&self, label: &Label) -> Error {
        Error::not_found(format!("container {label} in {}", self.uri))
    }
}

/// Creates the files of a container, durably or with a mark that they are not.
fn fill(disk: &dyn Folder, directory: &Path, sync: bool) -> Result<()> {
    let folder = directory.join(data::FOLDER);
    for path in [directory, &folder] {
        disk.make_folder(path, Naming::Shared).map_err(failing("create", path))?;
    }
    let block = Superblock::new()?;
    let log = log::header(block.uuid, GENERATION, 0);
    for (name, bytes) in [
        (superblock::FILE, &block.encode(Kind::Container)),
        (&log::file_name(GENERATION), &log),
        (flush_notes::FILE, &flush_notes::empty(block.uuid)),
    ] {
        let path = directory.join(name);
        let made = disk.write_new(&path, bytes).and_then(|file| if sync { file.sync() } else { Ok(()) });
        made.map_err(failing("create", &path))?;
    }
    if !sync {
        let path = directory.join(unsynced::FILE);
        disk.write_new(&path, &unsynced::NONE_FAILED).map_err(failing("create", &path))?;
    }
    Ok(())
}

impl Pool for PosixPool {
    fn uri(&self) -> &PoolUri {
        &self.uri
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(&*self.disk)
    }

    fn facets(&self) -> PoolFacets<'_> {
        let is_shared = self.disk.is_shared();
        PoolFacets {
            access_control: is_shared.then_some(self),
            creation_rights: is_shared.then_some(self),
            maintenance: Some(self),
            ..PoolFacets::none(SCHEME)
        }
    }

    fn create_container(&self, label: &Label, options: &ContainerOptions<'_>) -> Result<()> {
        self.make_container(label, |trash| {
            fill(&*self.disk, trash, self.options.sync)?;
            if !options.updates.is_empty() {
                let container = PosixContainer::new(label.clone(), self.open_storage(trash)?)?;
                let updates = options.updates.to_vec();
                container.commit(&Transaction { updates, ..Transaction::new() })?;
                container.flush()?;
            }
            // Last: the rights apply to all existing files, and may forbid their owner to write.
            let opened = Directory::open(&*self.disk, trash)?;
            rights::begin(&opened, &options.rights)?;
            reserve::make_reserve(&opened);
            if self.options.sync { opened.sync().map_err(failing("sync", trash)) } else { Ok(()) }
        })
    }

    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        let path = self.path(label);
        let opened = self.open_storage(&path).and_then(|storage| {
            flush_notes::check(&storage)?;
            PosixContainer::new(label.clone(), storage)
        });
        match opened {
            Ok(container) => Ok(Arc::new(container)),
            // Another process may have destroyed it while it was being opened.
            Err(error) if is_there(&*self.disk, &path)? => {
                Err(rights::explain(&*self.disk, &path, "permission to read it", error))
            }
            Err(_) => Err(self.not_found(label)),
        }
    }

    fn destroy_container(&self, label: &Label) -> Result<()> {
        let trash = self.trash_path()?;
        let path = self.path(label);
        self.disk.rename(&path, &trash).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.not_found(label),
            _ => {
                let containers = self.root.join(CONTAINERS);
                let need =
                    format!("to own it and be permitted to write to {}, or to be root", containers.display());
                rights::explain(&*self.disk, &path, &need, failing("remove", &path)(error))
            }
        })?;
        if self.options.sync {
            self.sync_containers()?;
        }
        // The name is gone. What cannot be removed now, because a handle still writes there, is swept later.
        let _ = self.disk.remove_all(&trash);
        self.sweep_trash();
        Ok(())
    }

    fn list_containers(&self) -> Result<Vec<Label>> {
        let folder = self.root.join(CONTAINERS);
        let names = self.disk.names_in(&folder).map_err(failing("list", &folder))?;
        let mut labels: Vec<Label> = names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
        labels.sort();
        Ok(labels)
    }

    fn container_size(&self, label: &Label) -> Result<u64> {
        let path = self.existing(label)?;
        self.disk.size_of_all(&path, Unreadable::Fail).map_err(|error| {
            rights::explain(&*self.disk, &path, "permission to read it", failing("measure", &path)(error))
        })
    }

    fn usage(&self) -> Result<PoolUsage> {
        // Folders that this user may not read are left out.
        let used = self.disk.folder(&self.root, true).and_then(|root| root.size_of_names(Unreadable::Skip));
        let used = used.map_err(failing("measure", &self.root))?;
        let Space { total, free, .. } = filesystem::space(&*self.disk, &self.root)?;
        Ok(PoolUsage { total, free, used })
    }
}

impl AccessControl for PosixPool {
    fn rights(&self, label: &Label) -> Result<Rights> {
        let path = self.path(label);
        rights::of(&*self.disk, &path).map_err(|error| match error {
            Error::NotFound { .. } => self.not_found(label),
            error => error,
        })
    }

    fn set_rights(&self, label: &Label, change: &RightsChange) -> Result<Rights> {
        let path = self.existing(label)?;
        let need = "to own it, or to be root";
        let directory = Directory::open(&*self.disk, &path);
        let changed = directory.and_then(|directory| rights::change(&directory, change));
        changed.map_err(|error| rights::explain(&*self.disk, &path, need, error))?;
        self.rights(label)
    }
}

impl CreationRights for PosixPool {
    fn grant_create(&self, acl: &Acl) -> Result<()> {
        [TRASH, CONTAINERS].iter().try_for_each(|name| {
            let path = self.root.join(name);
            let folder =
                Directory::open(&*self.disk, &path).and_then(|folder| rights::grant_create(&folder, acl));
            folder.map_err(|error| rights::explain(&*self.disk, &path, "to own it, or to be root", error))
        })
    }
}

impl Maintenance for PosixPool {
    fn purge(&self, label: &Label, carry_out: bool) -> Result<Purged> {
        let path = self.path(label);
        match self.open_storage(&path) {
            Ok(storage) => match purge::purge(&*self.disk, &storage, carry_out) {
                // It was destroyed meanwhile.
                Err(_) if !storage.log.is_current()? => Err(self.not_found(label)),
                purged => purged,
            },
            Err(_) if !is_there(&*self.disk, &path)? => Err(self.not_found(label)),
            Err(error) => Err(error),
        }
    }

    fn verify(&self, label: &Label, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
        let path = self.path(label);
        let looked = match self.open_storage(&path) {
            Ok(storage) => verify::verify(&storage, how, progress)
                .and_then(|verified| {
                    // Findings in files that are being removed mean nothing.
                    if verified.is_sound() || storage.log.is_current()? {
                        return Ok(verified);
                    }
                    Err(self.not_found(label))
                })
                .or_else(|error| match error {
                    // Without a sound manifest the purged part of the log cannot be verified.
                    error @ Error::Corrupt { .. } => verify::of_unopened(error, Part::History),
                    error => Err(error),
                }),
            Err(error) if is_there(&*self.disk, &path)? => {
                let headless = restore::is_headless(&*self.disk, &path);
                verify::of_unopened(error, if headless { Part::End } else { Part::Description })
            }
            Err(_) => Err(self.not_found(label)),
        };
        looked.map_err(|error| self.existing(label).map_or_else(|gone| gone, |_| error))
    }

    fn quarantine(&self, label: &Label, findings: &[Finding], note: &str) -> Result<SetAside> {
        let path = self.existing(label)?;
        let container = Directory::open(&*self.disk, &path)?;
        quarantine::quarantine(&*self.disk, &self.root, label, &container, findings, note, || {
            self.open_storage(&path)
        })
    }
}
