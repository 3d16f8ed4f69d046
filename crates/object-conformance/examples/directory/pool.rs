//! A pool: containers under unique names, and the labels that name them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_object::{
    Capabilities, Container, ContainerOptions, Error, Label, NewRights, Pool, PoolFacets, PoolUri, PoolUsage,
    Result,
};

use crate::{
    container::{self, DirectoryContainer},
    engine::{CAPABILITIES, SCHEME},
    files::{self, name, sync_folder, unless_gone},
};

#[derive(Debug)]
pub(crate) struct DirectoryPool {
    uri: PoolUri,
    path: PathBuf,
}

impl DirectoryPool {
    pub(crate) fn new(uri: PoolUri, path: PathBuf) -> Self {
        Self { uri, path }
    }

    fn label(&self, label: &Label) -> PathBuf {
        self.path.join("labels").join(label.as_str())
    }

    fn containers(&self) -> PathBuf {
        self.path.join("containers")
    }

    fn trash(&self, unique: &str) -> PathBuf {
        self.path.join("trash").join(unique)
    }

    /// The folder that a file of `labels` names.
    fn named(&self, file: &Path, label: &Label) -> Result<PathBuf> {
        let unique = files::read(file)?.ok_or_else(|| not_found(label))?;
        let wrong = |_| Error::corrupt("the name of a container", name(file));
        Ok(self.containers().join(String::from_utf8(unique).map_err(wrong)?))
    }

    /// The folder of a container that exists.
    fn folder(&self, label: &Label) -> Result<PathBuf> {
        let folder = self.named(&self.label(label), label)?;
        unless_gone(fs::metadata(&folder), &folder)?.ok_or_else(|| not_found(label))?;
        Ok(folder)
    }

    /// Creates a whole container, and then gives it its label.
    fn make(&self, label: &Label, options: &ContainerOptions<'_>, unique: &str) -> Result<()> {
        let folder = self.containers().join(unique);
        container::create(&folder)?;
        let container = DirectoryContainer::new(label.clone(), folder);
        container.update(options.updates)?;
        container.flush()?;
        sync_folder(&self.containers())?;
        let draft = self.trash(unique);
        files::create(&draft, unique.as_bytes())?;
        let linked = fs::hard_link(&draft, self.label(label));
        let _ = fs::remove_file(&draft);
        match linked {
            // From here on others may have opened the container.
            Ok(()) => sync_folder(&self.path.join("labels"))
                .map_err(|error| error.after_decision(format!("container {label}"))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(label)),
            Err(error) => Err(Error::from_io(error, format!("container {label}"))),
        }
    }
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
            let what = "rights of containers other than the default".to_owned();
            return Err(Error::Unsupported { engine: SCHEME, what });
        }
        options.updates.iter().try_for_each(|update| update.check_for(SCHEME, false))?;
        if fs::symlink_metadata(self.label(label)).is_ok() {
            return Err(exists(label));
        }
        let unique = files::unique()?;
        let made = self.make(label, options, &unique);
        if matches!(&made, Err(error) if error.is_refusal()) {
            // It has no label, so nobody has opened it.
            let _ = fs::remove_dir_all(self.containers().join(&unique));
        }
        made
    }

    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        Ok(Arc::new(DirectoryContainer::new(label.clone(), self.folder(label)?)))
    }

    fn destroy_container(&self, label: &Label) -> Result<()> {
        let unique = files::unique()?;
        // The process that renames the label destroys the container.
        let taken = self.trash(&format!("{unique}-label"));
        unless_gone(fs::rename(self.label(label), &taken), &self.label(label))?
            .ok_or_else(|| not_found(label))?;
        sync_folder(&self.path.join("labels"))?;
        let folder = self.named(&taken, label)?;
        let trash = self.trash(&unique);
        // One rename, so that handles never see a part of the container.
        fs::rename(&folder, &trash).map_err(|error| Error::from_io(error, name(&folder)))?;
        fs::remove_dir_all(&trash).map_err(|error| Error::from_io(error, name(&trash)))?;
        fs::remove_file(&taken).map_err(|error| Error::from_io(error, name(&taken)))
    }

    fn list_containers(&self) -> Result<Vec<Label>> {
        let folder = self.path.join("labels");
        let wrong = |error| Error::from_io(error, name(&folder));
        let mut labels = Vec::new();
        for entry in fs::read_dir(&folder).map_err(wrong)? {
            let label = entry.map_err(wrong)?.file_name();
            let label = label.to_str().and_then(|text| text.parse().ok());
            labels.push(label.ok_or_else(|| Error::corrupt("a file that is no label", name(&folder)))?);
        }
        labels.sort();
        Ok(labels)
    }

    fn container_size(&self, label: &Label) -> Result<u64> {
        files::size_of_tree(&self.folder(label)?)
    }

    fn usage(&self) -> Result<PoolUsage> {
        let space = rustix::fs::statvfs(&self.path);
        let space = space.map_err(|error| Error::from_io(error.into(), self.uri.to_string()))?;
        Ok(PoolUsage {
            total: space.f_blocks.saturating_mul(space.f_frsize),
            free: space.f_bavail.saturating_mul(space.f_frsize),
            used: files::size_of_tree(&self.containers())?,
        })
    }
}

fn not_found(label: &Label) -> Error {
    Error::not_found(format!("container {label}"))
}

fn exists(label: &Label) -> Error {
    Error::AlreadyExists { what: format!("container {label}") }
}
