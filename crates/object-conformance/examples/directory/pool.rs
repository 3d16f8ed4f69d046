//! A pool: `containers` has a folder with a random name for each container, `labels` a file for each label that names one.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use isotach_engine_kit::random;
use isotach_object::{
    Capabilities, Container, ContainerOptions, Error, Label, NewRights, Pool, PoolFacets, PoolUri, PoolUsage,
    Result,
};

use crate::{
    container::DirectoryContainer,
    engine::{CAPABILITIES, SCHEME},
    file::{self, failed},
};

const CONTAINERS: &str = "containers";
const LABELS: &str = "labels";

/// Orders all changes of this process.
static CHANGES: Mutex<()> = Mutex::new(());

/// Held while something is read and replaced.
pub(crate) fn lock() -> MutexGuard<'static, ()> {
    CHANGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection to a pool.
#[derive(Debug)]
pub(crate) struct DirectoryPool {
    uri: PoolUri,
    root: PathBuf,
}

impl DirectoryPool {
    pub(crate) fn new(uri: PoolUri, root: PathBuf) -> Self {
        Self { uri, root }
    }

    pub(crate) fn make_folders(root: &Path) -> Result<()> {
        [CONTAINERS, LABELS].iter().try_for_each(|name| {
            let folder = root.join(name);
            fs::create_dir(&folder).map_err(failed("create", &folder))
        })
    }

    fn label_file(&self, label: &Label) -> PathBuf {
        // A label may end like a file that is being written; no file name here ends otherwise.
        self.root.join(LABELS).join(format!("{label}.label"))
    }

    /// The folder of the container that has this label now.
    fn folder(&self, label: &Label) -> Result<PathBuf> {
        let name = file::read(&self.label_file(label))?;
        let name = name.and_then(|name| String::from_utf8(name).ok());
        let missing = || Error::not_found(format!("container {label} in pool {}", self.uri));
        Ok(self.root.join(CONTAINERS).join(name.ok_or_else(missing)?))
    }
}

fn size_of(folder: &Path) -> Result<u64> {
    let entries = fs::read_dir(folder).map_err(failed("list", folder))?;
    let sizes = entries.map(|entry| Ok(entry?.metadata()?.len()));
    sizes.sum::<std::io::Result<u64>>().map_err(failed("measure", folder))
}

impl Pool for DirectoryPool {
    fn uri(&self) -> &PoolUri {
        &self.uri
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn facets(&self) -> PoolFacets<'_> {
        PoolFacets::none(SCHEME)
    }

    fn create_container(&self, label: &Label, options: &ContainerOptions<'_>) -> Result<()> {
        if options.rights != NewRights::default() {
            let what = "rights of containers: they are those of the folder".to_owned();
            return Err(Error::Unsupported { engine: SCHEME, what });
        }
        let name = format!("{:016x}", random::number()?);
        let folder = self.root.join(CONTAINERS).join(&name);
        fs::create_dir(&folder).map_err(failed("create", &folder))?;
        let container = DirectoryContainer::new(label.clone(), folder.clone());
        container.update(options.updates)?;
        container.flush()?;
        let _lock = lock();
        let label_file = self.label_file(label);
        if label_file.exists() {
            fs::remove_dir_all(&folder).map_err(failed("remove", &folder))?;
            return Err(Error::AlreadyExists { what: format!("container {label} in pool {}", self.uri) });
        }
        file::sync(&self.root.join(CONTAINERS))?;
        file::write(&label_file, name.as_bytes())?;
        file::sync(&label_file)?;
        file::sync(&self.root.join(LABELS))
    }

    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        Ok(Arc::new(DirectoryContainer::new(label.clone(), self.folder(label)?)))
    }

    fn destroy_container(&self, label: &Label) -> Result<()> {
        let _lock = lock();
        let (folder, label_file) = (self.folder(label)?, self.label_file(label));
        fs::remove_file(&label_file).map_err(failed("remove", &label_file))?;
        file::sync(&self.root.join(LABELS))?;
        fs::remove_dir_all(&folder).map_err(failed("remove", &folder))
    }

    fn list_containers(&self) -> Result<Vec<Label>> {
        let folder = self.root.join(LABELS);
        let mut labels = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed("list", &folder))? {
            let name = entry.map_err(failed("list", &folder))?.file_name();
            labels.extend(name.to_str().and_then(|name| name.strip_suffix(".label")?.parse().ok()));
        }
        labels.sort();
        Ok(labels)
    }

    fn container_size(&self, label: &Label) -> Result<u64> {
        size_of(&self.folder(label)?)
    }

    /// A folder has no bound of its own here, so the total is the largest number there is.
    fn usage(&self) -> Result<PoolUsage> {
        let sizes = self.list_containers()?.into_iter().map(|label| self.container_size(&label));
        let used = sizes.sum::<Result<u64>>()?;
        Ok(PoolUsage { total: u64::MAX, free: u64::MAX - used, used })
    }
}
