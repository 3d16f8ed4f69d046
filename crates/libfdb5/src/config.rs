//! Which store a handle is on: the environment's, or that of a configuration in text.
//!
//! What must stay true: a store of FDB's configuration is created where there is none, since a program built for FDB has no call for that. Its
//! roots must exist, so that a mistyped path is an error. A store that Isotach's own variables name must exist.

use std::path::Path;

use isotach_capi_kit::{Failure, Named, Result, create, named_by_isotach, open, text_variable};
use isotach_fields::{Action, Config, FieldStore, Space};

/// Opens the store that the environment names.
pub(crate) fn store_of_environment() -> Result<FieldStore> {
    let mut is_fdbs = false;
    let named = named_by_isotach(|| {
        let found = named_by_fdb()?;
        is_fdbs = found.is_some();
        Ok(found)
    })?;
    let opened = if is_fdbs { open_or_create(named.config) } else { open(named.config) };
    opened.map_err(|failure| failure.about(&named.given_by))
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
    open_or_create(Config::parse(system, Path::new("system_config"))?)
}

/// What FDB's own variables name.
fn named_by_fdb() -> Result<Option<Named>> {
    for name in ["FDB_CONFIG", "FDB5_CONFIG"] {
        if let Some(text) = text_variable(name)? {
            let config = Config::parse(&text, Path::new(name))?;
            return Ok(Some(Named { config, given_by: name.to_owned() }));
        }
    }
    for name in ["FDB_CONFIG_FILE", "FDB5_CONFIG_FILE"] {
        if let Some(path) = text_variable(name)? {
            return file(Path::new(&path), name);
        }
    }
    let Some(home) = text_variable("FDB_HOME")? else { return Ok(None) };
    let mut files =
        ["yaml", "json"].map(|kind| Path::new(&home).join("etc/fdb/config").with_extension(kind)).into_iter();
    files.find(|path| path.is_file()).map_or(Ok(None), |path| file(&path, "FDB_HOME"))
}

fn file(path: &Path, given_by: &str) -> Result<Option<Named>> {
    let config = Config::read(path).map_err(|error| Failure::from(error).about(given_by))?;
    Ok(Some(Named { config, given_by: given_by.to_owned() }))
}

fn open_or_create(config: Config) -> Result<FieldStore> {
    match open(config.clone()) {
        // No pool or no store is there; `create` refuses what it must not touch.
        Err(failure) if matches!(failure.code, "not-found" | "not-a-store" | "invalid-input") => {
            let writable = config.spaces.iter().filter(|space| !space.forbidden.contains(Action::Archive));
            writable.flat_map(roots).try_for_each(check_root)?;
            create(config)
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
