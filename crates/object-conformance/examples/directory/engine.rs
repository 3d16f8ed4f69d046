//! The engine of the URIs `directory:/path`: pools are created whole under another name and then renamed.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_object::{Capabilities, Engine, Error, Pool, PoolUri, Result};

use crate::{
    files::{self, sync_folder},
    pool::DirectoryPool,
};

/// The scheme of the engine's URIs.
pub(crate) const SCHEME: &str = "directory";

/// What it can do beyond the core.
pub(crate) const CAPABILITIES: Capabilities =
    Capabilities { ordered_listing: true, ordered_updates: true, persistent: true, ..Capabilities::NONE };

/// The file that marks a folder as a pool, and its contents.
const MARK: &str = "POOL";
const FORMAT: &[u8] = b"directory 1";

/// The engine.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Directory;

impl Engine for Directory {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        let path = path_of(uri)?;
        if fs::symlink_metadata(path.join(MARK)).is_ok() {
            return Err(Error::AlreadyExists { what: uri.to_string() });
        }
        let draft = beside(&path)?;
        let made = make_pool(&draft).and_then(|()| match fs::rename(&draft, &path) {
            Ok(()) => sync_folder(parent(&path)),
            Err(error) => Err(not_made(uri, &path, error)),
        });
        if made.is_err() {
            let _ = fs::remove_dir_all(&draft);
        }
        made
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        let path = path_of(uri)?;
        check_pool(uri, &path)?;
        Ok(Arc::new(DirectoryPool::new(uri.clone(), path)))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        let path = path_of(uri)?;
        check_pool(uri, &path)?;
        let removed = beside(&path)?;
        fs::rename(&path, &removed).map_err(|error| Error::from_io(error, uri.to_string()))?;
        sync_folder(parent(&path))?;
        fs::remove_dir_all(&removed).map_err(|error| Error::from_io(error, removed.display().to_string()))
    }
}

fn make_pool(draft: &Path) -> Result<()> {
    for folder in [draft.to_owned(), draft.join("labels"), draft.join("containers"), draft.join("trash")] {
        fs::create_dir(&folder).map_err(|error| Error::from_io(error, folder.display().to_string()))?;
    }
    files::create(&draft.join(MARK), FORMAT)?;
    sync_folder(draft)
}

/// Why a new pool could not get its name.
fn not_made(uri: &PoolUri, path: &Path, error: io::Error) -> Error {
    match error.kind() {
        _ if path.join(MARK).exists() => Error::AlreadyExists { what: uri.to_string() },
        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            Error::invalid(uri.to_string(), "an unused path, or an empty folder")
        }
        _ => Error::from_io(error, uri.to_string()),
    }
}

/// Refuses a path that is no pool.
fn check_pool(uri: &PoolUri, path: &Path) -> Result<()> {
    match files::read(&path.join(MARK))? {
        Some(format) if format == FORMAT => Ok(()),
        Some(_) => Err(Error::NewerFormat { what: format!("{uri} has an unknown format") }),
        None if fs::symlink_metadata(path).is_ok() => {
            Err(Error::invalid(uri.to_string(), "a folder that is a pool of this engine"))
        }
        None => Err(Error::not_found(uri.to_string())),
    }
}

fn path_of(uri: &PoolUri) -> Result<PathBuf> {
    if uri.scheme() != SCHEME {
        return Err(Error::invalid(uri.to_string(), format!("a URI with the scheme {SCHEME}")));
    }
    uri.check_options(&[])?;
    let path = PathBuf::from(uri.path());
    match path.file_name() {
        Some(_) => Ok(path),
        None => Err(Error::invalid(uri.to_string(), "the path of a folder, such as directory:/data")),
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A path on the same file system that nobody else uses.
fn beside(path: &Path) -> Result<PathBuf> {
    Ok(parent(path).join(format!(".directory-{}", files::unique()?)))
}
