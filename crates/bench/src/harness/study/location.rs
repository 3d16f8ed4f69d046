//! The location of the data of a case: a pool of an engine, or a folder of plain files.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_object::{Error as ObjectError, Pool, PoolUri, Registry};

use crate::{Error, Result};

/// The prefix of a folder in a record, where a pool has the scheme of its engine.
const FOLDER: &str = "folder:";

/// A file in each folder that a run has created. Only folders with this file are removed.
const MARKER: &str = ".isotach-bench";

/// A location. A record has its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    Pool(PoolUri),
    Folder(PathBuf),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool(uri) => uri.fmt(f),
            Self::Folder(path) => write!(f, "{FOLDER}{}", path.display()),
        }
    }
}

impl Location {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text.strip_prefix(FOLDER) {
            Some(path) => Ok(Self::Folder(Path::new(path).to_owned())),
            None => Ok(Self::Pool(text.parse()?)),
        }
    }

    /// Its folder, if it is on a file system of this machine.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(path) => Some(path),
            Self::Pool(uri) if uri.scheme() == "posix" => Some(Path::new(uri.path())),
            Self::Pool(_) => None,
        }
    }

    pub(crate) fn pool(&self) -> Result<&PoolUri> {
        match self {
            Self::Pool(uri) => Ok(uri),
            Self::Folder(_) => Err(Error::invalid(self.to_string(), "a pool")),
        }
    }

    pub(super) fn exists(&self, registry: &Registry) -> Result<bool> {
        match self {
            Self::Folder(path) => Ok(path.exists()),
            Self::Pool(uri) => match registry.engine(uri.scheme())?.open_pool(uri) {
                Ok(_) => Ok(true),
                Err(ObjectError::NotFound { .. }) => Ok(false),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Creates it. Returns the pool if it is one.
    pub(crate) fn create(&self, registry: &Registry) -> Result<Option<Arc<dyn Pool>>> {
        match self {
            Self::Folder(path) => {
                fs::create_dir(path).map_err(Error::io("create", path))?;
                let marker = path.join(MARKER);
                let marked = fs::write(&marker, "made by isotach bench, which may remove this folder\n");
                if marked.is_err() {
                    // Without the marker nothing would remove the folder later.
                    let _ = fs::remove_dir_all(path);
                }
                marked.map_err(Error::io("write", &marker)).map(|()| None)
            }
            Self::Pool(uri) => {
                let engine = registry.engine(uri.scheme())?;
                engine.create_pool(uri)?;
                Ok(Some(engine.open_pool(uri)?))
            }
        }
    }

    /// Removes it with its contents. Returns whether it existed.
    pub(crate) fn remove(&self, registry: &Registry) -> Result<bool> {
        match self {
            Self::Folder(path) if !path.exists() => Ok(false),
            // Another program may have replaced it.
            Self::Folder(path) if !path.join(MARKER).exists() => Err(Error::invalid(
                format!("{} has no file {MARKER}", path.display()),
                "a folder that a run has created; otherwise remove it yourself",
            )),
            Self::Folder(path) => fs::remove_dir_all(path).map_err(Error::io("remove", path)).map(|()| true),
            Self::Pool(uri) => match registry.engine(uri.scheme())?.destroy_pool(uri) {
                Ok(()) => Ok(true),
                Err(ObjectError::NotFound { .. }) => Ok(false),
                // A crash during creation or removal of the pool can leave its empty folder.
                Err(error) => match self.folder().map(fs::remove_dir) {
                    Some(Ok(())) => Ok(true),
                    _ => Err(error.into()),
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use isotach_engine_posix::Posix;

    use super::*;

    #[test]
    fn the_text_of_a_location_parses_to_the_same_location() {
        for text in ["posix:/data/pool?sync=no", "folder:/data/pool-files"] {
            assert_eq!(Location::parse(text).unwrap().to_string(), text);
        }
        assert!(Location::parse("neither").is_err());
    }

    #[test]
    fn a_folder_is_created_once_and_removed_with_its_contents() {
        let (folder, registry) = (tempfile::tempdir().unwrap(), Registry::new());
        let location = Location::Folder(folder.path().join("files"));
        assert!(!location.exists(&registry).unwrap());
        assert!(location.create(&registry).unwrap().is_none() && location.exists(&registry).unwrap());
        assert!(location.create(&registry).is_err());
        fs::write(folder.path().join("files/data"), "bytes").unwrap();
        let strange = Location::Folder(folder.path().to_owned());
        assert!(strange.remove(&registry).is_err() && folder.path().join("files/data").exists());
        assert!(location.remove(&registry).unwrap() && !location.remove(&registry).unwrap());
    }

    #[test]
    fn the_empty_folder_of_a_pool_is_removed_and_any_other_is_kept() {
        let (folder, registry) = (tempfile::tempdir().unwrap(), Registry::new().with(Arc::new(Posix)));
        let root = folder.path().join("pool");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("data"), "bytes").unwrap();
        let location = Location::parse(&format!("posix:{}", root.display())).unwrap();
        assert!(location.remove(&registry).is_err() && root.join("data").exists());
        fs::remove_file(root.join("data")).unwrap();
        assert!(location.remove(&registry).unwrap() && !root.exists());
    }
}
