//! From the command line and the environment to an open store, through `isotach-open`, and the messages of failures to open it.
//!
//! What must stay true: exactly one source names the store. The command line comes before the environment.

use std::path::PathBuf;

use clap::Args;
use isotach_fields::{Config, Error as FieldsError, FieldStore};
use isotach_object::{Error as ObjectError, PoolUri, Registry};
pub(crate) use isotach_open::{Origin as Source, is_in_memory, is_same_pool, registry, with_grib};
use isotach_open::{from_environment, no_store, pools, read_only_registry};

use crate::failure::{Failure, Outcome};

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

/// The flag that names the same store again.
pub(crate) fn flag_of(source: &Source) -> String {
    match source {
        Source::Store { uri, .. } => format!("--store {}", quoted(&uri.to_string())),
        Source::File { path, .. } | Source::Text { path, .. } => {
            format!("--config {}", quoted(&path.display().to_string()))
        }
    }
}

/// The configuration in force, and its origin.
pub(crate) fn configuration(target: &StoreFlags) -> Outcome<(Config, Source)> {
    let source = source(target)?;
    // Every error is a usage error: the user has to correct the file, or the name of it.
    let config = source.config(&registry()).map_err(|error| match error {
        // The file does not exist or cannot be read.
        error @ FieldsError::Object(_) => Failure::from(error).into_usage().about(source.given_by()),
        error => Failure::from(error).into_usage(),
    })?;
    Ok((config, source))
}

/// Opens an existing store.
pub(crate) fn open(target: &StoreFlags) -> Outcome<FieldStore> {
    open_with(target, &registry())
}

/// Opens an existing store for a command that must write nothing.
pub(crate) fn open_read_only(target: &StoreFlags) -> Outcome<FieldStore> {
    open_with(target, &read_only_registry())
}

fn open_with(target: &StoreFlags, registry: &Registry) -> Outcome<FieldStore> {
    let (config, source) = configuration(target)?;
    let store = FieldStore::open(&config, registry).map_err(|error| not_opened(error, &config, &source))?;
    check_matches(&config, &source, &store)?;
    Ok(with_grib(store))
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
    Ok(source.check_matches(config, store)?)
}

/// Parses a pool's URI, or a path alone.
pub(crate) fn pool_uri(text: &str) -> Outcome<PoolUri> {
    Ok(isotach_open::pool_uri(text)?)
}

/// Finds out what names the store.
pub(crate) fn source(target: &StoreFlags) -> Outcome<Source> {
    if let Some(text) = &target.store {
        let uri = pool_uri(text).map_err(|failure| failure.about("--store"))?;
        return Ok(Source::Store { uri, given_by: "--store" });
    }
    if let Some(path) = &target.config {
        return Ok(Source::File { path: path.clone(), given_by: "--config" });
    }
    from_environment()?.ok_or_else(|| Failure::usage(no_store(&["--store URI", "--config FILE"])))
}

/// The failure for a store that cannot be opened. Most are no usage errors.
pub(crate) fn not_opened(error: FieldsError, config: &Config, source: &Source) -> Failure {
    let hint = || format!("create it with `isotach {} init`", flag_of(source));
    match error {
        FieldsError::Object(ObjectError::NotFound { .. }) if is_in_memory(config) => Failure::failed(
            "a memory: store exists within one process only: expected a store on a disk, such as posix:/path",
        ),
        FieldsError::Object(ObjectError::NotFound { what }) => match source {
            Source::Store { uri, .. } => Failure::failed(format!("store {uri} does not exist; {}", hint())),
            Source::File { .. } | Source::Text { .. } => {
                Failure::failed(format!("{what} does not exist; {}", hint()))
            }
        },
        FieldsError::NotAStore { store, why } => {
            Failure::failed(format!("{store} is not a field store: {why}; {}", hint()))
        }
        // The engine refuses the URI, so the user has to correct the URI.
        FieldsError::Object(ObjectError::InvalidInput { what, expected }) => {
            let message = format!("{what}: expected {expected}");
            match pools(config).find(|uri| what.contains(&uri.to_string())) {
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
    pools(config).any(|uri| registry.open_pool(uri).is_ok())
}

/// The options of a URI, or its scheme if it has none. The path may be spelled differently in the file.
fn options_of(uri: &PoolUri) -> String {
    let text = uri.to_string();
    text.split_once('?').map_or_else(|| uri.scheme().to_owned(), |(_, options)| options.to_owned())
}
