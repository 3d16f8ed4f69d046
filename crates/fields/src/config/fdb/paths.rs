//! Paths, resolved as FDB does: relative to the working folder, and `~name/` to that program's home.

use std::{env, path::PathBuf};

use isotach_object::PoolUri;

use super::written::Level;
use crate::{Error, Result};

/// The context of a file's paths.
#[derive(Debug)]
pub(super) struct Paths {
    fdb_home: Option<String>,
}

impl Paths {
    /// From the top level of the file.
    pub(super) fn of(level: &Level) -> Self {
        Self { fdb_home: level.fdb_home.clone() }
    }

    /// The pool of a root.
    pub(super) fn pool(&self, path: &str) -> Result<PoolUri> {
        let path = self.expanded(path)?;
        // Normalized, so that one folder has one name.
        let path: PathBuf = path.components().collect();
        Ok(format!("posix:{}", path.display()).parse()?)
    }

    /// The path of a schema, or its text as it is.
    pub(super) fn schema(&self, text: &str) -> Result<String> {
        match text.contains(['[', '\n']) {
            true => Ok(text.to_owned()),
            false => Ok(self.expanded(text)?.display().to_string()),
        }
    }

    fn expanded(&self, path: &str) -> Result<PathBuf> {
        if path.is_empty() {
            return Err(Error::invalid("an empty path", "the path of a folder"));
        }
        let path = match path.strip_prefix('~') {
            None => PathBuf::from(path),
            Some(rest) => {
                let (name, below) = rest.split_once('/').unwrap_or((rest, ""));
                PathBuf::from(self.home(name, path)?).join(below.trim_start_matches('/'))
            }
        };
        std::path::absolute(&path)
            .map_err(|error| isotach_object::Error::from_io(error, format!("find {}", path.display())).into())
    }

    /// The home of `~` and a name.
    fn home(&self, name: &str, path: &str) -> Result<String> {
        let variable = match name {
            "" => "HOME".to_owned(),
            name => format!("{}_HOME", name.to_ascii_uppercase()),
        };
        let given = if name == "fdb" { self.fdb_home.clone() } else { None };
        let found = given.or_else(|| env::var(&variable).ok()).filter(|home| !home.is_empty());
        found.ok_or_else(|| Error::invalid(format!("path {path}"), format!("{variable} in the environment")))
    }
}
