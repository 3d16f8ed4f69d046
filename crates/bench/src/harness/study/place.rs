//! Where a case keeps its data: a pool of an engine, or a folder of plain files.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_object::{Error as ObjectError, Pool, PoolUri, Registry};

use crate::{Error, Result};

/// What a folder's name begins with in a record, where a pool has the scheme of its engine.
const FOLDER: &str = "folder:";

/// A file in each folder that a run has made, by which it is known when it is to be removed.
const MARKER: &str = ".isotach-bench";

/// A place, which a record names by its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Pool(PoolUri),
    Folder(PathBuf),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool(uri) => uri.fmt(f),
            Self::Folder(path) => write!(f, "{FOLDER}{}", path.display()),
        }
    }
}

impl Place {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text.strip_prefix(FOLDER) {
            Some(path) => Ok(Self::Folder(Path::new(path).to_owned())),
            None => Ok(Self::Pool(text.parse()?)),
        }
    }

    /// A folder on the file system that it is on, if it is on one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(path) => Some(path),
            Self::Pool(uri) if uri.scheme() == "posix" => Some(Path::new(uri.path())),
            Self::Pool(_) => None,
        }
    }

    pub(super) fn is_there(&self, registry: &Registry) -> Result<bool> {
        match self {
            Self::Folder(path) => Ok(path.exists()),
            Self::Pool(uri) => match registry.engine(uri.scheme())?.open_pool(uri) {
                Ok(_) => Ok(true),
                Err(ObjectError::NotFound { .. }) => Ok(false),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Makes it; gives the pool, if it is one.
    pub(crate) fn make(&self, registry: &Registry) -> Result<Option<Arc<dyn Pool>>> {
        match self {
            Self::Folder(path) => {
                fs::create_dir(path).map_err(Error::io("make", path))?;
                let marker = path.join(MARKER);
                let marked = fs::write(&marker, "made by isotach bench, which may remove this folder\n");
                if marked.is_err() {
                    // Without a whole mark nobody would know later that it is to be removed.
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

    /// Removes it with all that is in it; tells whether it was there.
    pub(crate) fn remove(&self, registry: &Registry) -> Result<bool> {
        match self {
            Self::Folder(path) if !path.exists() => Ok(false),
            // By the time that it is removed something else may stand there.
            Self::Folder(path) if !path.join(MARKER).exists() => Err(Error::invalid(
                format!("{} has no file {MARKER}", path.display()),
                "a folder that a run has made; remove it by hand if it is one",
            )),
            Self::Folder(path) => fs::remove_dir_all(path).map_err(Error::io("remove", path)).map(|()| true),
            Self::Pool(uri) => match registry.engine(uri.scheme())?.destroy_pool(uri) {
                Ok(()) => Ok(true),
                Err(ObjectError::NotFound { .. }) => Ok(false),
                // Its making or its removal was cut off when there was nothing but its folder, which is empty.
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
    fn a_place_is_found_again_by_what_a_record_has_of_it() {
        for text in ["posix:/data/pool?sync=no", "folder:/data/pool-files"] {
            assert_eq!(Place::parse(text).unwrap().to_string(), text);
        }
        assert!(Place::parse("neither").is_err());
    }

    #[test]
    fn a_folder_is_made_once_and_removed_with_what_is_in_it() {
        let (folder, registry) = (tempfile::tempdir().unwrap(), Registry::new());
        let place = Place::Folder(folder.path().join("files"));
        assert!(!place.is_there(&registry).unwrap());
        assert!(place.make(&registry).unwrap().is_none() && place.is_there(&registry).unwrap());
        assert!(place.make(&registry).is_err());
        fs::write(folder.path().join("files/data"), "bytes").unwrap();
        let strange = Place::Folder(folder.path().to_owned());
        assert!(strange.remove(&registry).is_err() && folder.path().join("files/data").exists());
        assert!(place.remove(&registry).unwrap() && !place.remove(&registry).unwrap());
    }

    #[test]
    fn an_empty_folder_that_is_left_of_a_pool_is_removed_and_any_other_is_not() {
        let (folder, registry) = (tempfile::tempdir().unwrap(), Registry::new().with(Arc::new(Posix)));
        let root = folder.path().join("pool");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("data"), "bytes").unwrap();
        let place = Place::parse(&format!("posix:{}", root.display())).unwrap();
        assert!(place.remove(&registry).is_err() && root.join("data").exists());
        fs::remove_file(root.join("data")).unwrap();
        assert!(place.remove(&registry).unwrap() && !root.exists());
    }
}
