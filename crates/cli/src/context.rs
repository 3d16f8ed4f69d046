//! From the command line and the environment to an open store: engines, configuration, clock.
//!
//! What must stay true: exactly one source names the store. The command line comes before the environment, and the
//! environment before files in well-known places.

use std::{
    env,
    error::Error,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use isotach_engine_daos::Daos;
use isotach_engine_posix::{Posix, PosixOnlooker};
use isotach_engine_rados::Rados;
use isotach_fields::{Config, Error as FieldsError, FieldStore};
use isotach_grib::Eccodes;
use isotach_mars::{Clock, Key};
use isotach_object::{Engine, Error as ObjectError, PoolUri, Registry, memory::Memory};

use crate::failure::{Failure, Outcome};

/// The name of a configuration file in the working folder and, below `isotach`, in the configuration folders of the user
/// and of the machine (XDG Base Directory Specification 0.8).
const FILE: &str = "isotach.yaml";

/// Which store.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StoreFlags {
    /// The store, as a URI: posix:/data/fields. A path alone, absolute or with ./, is a posix store.
    ///
    /// Without it: --config, then ISOTACH_STORE and ISOTACH_CONFIG in the environment, then ./isotach.yaml, then
    /// isotach/isotach.yaml in the configuration folder of the user (~/.config) or the machine (/etc/xdg).
    #[arg(long, global = true, value_name = "URI", conflicts_with = "config", help_heading = "Which store")]
    pub(crate) store: Option<String>,
    /// A configuration file.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Which store")]
    pub(crate) config: Option<PathBuf>,
}

/// The snapshot to read.
#[derive(Debug, Args)]
pub(crate) struct AtFlag {
    /// Show the store as it was when this snapshot was created
    #[arg(long, value_name = "NAME")]
    at: Option<String>,
}

/// Quotes a word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.:_-=,+@%".contains(&byte);
    if word.bytes().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The origin of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// `--store`, or `ISOTACH_STORE`.
    Store { uri: PoolUri, given_by: &'static str },
    /// A file, and what named it.
    File { path: PathBuf, given_by: &'static str },
}

impl Source {
    /// The flag that names the same store again.
    pub(crate) fn as_flag(&self) -> String {
        match self {
            Self::Store { uri, .. } => format!("--store {}", quoted(&uri.to_string())),
            Self::File { path, .. } => format!("--config {}", quoted(&path.display().to_string())),
        }
    }

    /// The same source, valid in any working folder.
    pub(crate) fn absolute(self) -> Outcome<Self> {
        match self {
            Self::File { path, given_by } => {
                let path = std::path::absolute(&path).map_err(Failure::file("find", &path))?;
                Ok(Self::File { path, given_by })
            }
            store @ Self::Store { .. } => Ok(store),
        }
    }

    /// The store's name in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Store { uri, .. } => uri.to_string(),
            Self::File { path, .. } => format!("of {}", path.display()),
        }
    }

    /// The position of a word: a place in the file, or what named the store.
    fn position_of(&self, word: &str) -> String {
        match self {
            Self::Store { given_by, .. } => (*given_by).to_owned(),
            Self::File { path, .. } => Config::place_in(path, word.trim_end_matches(':')),
        }
    }

    /// The flag, variable or folder that named it.
    pub(crate) fn given_by(&self) -> &'static str {
        match self {
            Self::Store { given_by, .. } | Self::File { given_by, .. } => given_by,
        }
    }
}

/// The engines of this program.
pub(crate) fn registry() -> Registry {
    registry_with(Arc::new(Posix))
}

fn registry_with(posix: Arc<dyn Engine>) -> Registry {
    Registry::new()
        .with(posix)
        .with(Arc::new(Rados::new()))
        .with(Arc::new(Daos::new()))
        .with(Arc::new(Memory::new()))
}

/// The configuration in force, and its origin.
pub(crate) fn configuration(target: &StoreFlags) -> Outcome<(Config, Source)> {
    let source = source(target)?;
    let config = match &source {
        Source::Store { uri, .. } => Config::single(uri),
        // Every error is a usage error: the user has to correct the file, or the name of it.
        Source::File { path, given_by } => Config::read(path).map_err(|error| match error {
            // The file does not exist or cannot be read.
            error @ FieldsError::Object(_) => Failure::from(error).into_usage().about(given_by),
            error => Failure::from(error).into_usage(),
        })?,
    };
    let registry = registry();
    for uri in uris(&config) {
        if let Err(error) = registry.engine(uri.scheme()) {
            return Err(Failure::from(error).about(source.position_of(&format!("{}:", uri.scheme()))));
        }
    }
    Ok((config.with_clock(clock()?), source))
}

/// Opens an existing store.
pub(crate) fn open(target: &StoreFlags) -> Outcome<FieldStore> {
    open_with(target, &registry())
}

/// Opens an existing store for a command that must write nothing.
pub(crate) fn open_read_only(target: &StoreFlags) -> Outcome<FieldStore> {
    open_with(target, &registry_with(Arc::new(PosixOnlooker)))
}

fn open_with(target: &StoreFlags, registry: &Registry) -> Outcome<FieldStore> {
    let (config, source) = configuration(target)?;
    let store = FieldStore::open(&config, registry).map_err(|error| not_opened(error, &config, &source))?;
    check_matches(&config, &source, &store)?;
    Ok(relabel_through_eccodes(store))
}

/// Opens an existing store in its present state, or in the state of a snapshot.
pub(crate) fn open_at(target: &StoreFlags, at: &AtFlag) -> Outcome<FieldStore> {
    let store = open(target)?;
    match &at.at {
        Some(name) => store.at(name).map_err(|error| Failure::from(error).about("--at")),
        None => Ok(store),
    }
}

/// Refuses a configuration whose spaces match keys that no dataset of the store has.
pub(crate) fn check_matches(config: &Config, source: &Source, store: &FieldStore) -> Outcome {
    match source {
        Source::File { path, .. } => Ok(config.check_matches(store.schema(), path)?),
        Source::Store { .. } => Ok(()),
    }
}

fn uris(config: &Config) -> impl Iterator<Item = &PoolUri> {
    config.spaces.iter().flat_map(|space| [&space.catalogue, &space.store])
}

/// Parses a pool's URI. A relative path becomes absolute, because URIs are also stored.
pub(crate) fn pool_uri(text: &str) -> Outcome<PoolUri> {
    check_path(text)?;
    let uri: PoolUri = text.parse()?;
    if uri.scheme() != "posix" || uri.path().is_empty() || uri.path().starts_with('/') {
        return Ok(uri);
    }
    let path = Path::new(uri.path());
    let absolute = std::path::absolute(path).map_err(Failure::file("find", path))?;
    let options = uri.to_string();
    let options = options.find('?').map_or("", |at| &options[at..]);
    Ok(format!("posix:{}{options}", absolute.display()).parse()?)
}

/// Whether two URIs name one pool, whatever their spelling and options.
pub(crate) fn is_same_pool(one: &PoolUri, other: &PoolUri) -> bool {
    let is_same_folder = || {
        let [one, other] = [one, other].map(|uri| Path::new(uri.path()).canonicalize().ok());
        one.is_some() && one == other
    };
    one.scheme() == other.scheme()
        && (one.path() == other.path() || one.scheme() == "posix" && is_same_folder())
}

/// Refuses text that looks like a path but would be parsed as something else.
fn check_path(text: &str) -> Outcome {
    let is_path = ["/", "./", "../"].iter().any(|start| text.starts_with(start));
    if is_path && text.contains('?') {
        let expected = format!("posix:{text}, because a path alone has no options");
        return Err(Failure::usage(format!("store {text:?}: expected {expected}")));
    }
    if !is_path && !text.trim().is_empty() && !text.contains(':') {
        let expected = format!("./{text} or posix:{text} for a relative path, or a URI such as posix:/path");
        return Err(Failure::usage(format!("store {text:?}: expected {expected}")));
    }
    Ok(())
}

/// Finds out what names the store.
pub(crate) fn source(target: &StoreFlags) -> Outcome<Source> {
    let store = |text: &str, given_by: &'static str| {
        let uri = pool_uri(text).map_err(|failure| failure.about(given_by))?;
        Ok(Source::Store { uri, given_by })
    };
    let file = |path: PathBuf, given_by| Ok(Source::File { path, given_by });
    if let Some(text) = &target.store {
        return store(text, "--store");
    }
    if let Some(path) = &target.config {
        return file(path.clone(), "--config");
    }
    if let Some(text) = text_variable("ISOTACH_STORE")? {
        return store(&text, "ISOTACH_STORE");
    }
    if let Some(path) = variable("ISOTACH_CONFIG") {
        return file(path.into(), "ISOTACH_CONFIG");
    }
    let here = PathBuf::from(FILE);
    if here.is_file() {
        return file(here, "the working folder");
    }
    if let Some(path) = file_in(user_folder()) {
        return file(path, "the user's configuration folder");
    }
    if let Some(path) = file_in(machine_folders()) {
        return file(path, "the machine's configuration folder");
    }
    Err(Failure::usage(
        "no store: expected --store URI, --config FILE, ISOTACH_STORE or ISOTACH_CONFIG in the environment, or a file \
         isotach.yaml",
    ))
}

/// The configuration file in the first folder that has one.
fn file_in(folders: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    folders.into_iter().map(|folder| folder.join("isotach").join(FILE)).find(|path| path.is_file())
}

fn user_folder() -> Option<PathBuf> {
    let folder = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    folder.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".config")))
}

fn machine_folders() -> Vec<PathBuf> {
    let folders = variable("XDG_CONFIG_DIRS").unwrap_or_else(|| "/etc/xdg".into());
    env::split_paths(&folders).filter(|folder| folder.is_absolute()).collect()
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn text_variable(name: &str) -> Outcome<Option<String>> {
    let text = variable(name).map(OsString::into_string).transpose();
    text.map_err(|value| Failure::usage(format!("{name}={value:?}: expected text in UTF-8")))
}

fn clock() -> Outcome<Clock> {
    let Some(day) = text_variable("ISOTACH_TODAY")? else { return Ok(Clock::system()) };
    Clock::at(&day)
        .ok_or_else(|| Failure::usage(format!("ISOTACH_TODAY={day:?}: expected a day as 2024-01-31")))
}

/// The failure for a store that cannot be opened. Most are no usage errors.
pub(crate) fn not_opened(error: FieldsError, config: &Config, source: &Source) -> Failure {
    let hint = || format!("create it with `isotach {} init`", source.as_flag());
    match error {
        FieldsError::Object(ObjectError::NotFound { .. }) if is_in_memory(config) => Failure::failed(
            "a memory: store exists within one process only: expected a store on a disk, such as posix:/path",
        ),
        FieldsError::Object(ObjectError::NotFound { what }) => match source {
            Source::Store { uri, .. } => Failure::failed(format!("store {uri} does not exist; {}", hint())),
            Source::File { .. } => Failure::failed(format!("{what} does not exist; {}", hint())),
        },
        FieldsError::NotAStore { store, why } => {
            Failure::failed(format!("{store} is not a field store: {why}; {}", hint()))
        }
        // The engine refuses the URI, so the user has to correct the URI.
        FieldsError::Object(ObjectError::InvalidInput { what, expected }) => {
            let message = format!("{what}: expected {expected}");
            match uris(config).find(|uri| what.contains(&uri.to_string())) {
                Some(uri) => Failure::usage(message).about(source.position_of(&options_of(uri))),
                None => Failure::failed(message),
            }
        }
        error => Failure::from(error).into_failed(),
    }
}

/// Whether at least one of the pools exists.
pub(crate) fn exists_partly(config: &Config) -> bool {
    let registry = registry();
    uris(config).any(|uri| registry.open_pool(uri).is_ok())
}

/// Whether a pool exists within this process only.
pub(crate) fn is_in_memory(config: &Config) -> bool {
    uris(config).any(|uri| uri.scheme() == "memory")
}

/// The options of a URI, or its scheme if it has none. The path may be spelled differently in the file.
fn options_of(uri: &PoolUri) -> String {
    let text = uri.to_string();
    text.split_once('?').map_or_else(|| uri.scheme().to_owned(), |(_, options)| options.to_owned())
}

/// Lets a store set the key of an overlay in the messages below it.
pub(crate) fn relabel_through_eccodes(store: FieldStore) -> FieldStore {
    store.relabel_with(relabelled);
    store
}

/// A message with these keys set. The keys are read back, because MARS may derive other values from those that were set.
fn relabelled(message: &[u8], keys: &Key) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let eccodes = Eccodes::load()?;
    let changed = eccodes.edit_message(message, keys.slots())?;
    let carried = Key::from(eccodes.message_key(&changed)?);
    match keys.slots().find(|(name, value)| carried.get(name).unwrap_or_default() != *value) {
        None => Ok(changed),
        Some((name, value)) => {
            let found = carried.get(name).unwrap_or("no value");
            Err(format!("{name}={value} was set, but the message has {found}").into())
        }
    }
}
