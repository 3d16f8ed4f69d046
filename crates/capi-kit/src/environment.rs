//! What the environment says: which store is meant, and what day it is.
//!
//! What must stay true: the order is that of the program `isotach`.

use std::{
    env,
    path::{Path, PathBuf},
};

use isotach_fields::Config;

use crate::{Failure, Result, config_of};

/// The name of a configuration file in the working folder and, below `isotach`, in the folders of configurations.
const FILE: &str = "isotach.yaml";

/// A configuration, and what named it.
#[derive(Debug, Clone)]
pub struct Named {
    /// The configuration.
    pub config: Config,
    /// The variable or the place that named it.
    pub given_by: String,
}

/// The configuration that `ISOTACH_STORE` or `ISOTACH_CONFIG` names; `None` without them. `between` is asked next, and then the files in
/// well-known places.
///
/// # Errors
/// A variable or file that is wrong; no configuration at all.
pub fn named_by_isotach(between: impl FnOnce() -> Result<Option<Named>>) -> Result<Named> {
    if let Some(uri) = text_variable("ISOTACH_STORE")? {
        return named("ISOTACH_STORE", config_of(&uri));
    }
    if let Some(path) = text_variable("ISOTACH_CONFIG")? {
        return file(Path::new(&path), "ISOTACH_CONFIG");
    }
    if let Some(named) = between()? {
        return Ok(named);
    }
    match places()?.into_iter().find(|path| path.is_file()) {
        Some(path) => file(&path, &path.display().to_string()),
        None => Err(Failure::invalid(
            "no store: expected ISOTACH_STORE or ISOTACH_CONFIG in the environment, or a file isotach.yaml",
        )),
    }
}

fn named(given_by: &str, config: Result<Config>) -> Result<Named> {
    let config = config.map_err(|failure| failure.about(given_by))?;
    Ok(Named { config, given_by: given_by.to_owned() })
}

fn file(path: &Path, given_by: &str) -> Result<Named> {
    named(given_by, Config::read(path).map_err(Failure::from))
}

/// The places of a configuration file (XDG Base Directory Specification 0.8).
fn places() -> Result<Vec<PathBuf>> {
    let user = match text_variable("XDG_CONFIG_HOME")? {
        Some(folder) => Some(PathBuf::from(folder)),
        None => text_variable("HOME")?.map(|home| Path::new(&home).join(".config")),
    };
    let machine = text_variable("XDG_CONFIG_DIRS")?.unwrap_or_else(|| "/etc/xdg".to_owned());
    let machine = env::split_paths(&machine).filter(|folder| folder.is_absolute()).collect::<Vec<_>>();
    let folders = user.into_iter().chain(machine).map(|folder| folder.join("isotach").join(FILE));
    Ok([PathBuf::from(FILE)].into_iter().chain(folders).collect())
}

/// A variable of the environment; `None` if it is not set or empty.
///
/// # Errors
/// A value that is not UTF-8.
pub fn text_variable(name: &str) -> Result<Option<String>> {
    let value = env::var_os(name).filter(|value| !value.is_empty()).map(std::ffi::OsString::into_string);
    value.transpose().map_err(|value| Failure::invalid(format!("{name}={value:?}: expected text in UTF-8")))
}
