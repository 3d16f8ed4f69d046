//! From what was typed and the environment to a store: which engines there are, which configuration counts, what day it
//! is.
//!
//! What must stay true: what stands on the command line counts before the environment, and that before files that happen
//! to be there. Exactly one source counts.

use std::{
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_engine_posix::Posix;
use isotach_fields::{Config, Error as FieldsError, FieldStore};
use isotach_mars::Clock;
use isotach_object::{Error as ObjectError, PoolUri, Registry, memory::Memory};

use crate::{
    failure::{Failure, Outcome},
    flags::PlaceFlags,
};

/// The file that is looked for in the working folder and, below `isotach`, in the user's configuration folder.
const FILE: &str = "isotach.yaml";

/// Where a configuration came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// `--store`, or `ISOTACH_STORE`.
    Store { uri: PoolUri, given_by: &'static str },
    /// A file, and what named it.
    File { path: PathBuf, given_by: &'static str },
}

impl Source {
    /// What to type to mean the same store again.
    pub(crate) fn as_flag(&self) -> String {
        match self {
            Self::Store { uri, .. } => format!("--store {uri}"),
            Self::File { path, .. } => format!("--config {}", path.display()),
        }
    }

    /// What the store is called in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Store { uri, .. } => uri.to_string(),
            Self::File { path, .. } => format!("of {}", path.display()),
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
    Registry::new().with(Arc::new(Posix)).with(Arc::new(Memory::new()))
}

/// The configuration that counts, and where it came from.
pub(crate) fn configuration(place: &PlaceFlags) -> Outcome<(Config, Source)> {
    let source = source(place)?;
    let config = match &source {
        Source::Store { uri, .. } => Config::single(uri),
        Source::File { path, .. } => Config::read(path)?,
    };
    Ok((config.with_clock(clock()?), source))
}

/// Opens the store that is there.
pub(crate) fn open(place: &PlaceFlags) -> Outcome<FieldStore> {
    let (config, source) = configuration(place)?;
    FieldStore::open(&config, &registry()).map_err(|error| not_opened(error, &source))
}

/// A pool's URI as typed: a relative path is taken from the working folder, so that what is stored holds anywhere.
pub(crate) fn pool_uri(text: &str) -> Outcome<PoolUri> {
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

/// What names the store.
pub(crate) fn source(place: &PlaceFlags) -> Outcome<Source> {
    let store = |text: &str, given_by| Ok(Source::Store { uri: pool_uri(text)?, given_by });
    let file = |path: PathBuf, given_by| Ok(Source::File { path, given_by });
    if let Some(text) = &place.store {
        return store(text, "--store").map_err(|failure: Failure| failure.about("--store"));
    }
    if let Some(path) = &place.config {
        return file(path.clone(), "--config");
    }
    if let Some(text) = variable("ISOTACH_STORE") {
        return store(&text, "ISOTACH_STORE").map_err(|failure: Failure| failure.about("ISOTACH_STORE"));
    }
    if let Some(path) = variable("ISOTACH_CONFIG") {
        return file(path.into(), "ISOTACH_CONFIG");
    }
    let here = PathBuf::from(FILE);
    if here.is_file() {
        return file(here, "the working folder");
    }
    match user_file() {
        Some(path) if path.is_file() => file(path, "the user's configuration folder"),
        _ => Err(Failure::usage(
            "no store: expected --store URI, --config FILE, ISOTACH_STORE or ISOTACH_CONFIG in the environment, or a \
             file isotach.yaml",
        )),
    }
}

fn user_file() -> Option<PathBuf> {
    let folder = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".config")))?;
    Some(folder.join("isotach").join(FILE))
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn clock() -> Outcome<Clock> {
    let Some(day) = variable("ISOTACH_TODAY") else { return Ok(Clock::system()) };
    Clock::at(&day)
        .ok_or_else(|| Failure::usage(format!("ISOTACH_TODAY={day:?}: expected a day as 2024-01-31")))
}

/// What to say when a store cannot be opened: nothing was typed wrong in the narrow sense, so it is a failure.
pub(crate) fn not_opened(error: FieldsError, source: &Source) -> Failure {
    let hint = format!("create it with `isotach {} init`", source.as_flag());
    match (error, source) {
        (FieldsError::Object(ObjectError::NotFound { .. }), Source::Store { uri, .. }) => {
            Failure::failed(format!("store {uri} does not exist; {hint}"))
        }
        (FieldsError::Object(ObjectError::NotFound { what }), Source::File { .. }) => {
            Failure::failed(format!("{what} does not exist; {hint}"))
        }
        (FieldsError::Object(ObjectError::InvalidInput { what, expected }), _) => {
            Failure::failed(format!("{what}: expected {expected}; for a new store, {hint}"))
        }
        (FieldsError::NotAStore { store, why }, _) => {
            Failure::failed(format!("{store} is not a field store: {why}; {hint}"))
        }
        (error, _) => Failure::from(error).not_typed(),
    }
}
