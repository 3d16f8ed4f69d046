//! The store that the environment or a file in a well-known place names, and the clock that the environment sets.

use std::{env, ffi::OsString, path::PathBuf};

use isotach_fields::{Error, Result};
use isotach_mars::Clock;
use isotach_object::Error as ObjectError;

use crate::{Origin, pool_uri};

/// The name of a configuration file in the working folder and, below `isotach`, in the configuration folders of the user
/// and of the machine (XDG Base Directory Specification 0.8).
const FILE: &str = "isotach.yaml";

/// The origin that variables name, or else that in a known place. None if there is neither.
///
/// # Errors
/// As [`from_variables`].
pub fn from_environment() -> Result<Option<Origin>> {
    Ok(from_variables()?.or_else(in_known_places))
}

/// The error of a program that nothing names a store to. `others` are its own ways to name one, as in `"--store URI"`.
///
/// ```
/// let error = isotach_open::no_store(&["an argument"]);
/// assert!(error.to_string().starts_with("no store: expected an argument, ISOTACH_STORE or ISOTACH_CONFIG"));
/// ```
pub fn no_store(others: &[&str]) -> Error {
    let others: String = others.iter().map(|other| format!("{other}, ")).collect();
    let expected = format!("{others}ISOTACH_STORE or ISOTACH_CONFIG in the environment, or a file {FILE}");
    Error::Invalid { what: "no store".to_owned(), expected }
}

/// The origin that `ISOTACH_STORE` or else `ISOTACH_CONFIG` names.
///
/// # Errors
/// [`Error::Invalid`] for a variable with a wrong value.
pub fn from_variables() -> Result<Option<Origin>> {
    if let Some(text) = text_variable("ISOTACH_STORE")? {
        let given_by = "ISOTACH_STORE";
        let uri = pool_uri(&text).map_err(|error| about(given_by, error))?;
        return Ok(Some(Origin::Store { uri, given_by }));
    }
    let file = |path: OsString| Origin::File { path: path.into(), given_by: "ISOTACH_CONFIG" };
    Ok(variable("ISOTACH_CONFIG").map(file))
}

/// The first of these files that exists: `isotach.yaml` in the working folder, `isotach/isotach.yaml` in the configuration folder of the
/// user or of the machine.
pub fn in_known_places() -> Option<Origin> {
    let file = |given_by| move |path| Origin::File { path, given_by };
    let here = Some(PathBuf::from(FILE)).filter(|path| path.is_file());
    here.map(file("the working folder"))
        .or_else(|| file_in(user_folder()).map(file("the user's configuration folder")))
        .or_else(|| file_in(machine_folders()).map(file("the machine's configuration folder")))
}

/// The clock for relative dates: the system's, or that of `ISOTACH_TODAY`.
///
/// # Errors
/// [`Error::Invalid`] if `ISOTACH_TODAY` is no day.
pub fn clock() -> Result<Clock> {
    let Some(day) = text_variable("ISOTACH_TODAY")? else { return Ok(Clock::system()) };
    Clock::at(&day).ok_or_else(|| Error::Invalid {
        what: format!("ISOTACH_TODAY={day:?}"),
        expected: "a day as 2024-01-31".to_owned(),
    })
}

/// A wrong value, with what gave it in front.
fn about(given_by: &str, error: Error) -> Error {
    match error {
        Error::Invalid { what, expected } | Error::Object(ObjectError::InvalidInput { what, expected }) => {
            Error::Invalid { what: format!("{given_by}: {what}"), expected }
        }
        error => error,
    }
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

/// A variable as text; `None` if it is not set or empty.
///
/// # Errors
/// [`Error::Invalid`] for a value that is not UTF-8.
pub fn text_variable(name: &str) -> Result<Option<String>> {
    let text = variable(name).map(OsString::into_string).transpose();
    text.map_err(|value| Error::Invalid {
        what: format!("{name}={value:?}"),
        expected: "text in UTF-8".to_owned(),
    })
}
