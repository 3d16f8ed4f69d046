//! [`Origin`]: what names a store, and how it is opened or created from that.

use std::path::PathBuf;

use isotach_fields::{Action, Config, Error, FieldStore, Result, Space};
use isotach_mars::Schema;
use isotach_object::{Error as ObjectError, PoolUri, Registry};

use crate::{clock, pools, with_grib};

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
        Ok(with_grib(store))
    }

    /// Creates the store of [`Origin::config`], or opens it if it exists. A configuration that is refused creates nothing.
    ///
    /// # Errors
    /// As [`FieldStore::create`] and [`Origin::check_matches`].
    pub fn create(&self, config: &Config, registry: &Registry) -> Result<FieldStore> {
        self.check_before_creation(config, registry)?;
        let store = FieldStore::create(config, registry)?;
        self.check_matches(config, &store)?;
        Ok(with_grib(store))
    }

    /// Refuses a configuration whose spaces match keys that no dataset of the store has.
    ///
    /// # Errors
    /// As [`Config::check_matches`].
    pub fn check_matches(&self, config: &Config, store: &FieldStore) -> Result<()> {
        self.check_schema(config, store.schema())
    }

    /// As [`Origin::check_matches`], for a store that may not exist yet: its schema is then that of the configuration, or the standard one.
    ///
    /// # Errors
    /// As [`Config::check_matches`]; [`Error::Schema`]; what the engines report of an existing store.
    pub fn check_before_creation(&self, config: &Config, registry: &Registry) -> Result<()> {
        let schema = match &config.schema {
            Some(text) => Schema::parse(text)?,
            None => first_schema(config, registry)?.unwrap_or_else(Schema::standard),
        };
        self.check_schema(config, &schema)
    }

    fn check_schema(&self, config: &Config, schema: &Schema) -> Result<()> {
        match self {
            Self::Store { .. } => Ok(()),
            Self::File { path, .. } => config.check_matches(schema, path),
            Self::Text { text, path } => config.check_matches_in(schema, text, path),
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

/// The schema of the first space that may be used, which is that of the whole store. None if nothing is there.
fn first_schema(config: &Config, registry: &Registry) -> Result<Option<Schema>> {
    let is_usable = |space: &&Space| Action::ALL.iter().any(|action| !space.forbidden.contains(*action));
    let first = config.spaces.iter().find(is_usable).cloned();
    let Some(first) = first else { return Ok(None) };
    match FieldStore::open(&Config { spaces: vec![first], ..config.clone() }, registry) {
        Ok(store) => Ok(Some(store.schema().clone())),
        // An engine refuses a folder that is no pool. Creation decides whether it may become one.
        Err(
            Error::Object(ObjectError::NotFound { .. } | ObjectError::InvalidInput { .. })
            | Error::NotAStore { .. },
        ) => Ok(None),
        Err(error) => Err(error),
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

    #[test]
    fn a_configuration_that_is_refused_creates_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let spaces = "[{match: {colour: red}, pool: \"posix:red\"}, {pool: \"posix:fields\"}]";
        let wrong = text_of(folder.path(), &format!("spaces: {spaces}"));
        let config = wrong.config(&registry()).unwrap();
        let error = wrong.create(&config, &registry()).unwrap_err();
        assert!(error.to_string().contains("match: key \"colour\""), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // An empty folder may become a store.
        fs::create_dir(folder.path().join("red")).unwrap();
        assert!(wrong.create(&config, &registry()).unwrap_err().to_string().contains("colour"));
        // The schema of a store that exists is the one that counts.
        let schema = "[ colour [ type [ step: Step ]]]";
        let first = text_of(folder.path(), "spaces: [{pool: \"posix:red\"}]");
        let config_with_schema = first.config(&registry()).unwrap().with_schema(schema);
        first.create(&config_with_schema, &registry()).unwrap();
        assert!(wrong.create(&config, &registry()).is_ok());
    }
}
