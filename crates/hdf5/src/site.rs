//! [`Site`]: where files are, and the process's open files.
//!
//! What must stay true: one [`File`] for each container that is open in the process, and a path that holds something else is written only by a creation that replaces it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use isotach_object::{Container, Engine, Error as ObjectError, Label, Pool, PoolUri, Registry};

use crate::{
    Error, File, Header, Result,
    creation::create_container,
    layout::{self, ROOT},
    names::{
        absent, absent_or, absolute, exists, in_folder, in_use, label_of, lost_or, new_label, read_only,
        something_else,
    },
    open_files::{Key, Open, is_open, open_as_any, open_files, register},
    snapshots::{self, Past},
    stub::{self, Found, Stub},
};

mod there;

/// The variable with the URI of the pool.
const VARIABLE: &str = "ISOTACH_H5_POOL";
/// The variable with the name of the snapshot at which files are opened.
const SNAPSHOT: &str = "ISOTACH_H5_SNAPSHOT";
/// The folder of the pool beside files.
const FOLDER: &str = ".isotach-h5";

/// What becomes of a file that exists when one is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// It is replaced by an empty one.
    Truncate,
    /// It is kept, and the creation fails.
    New,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For reading.
    ReadOnly,
    /// For reading and writing.
    ReadWrite,
}

/// Where files are: in one pool, or each in a pool beside its path.
#[derive(Debug, Clone)]
pub struct Site {
    pool: Option<PoolUri>,
    /// The options of pools beside files, with a question mark in front.
    options: String,
    /// The past state at which files are opened.
    pub(crate) past: Option<Past>,
    registry: Registry,
}

/// Where a file is, by its name.
enum Place {
    /// In this pool, under this label; with a path, if the name is one.
    Pool { uri: PoolUri, label: Label, path: Option<PathBuf> },
    /// In a pool beside this path.
    Beside(PathBuf),
}

impl Place {
    /// The path, if the name is one.
    fn path(self) -> Option<PathBuf> {
        match self {
            Self::Pool { path, .. } => path,
            Self::Beside(path) => Some(path),
        }
    }
}

impl Site {
    /// Files in this pool or, without one, in pools beside their paths.
    pub fn new(pool: Option<PoolUri>, registry: Registry) -> Self {
        Self { pool, options: String::new(), past: None, registry }
    }

    /// The same with these options of pools beside paths, as in `sync=no`.
    #[must_use]
    pub fn with_options(mut self, options: &str) -> Self {
        let options = options.trim_start_matches('?');
        self.options = if options.is_empty() { String::new() } else { format!("?{options}") };
        self
    }

    /// The site that a text names (a pool's URI; empty for none), or else `ISOTACH_H5_POOL`. A text that begins with a question mark has
    /// options of pools beside paths. `ISOTACH_H5_SNAPSHOT` may name the snapshot at which files are opened.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is no URI of a pool, or a name that no snapshot has.
    pub fn from_environment(info: Option<&str>) -> Result<Self> {
        let info = info.map(str::trim).filter(|info| !info.is_empty()).map(str::to_owned);
        let text = info.or_else(|| std::env::var(VARIABLE).ok()).unwrap_or_default();
        let registry = isotach_open::registry();
        if text.is_empty() || text.starts_with('?') {
            return Self::new(None, registry).with_options(&text).at_named_snapshot();
        }
        let wrong = |error| Error::invalid(format!("{VARIABLE}: {error}"), "a URI such as posix:/data/pool");
        let uri = isotach_open::pool_uri(&text).map_err(wrong)?;
        Self::new(Some(uri), registry).at_named_snapshot()
    }

    fn at_named_snapshot(self) -> Result<Self> {
        match std::env::var(SNAPSHOT).ok().filter(|name| !name.is_empty()) {
            Some(name) => self.at_snapshot(&name),
            None => Ok(self),
        }
    }

    /// Creates a file whose root group has this header and which has these encoded properties. Others find it once this returns, but for
    /// a file in a pool that is truncated: the old content stays visible until the first commit.
    ///
    /// # Errors
    /// `AlreadyExists` (`errno = 17`) with [`Creation::New`]; `InvalidInput` for a path that holds something else, or a file that this process
    /// has open; `Object`, `Io`.
    pub fn create(
        &self,
        name: &str,
        creation: Creation,
        root: &Header,
        properties: &[u8],
    ) -> Result<Arc<File>> {
        match self.place(name)? {
            Place::Pool { uri, label, path } => {
                let stub = Stub { label: label.clone(), pool: uri.to_string() };
                let is_free = path.as_deref().map(|path| is_free(name, path, &stub, creation)).transpose()?;
                if is_free == Some(false) && creation == Creation::New {
                    return Err(exists(name));
                }
                let file =
                    self.create_in_pool(name, (&uri, &label), path.clone(), creation, root, properties)?;
                if let (Some(path), Some(true)) = (path, is_free) {
                    // A path that cannot be written, has no stub.
                    let _ = stub::write(&path, &stub, false, false);
                }
                Ok(file)
            }
            Place::Beside(path) => self.create_beside(name, &path, creation, root, properties),
        }
    }

    fn create_in_pool(
        &self,
        name: &str,
        (uri, label): (&PoolUri, &Label),
        path: Option<PathBuf>,
        creation: Creation,
        root: &Header,
        properties: &[u8],
    ) -> Result<Arc<File>> {
        let mut open = open_files();
        if is_open(&open, uri, label) {
            return Err(match creation {
                Creation::New => exists(name),
                Creation::Truncate => in_use(name),
            });
        }
        let pool = self.create_pool(uri)?;
        let file = match create_container(&*pool, label, root, properties) {
            Ok(()) => File::new(name, pool.open_container(label)?, ROOT, true)?,
            Err(Error::Object(ObjectError::AlreadyExists { .. })) if creation == Creation::Truncate => {
                let container = pool.open_container(label)?;
                layout::check(&*container, name)?;
                File::truncated(name, container, root, properties)?
            }
            Err(Error::Object(ObjectError::AlreadyExists { .. })) => return Err(exists(name)),
            Err(error) => return Err(error),
        };
        Ok(register(&mut open, Key::of(uri, label), file.with_stub(path)))
    }

    fn create_beside(
        &self,
        name: &str,
        path: &Path,
        creation: Creation,
        root: &Header,
        properties: &[u8],
    ) -> Result<Arc<File>> {
        let mut open = open_files();
        let old = match (stub::read(path)?, creation) {
            (Found::Nothing, _) => None,
            (_, Creation::New) => return Err(exists(name)),
            (Found::Kept(what), Creation::Truncate) => return Err(something_else(name, what)),
            (Found::Empty | Found::Other(_), Creation::Truncate) => {
                check_rights(name, path)?;
                None
            }
            (Found::Stub(stub), Creation::Truncate) => {
                check_rights(name, path)?;
                let uri = self.pool_of(path, &stub)?;
                if is_open(&open, &uri, &stub.label) {
                    return Err(in_use(name));
                }
                Some((uri, stub.label))
            }
        };
        // The pool would be made with all folders above it.
        if !path.parent().is_some_and(Path::is_dir) {
            return Err(absent(name));
        }
        let stub = Stub { label: new_label(path)?, pool: FOLDER.to_owned() };
        let uri = self.pool_of(path, &stub)?;
        let pool = self.create_pool(&uri).map_err(|error| in_folder(error, name))?;
        create_container(&*pool, &stub.label, root, properties)?;
        let container = pool.open_container(&stub.label)?;
        let syncs = uri.option("sync") != Some("no");
        if let Err(error) = stub::write(path, &stub, creation == Creation::New, syncs) {
            // Nobody can have found it.
            let _ = pool.destroy_container(&stub.label);
            return Err(match error {
                Error::AlreadyExists { .. } => exists(name),
                error => error,
            });
        }
        if let Some((uri, label)) = old {
            // One that stays loses only space.
            let _ = self.registry.open_pool(&uri).and_then(|pool| pool.destroy_container(&label));
        }
        let file = File::new(name, container, ROOT, true)?.with_stub(Some(path.to_owned()));
        Ok(register(&mut open, Key::of(&uri, &stub.label), file))
    }

    /// Opens a file. All handles of a process share one [`File`], which becomes writable when the first writer comes; without
    /// changes it goes to the newest version. If there is no file of this name, what is behind its last `@` is the name of a snapshot,
    /// which is opened for reading.
    ///
    /// # Errors
    /// `NotFound` (`errno = 2`); `ReadOnly` for a snapshot that is to be written; `Foreign` for a path that holds a file of others;
    /// `InvalidInput` for one that holds something else; `Object`, `Io`.
    pub fn open(&self, name: &str, access: Access) -> Result<Arc<File>> {
        self.open_as(name, access, None)
    }

    /// The same for a process alone, or for a rank of several.
    pub(crate) fn open_as(&self, name: &str, access: Access, rank: Option<usize>) -> Result<Arc<File>> {
        let mut open = open_files();
        let mut open_at = |name: &str, past: Option<&Past>| {
            let (uri, label) = self.locate(name, access)?;
            let key = Key { past: past.cloned(), rank, ..Key::of(&uri, &label) };
            self.open_key(&mut open, key, name, access)
        };
        let absent = match open_at(name, self.past.as_ref()) {
            Err(error @ Error::NotFound { .. }) => error,
            outcome => return outcome,
        };
        match self.parts(name) {
            Some((file, snapshot)) if self.is_there(&file)? => {
                open_at(&file, Some(&Past::Snapshot(snapshot)))
            }
            _ => Err(self.foreign(name)?.unwrap_or(absent)),
        }
    }

    pub(crate) fn open_key(
        &self,
        open: &mut Open,
        key: Key,
        name: &str,
        access: Access,
    ) -> Result<Arc<File>> {
        let past = key.past.as_ref();
        let is_written = access == Access::ReadWrite;
        key.check_others(open, name)?;
        if let Some(file) = open.get(&key).and_then(Weak::upgrade) {
            match past {
                Some(past) if is_written => return Err(read_only(name, past)),
                None if is_written => file.make_writable(),
                _ => {}
            }
            if past.is_none() && !file.has_changes() && !file.is_to_stay() {
                file.refresh()?;
            }
            return Ok(file);
        }
        let missing = |error| match self.place(name) {
            Ok(Place::Beside(_)) => lost_or(error, name, &key.pool, &key.label),
            _ => absent_or(error, name),
        };
        let pool = self.pool(&key).map_err(missing)?;
        let container = pool.open_container(&key.label).map_err(missing)?;
        let root = match layout::check(&*container, name) {
            Err(Error::InvalidInput { .. }) if layout::is_empty(&*container)? => return Err(absent(name)),
            root => root?,
        };
        let file = match past {
            None => File::new(name, container, root, is_written)?.with_stub(self.place(name)?.path()),
            Some(past) if is_written => return Err(read_only(name, past)),
            Some(past) => {
                let container = snapshots::open(&*container, past, name)?;
                let root = layout::check(&*container, name)?;
                File::of_past(&format!("{past} of {name}"), container, root)?
            }
        };
        Ok(register(open, key, file))
    }

    /// The name of a file and of a snapshot behind it.
    fn parts(&self, name: &str) -> Option<(String, Label)> {
        snapshots::parts(name, self.scheme(name).is_some())
    }

    /// Deletes a file.
    ///
    /// # Errors
    /// `NotFound` (`errno = 2`); `Foreign` for a path that holds a file of others; `InvalidInput` for one that holds something else, or a file
    /// that this process has open; `Object`, `Io`.
    pub fn delete(&self, name: &str) -> Result<()> {
        let open = open_files();
        let (uri, label) = self.locate(name, Access::ReadWrite)?;
        if is_open(&open, &uri, &label) {
            return Err(in_use(name));
        }
        if let Some(path) = self.place(name)?.path()
            && matches!(stub::read(&path), Ok(Found::Stub(stub)) if stub.label == label)
        {
            // The stub first: without it nobody finds the container.
            fs::remove_file(&path).map_err(|error| Error::from_io(error, format!("file {name}")))?;
        }
        let pool = self.registry.open_pool(&uri).map_err(|error| absent_or(error, name))?;
        pool.destroy_container(&label).map_err(|error| absent_or(error, name))
    }

    /// A handle on the container of a file for a sweep.
    pub(crate) fn container_to_sweep(&self, name: &str) -> Result<Arc<dyn Container>> {
        let (uri, label) = self.locate(name, Access::ReadWrite)?;
        // A rank's is under a key of its own.
        let open: Vec<_> = open_as_any(&open_files(), &uri, &label).collect();
        if open.iter().any(|file| file.has_changes()) {
            let what = format!("a sweep of file {name}, which this process has changed");
            return Err(Error::invalid(what, "a file whose changes are committed"));
        }
        let pool = self.registry.open_pool(&uri).map_err(|error| absent_or(error, name))?;
        let container = pool.open_container(&label).map_err(|error| absent_or(error, name))?;
        layout::check(&*container, name)?;
        Ok(container)
    }

    /// The pool of an open file.
    pub(crate) fn pool(&self, key: &Key) -> Result<Arc<dyn Pool>, ObjectError> {
        self.registry.open_pool(&key.pool.parse()?)
    }

    /// The pool and the label of a file that should exist.
    fn locate(&self, name: &str, access: Access) -> Result<(PoolUri, Label)> {
        let path = match self.place(name)? {
            Place::Pool { uri, label, .. } => return Ok((uri, label)),
            Place::Beside(path) => path,
        };
        match stub::read(&path)? {
            Found::Nothing => Err(absent(name)),
            Found::Empty => Err(something_else(name, "a file without bytes")),
            Found::Other(what) => Err(Error::Foreign { name: name.to_owned(), what }),
            Found::Kept(what) => Err(something_else(name, what)),
            Found::Stub(stub) => {
                if access == Access::ReadWrite {
                    check_rights(name, &path)?;
                }
                Ok((self.pool_of(&path, &stub)?, stub.label))
            }
        }
    }

    /// The pool that a stub names.
    fn pool_of(&self, path: &Path, stub: &Stub) -> Result<PoolUri> {
        if self.scheme(&stub.pool).is_some() {
            return Ok(stub.pool.parse()?);
        }
        let folder = path.parent().unwrap_or(Path::new("/")).join(&stub.pool);
        let text = folder.to_str().filter(|text| !text.contains('?')).ok_or_else(|| {
            Error::invalid(format!("folder {}", folder.display()), "a path in UTF-8 without a question mark")
        })?;
        Ok(format!("posix:{text}{}", self.options).parse()?)
    }

    /// The scheme of a URI whose engine is known.
    fn scheme<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (scheme, _) = name.split_once(':')?;
        self.registry.engine(&scheme.to_ascii_lowercase()).is_ok().then_some(scheme)
    }

    fn place(&self, name: &str) -> Result<Place> {
        if name.is_empty() {
            return Err(Error::invalid("a file without a name", "a path or a URI"));
        }
        let is_uri = self.scheme(name).is_some() || name.contains("://");
        if let Some(uri) = &self.pool {
            let path = if is_uri { None } else { Some(absolute(name)?) };
            let whole = path.as_ref().map_or(name.to_owned(), |path| path.to_string_lossy().into_owned());
            return Ok(Place::Pool { uri: uri.clone(), label: label_of(&whole)?, path });
        }
        if !is_uri {
            return Ok(Place::Beside(absolute(name)?));
        }
        let (pool, last) = name.rsplit_once('/').ok_or_else(|| {
            Error::invalid(format!("file {name}"), "the URI of a pool, a slash and the name of the file")
        })?;
        let (last, options) = last.split_once('?').unwrap_or((last, ""));
        let options = if options.is_empty() { self.options.clone() } else { format!("?{options}") };
        let uri = isotach_open::pool_uri(&format!("{pool}{options}"));
        let uri = uri.map_err(|error| Error::invalid(format!("file {name}: {error}"), "a known engine"))?;
        Ok(Place::Pool { uri, label: label_of(last)?, path: None })
    }

    /// Opens a pool, and creates it if it is not there.
    fn create_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        match self.registry.open_pool(uri) {
            // Another process may be creating it, which makes the folder first.
            Err(ObjectError::NotFound { .. } | ObjectError::InvalidInput { .. }) => {}
            found => return Ok(found?),
        }
        let engine: &Arc<dyn Engine> = self.registry.engine(uri.scheme())?;
        match engine.create_pool(uri) {
            Ok(()) | Err(ObjectError::AlreadyExists { .. }) => Ok(engine.open_pool(uri)?),
            Err(error) => Err(error.into()),
        }
    }
}

/// Refuses a path that may not be written: its rights are those of the file.
/// Whether a path may get the stub of a file in a pool. What cannot be read stays.
fn is_free(name: &str, path: &Path, stub: &Stub, creation: Creation) -> Result<bool> {
    let Ok(found) = stub::read(path) else { return Ok(false) };
    let is_free = found.gives_way_to(stub, creation == Creation::Truncate);
    if is_free && matches!(found, Found::Other(_)) {
        check_rights(name, path)?;
    }
    Ok(is_free)
}

fn check_rights(name: &str, path: &Path) -> Result<()> {
    let writable = fs::OpenOptions::new().write(true).open(path);
    writable.map(drop).map_err(|error| Error::from_io(error, format!("write file {name}")))
}
