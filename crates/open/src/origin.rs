//! [`Origin`]: what names a store, and how it is opened or created from that.

use std::path::PathBuf;

use isotach_fields::{Config, Error, FieldStore, Result};
use isotach_object::{Error as ObjectError, PoolUri, Registry};

use crate::{clock, pools, relabel_through_eccodes};

/// The origin of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The URI of a pool that holds everything, and what named it.
    Store {
        /// The pool.
        uri: PoolUri,
        /// The flag, variable or argument.
        given_by: &'static str,
    },
    /// A configuration file, and what named it.
    File {
        /// The file.
        path: PathBuf,
        /// The flag, variable, folder or argument.
        given_by: &'static str,
    },
    /// The text of a configuration.
    Text {
        /// The text.
        text: String,
        /// Its name in messages. Relative paths in the text are relative to its folder.
        path: PathBuf,
    },
}

impl Origin {
    /// The configuration, with the clock of the environment. Its engines are known to `registry`.
    ///
    /// # Errors
    /// As [`Config::read`]; [`Error::Invalid`] with the place of an unknown engine.
    pub fn config(&self, registry: &Registry) -> Result<Config> {
        let config = match self {
            Self::Store { uri, .. } => Config::single(uri),
            Self::File { path, .. } => Config::read(path)?,
            Self::Text { text, path } => Config::parse(text, path)?,
        };
        for uri in pools(&config) {
            if let Err(ObjectError::InvalidInput { what, expected }) = registry.engine(uri.scheme()) {
                let place = self.position_of(&format!("{}:", uri.scheme()));
                return Err(Error::Invalid { what: format!("{place}: {what}"), expected });
            }
        }
        Ok(config.with_clock(clock()?))
    }

    /// Opens the store of [`Origin::config`].
    ///
    /// # Errors
    /// As [`FieldStore::open`] and [`Origin::check_matches`].
    pub fn open(&self, config: &Config, registry: &Registry) -> Result<FieldStore> {
        let store = FieldStore::open(config, registry)?;
        self.check_matches(config, &store)?;
        Ok(relabel_through_eccodes(store))
    }

    /// Creates the store of [`Origin::config`], or opens it if it exists.
    ///
    /// # Errors
    /// As [`FieldStore::create`] and [`Origin::check_matches`].
    pub fn create(&self, config: &Config, registry: &Registry) -> Result<FieldStore> {
        let store = FieldStore::create(config, registry)?;
        self.check_matches(config, &store)?;
        Ok(relabel_through_eccodes(store))
    }

    /// Refuses a configuration whose spaces match keys that no dataset of the store has.
    ///
    /// # Errors
    /// As [`Config::check_matches`].
    pub fn check_matches(&self, config: &Config, store: &FieldStore) -> Result<()> {
        match self {
            Self::Store { .. } => Ok(()),
            Self::File { path, .. } => config.check_matches(store.schema(), path),
            Self::Text { text, path } => config.check_matches_in(store.schema(), text, path),
        }
    }

    /// The same origin, valid in any working folder.
    ///
    /// # Errors
    /// `NotFound` if the working folder is gone.
    pub fn absolute(self) -> Result<Self> {
        let absolute = |path: PathBuf| {
            let what = || format!("the absolute path of {}", path.display());
            std::path::absolute(&path).map_err(|error| Error::from(ObjectError::from_io(error, what())))
        };
        Ok(match self {
            Self::File { path, given_by } => Self::File { path: absolute(path)?, given_by },
            Self::Text { text, path } => Self::Text { text, path: absolute(path)? },
            store @ Self::Store { .. } => store,
        })
    }

    /// The store's name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Store { uri, .. } => uri.to_string(),
            Self::File { path, .. } | Self::Text { path, .. } => format!("of {}", path.display()),
        }
    }

    /// The position of a word: a place in the file or text, or what named the store.
    pub fn position_of(&self, word: &str) -> String {
        match self {
            Self::Store { given_by, .. } => (*given_by).to_owned(),
            Self::File { path, .. } => Config::place_in(path, word.trim_end_matches(':')),
            Self::Text { path, .. } => path.display().to_string(),
        }
    }

    /// What named it.
    pub fn given_by(&self) -> &'static str {
        match self {
            Self::Store { given_by, .. } | Self::File { given_by, .. } => given_by,
            Self::Text { .. } => "the text of a configuration",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::registry;

    fn text_of(folder: &std::path::Path, text: &str) -> Origin {
        Origin::Text { text: text.to_owned(), path: folder.join("configuration") }
    }

    #[test]
    fn a_text_and_a_file_open_the_same_store() {
        let folder = tempfile::tempdir().unwrap();
        let text = "spaces: [{pool: \"posix:fields\"}]";
        let origin = text_of(folder.path(), text);
        let config = origin.config(&registry()).unwrap();
        origin.create(&config, &registry()).unwrap();
        let path = folder.path().join("isotach.yaml");
        fs::write(&path, text).unwrap();
        let file = Origin::File { path, given_by: "a test" };
        let config = file.config(&registry()).unwrap();
        assert!(file.open(&config, &registry()).is_ok());
    }

    #[test]
    fn an_unknown_engine_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let error =
            text_of(folder.path(), "spaces: [{pool: \"s3:fields\"}]").config(&registry()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("configuration: engine \"s3\": expected one of"), "{text}");
        let uri = "s3:fields".parse().unwrap();
        let error = Origin::Store { uri, given_by: "--store" }.config(&registry()).unwrap_err();
        assert!(error.is_usage() && error.to_string().starts_with("--store: engine \"s3\""), "{error}");
    }

    #[test]
    fn a_space_that_matches_no_dataset_key_is_refused_from_a_text() {
        let folder = tempfile::tempdir().unwrap();
        let plain = text_of(folder.path(), "spaces: [{pool: \"posix:fields\"}]");
        plain.create(&plain.config(&registry()).unwrap(), &registry()).unwrap();
        let wrong = text_of(folder.path(), "spaces: [{match: {colour: red}, pool: \"posix:fields\"}]");
        let error = wrong.open(&wrong.config(&registry()).unwrap(), &registry()).unwrap_err();
        assert!(error.to_string().contains("match: key \"colour\""), "{error}");
    }
}
