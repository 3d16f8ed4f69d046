//! Which store a handle is on: the environment's, or that of a configuration in text.
//!
//! What must stay true: a store of FDB's configuration is created where there is none, since a program built for FDB has no call for that. Its
//! roots must exist, so that a mistyped path is an error. A store that Isotach's own variables name must exist.

use std::path::{Path, PathBuf};

use isotach_capi_kit::{Failure, Result};
use isotach_fields::{Action, FieldStore, Space};
use isotach_open::{Origin, from_variables, in_known_places, no_store, registry, text_variable};

/// Opens the store that the environment names.
pub(crate) fn store_of_environment() -> Result<FieldStore> {
    if let Some(origin) = from_variables()? {
        return open(&origin).map_err(|failure| failure.about(origin.given_by()));
    }
    if let Some((origin, variable)) = named_by_fdb()? {
        return open_or_create(&origin).map_err(|failure| failure.about(variable));
    }
    let origin = in_known_places().ok_or_else(|| no_store(&[]))?;
    open(&origin).map_err(|failure| failure.about(&origin.name()))
}

/// Opens the store of a configuration in YAML or JSON.
pub(crate) fn store_of_text(system: &str, user: &str) -> Result<FieldStore> {
    if !user.trim().is_empty() {
        let read = serde_yaml_ng::from_str::<serde_yaml_ng::Value>(user);
        read.map_err(|error| Failure::invalid(format!("user_config: {error}")))?;
    }
    if system.trim().is_empty() {
        return store_of_environment();
    }
    open_or_create(&Origin::Text { text: system.to_owned(), path: "system_config".into() })
}

/// What FDB's own variables name, and the variable.
fn named_by_fdb() -> Result<Option<(Origin, &'static str)>> {
    for name in ["FDB_CONFIG", "FDB5_CONFIG"] {
        if let Some(text) = text_variable(name)? {
            return Ok(Some((Origin::Text { text, path: name.into() }, name)));
        }
    }
    let file = |path: PathBuf, name| (Origin::File { path, given_by: name }, name);
    for name in ["FDB_CONFIG_FILE", "FDB5_CONFIG_FILE"] {
        if let Some(path) = text_variable(name)? {
            return Ok(Some(file(path.into(), name)));
        }
    }
    let Some(home) = text_variable("FDB_HOME")? else { return Ok(None) };
    let mut files =
        ["yaml", "json"].map(|kind| Path::new(&home).join("etc/fdb/config").with_extension(kind)).into_iter();
    Ok(files.find(|path| path.is_file()).map(|path| file(path, "FDB_HOME")))
}

fn open(origin: &Origin) -> Result<FieldStore> {
    let engines = registry();
    Ok(origin.open(&origin.config(&engines)?, &engines)?)
}

fn open_or_create(origin: &Origin) -> Result<FieldStore> {
    match open(origin) {
        // No pool or no store is there; `create` refuses what it must not touch.
        Err(failure) if matches!(failure.code, "not-found" | "not-a-store" | "invalid-input") => {
            let engines = registry();
            let config = origin.config(&engines)?;
            let writable = config.spaces.iter().filter(|space| !space.forbidden.contains(Action::Archive));
            writable.flat_map(roots).try_for_each(check_root)?;
            Ok(origin.create(&config, &engines)?)
        }
        opened => opened,
    }
}

/// The folders of a space.
fn roots(space: &Space) -> impl Iterator<Item = &Path> {
    let pools = [&space.catalogue, &space.store].into_iter().filter(|uri| uri.scheme() == "posix");
    pools.map(|uri| Path::new(uri.path()))
}

fn check_root(path: &Path) -> Result<()> {
    match path.is_dir() {
        true => Ok(()),
        false => Err(Failure {
            code: "not-found",
            text: format!("root {}: expected a folder that exists, as FDB does", path.display()),
        }),
    }
}
