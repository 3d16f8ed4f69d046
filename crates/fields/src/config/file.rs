//! Configuration files: our own, and FDB's for a local POSIX FDB.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt, fs,
    path::{Path, PathBuf},
};

use isotach_mars::{Clock, Schema};
use isotach_object::{Error as ObjectError, PoolUri};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

use super::{Config, Pattern, Space, fdb::FdbFile, yaml};
use crate::{Error, Result};

/// A configuration file of our own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with spaces, and perhaps schema")]
struct File {
    schema: Option<String>,
    #[serde(deserialize_with = "spaces")]
    spaces: Vec<SpaceOfFile>,
}

/// A space as it is written; `pool` is both of the others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with pool, or with catalogue and store")]
struct SpaceAsWritten {
    name: Option<String>,
    #[serde(rename = "match", default, deserialize_with = "expressions")]
    pattern: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "pool")]
    pool: Option<PoolUri>,
    #[serde(default, deserialize_with = "pool")]
    catalogue: Option<PoolUri>,
    #[serde(default, deserialize_with = "pool")]
    store: Option<PoolUri>,
}

/// A space, checked.
#[derive(Debug, Deserialize)]
#[serde(try_from = "SpaceAsWritten")]
struct SpaceOfFile {
    space: Space,
    is_named: bool,
}

impl TryFrom<SpaceAsWritten> for SpaceOfFile {
    type Error = Error;

    fn try_from(written: SpaceAsWritten) -> Result<Self> {
        let (catalogue, store) = match (written.pool, written.catalogue, written.store) {
            (Some(pool), None, None) => (pool.clone(), pool),
            (None, Some(catalogue), Some(store)) => (catalogue, store),
            _ => return Err(Error::invalid("a space", "either pool, or catalogue and store")),
        };
        let pattern = match written.pattern.is_empty() {
            true => Pattern::all(),
            false => Pattern::of_values(
                written.pattern.iter().map(|(name, value)| (name.as_str(), value.as_str())),
            )?,
        };
        let is_named = written.name.is_some();
        let name = written.name.unwrap_or_else(|| "default".to_owned());
        let space = Space { pattern, ..Space::new(&name, &catalogue, &store) };
        Ok(Self { space, is_named })
    }
}

fn pool<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<PoolUri>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(|error: ObjectError| {
        // YAML takes the colon at the end of a bare value for its own.
        let hint = if text == "memory" { "; in YAML it needs quotes, as \"memory:\"" } else { "" };
        yaml::custom(format!("{error}{hint}"))
    })
}

/// At least one space, with unique names.
fn spaces<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<SpaceOfFile>, D::Error> {
    let spaces = Vec::<SpaceOfFile>::deserialize(deserializer)?;
    if spaces.is_empty() {
        return Err(yaml::custom("spaces: expected at least one space"));
    }
    let mut names = HashSet::new();
    for SpaceOfFile { space, .. } in spaces.iter().filter(|space| space.is_named) {
        if !names.insert(space.name.as_str()) {
            return Err(yaml::custom(format!("two spaces named {:?}: expected each name once", space.name)));
        }
    }
    Ok(spaces)
}

/// The expressions of a `match`. Keys must be unique: of two, one would silently not count.
fn expressions<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    struct Expressions;
    impl<'de> Visitor<'de> for Expressions {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a mapping from keys of the dataset to expressions")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
            let mut found = BTreeMap::new();
            while let Some((name, value)) = map.next_entry::<String, String>()? {
                let again = format!("the key {name:?} twice: expected each key once");
                if found.insert(name, value).is_some() {
                    return Err(yaml::custom(again));
                }
            }
            Ok(found)
        }
    }
    deserializer.deserialize_map(Expressions)
}

/// The keys that identify FDB's files.
#[derive(Debug, Deserialize)]
struct Marks {
    #[serde(rename = "type")]
    kind: Option<serde_yaml_ng::Value>,
    engine: Option<serde_yaml_ng::Value>,
    fdbs: Option<serde_yaml_ng::Value>,
    #[serde(default)]
    spaces: Vec<SpaceMarks>,
}

#[derive(Debug, Deserialize)]
struct SpaceMarks {
    handler: Option<serde_yaml_ng::Value>,
    regex: Option<serde_yaml_ng::Value>,
    roots: Option<serde_yaml_ng::Value>,
    #[serde(rename = "catalogueRoots")]
    catalogue_roots: Option<serde_yaml_ng::Value>,
    #[serde(rename = "marsDisks")]
    mars_disks: Option<serde_yaml_ng::Value>,
}

impl Marks {
    fn are_fdbs(&self) -> bool {
        let of_space = |space: &SpaceMarks| {
            let SpaceMarks { handler, regex, roots, catalogue_roots, mars_disks } = space;
            [handler, regex, roots, catalogue_roots, mars_disks].iter().any(|mark| mark.is_some())
        };
        self.kind.is_some()
            || self.fdbs.is_some()
            || self.engine.is_some()
            || self.spaces.iter().any(of_space)
    }
}

impl Config {
    /// Reads a configuration file, ours or FDB's for a local POSIX FDB. Relative paths in it are relative to the file.
    ///
    /// # Errors
    /// [`Error::Invalid`] with file, line, column and what was expected; [`Error::Object`] when it cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(&text_of(path)?, path)
    }

    /// As [`Config::read`], from the text of the file `path`.
    ///
    /// ```
    /// use isotach_fields::Config;
    /// let text = "spaces:\n  - name: all\n    pool: posix:/data/fields\n";
    /// let config = Config::parse(text, "isotach.yaml".as_ref())?;
    /// assert_eq!(config.spaces[0].store.to_string(), "posix:/data/fields");
    ///
    /// let error = Config::parse("spaces:\n  - pol: posix:/data\n", "isotach.yaml".as_ref()).unwrap_err();
    /// assert!(error.to_string().starts_with("isotach.yaml:2:5: spaces[0]: unknown field `pol`: expected one of"));
    /// # Ok::<(), isotach_fields::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        // The typed reader reports files of another shape.
        let is_fdbs = serde_yaml_ng::from_str::<Marks>(text).is_ok_and(|marks| marks.are_fdbs());
        let (schema, spaces, notes) = if is_fdbs {
            let file = FdbFile::parse(text, path)?;
            (file.schema, file.spaces, file.notes)
        } else {
            let file: File = yaml::parse(text, path)?;
            let numbered = file.spaces.into_iter().enumerate();
            let spaces = numbered.map(|(group, space)| Space { group, ..space.space });
            (file.schema, spaces.collect::<Vec<_>>(), Vec::new())
        };
        if spaces.is_empty() {
            let place = yaml::place_of(text, path, "spaces");
            return Err(Error::invalid(format!("{place}: spaces"), "at least one space"));
        }
        let spaces = spaces.into_iter().map(|space| placed(space, path)).collect::<Result<_>>()?;
        let schema = schema.map(|schema| schema_text(&schema, text, path)).transpose()?;
        let config = Self { spaces, schema, clock: Clock::system(), notes };
        if let Some(schema) = &config.schema {
            config.check_matches_in(&Schema::parse(schema)?, text, path)?;
        }
        Ok(config)
    }

    /// Checks that the spaces match only dataset keys of the schema: others would never match. `path` is the file that
    /// the configuration was read from.
    ///
    /// # Errors
    /// [`Error::Invalid`] with file, line, column and the keys there are; [`Error::Object`] when the file is gone.
    pub fn check_matches(&self, schema: &Schema, path: &Path) -> Result<()> {
        self.check_matches_in(schema, &text_of(path)?, path)
    }

    /// As [`Config::check_matches`], for a configuration that was read from a text; see [`Config::parse`].
    ///
    /// # Errors
    /// As [`Config::check_matches`].
    pub fn check_matches_in(&self, schema: &Schema, text: &str, path: &Path) -> Result<()> {
        let known: BTreeSet<&str> = schema.rules().flat_map(|rule| rule.dataset.names()).collect();
        let mut names = self.spaces.iter().flat_map(|space| space.pattern.names());
        let Some(name) = names.find(|name| !known.contains(name)) else { return Ok(()) };
        let place = yaml::place_of(text, path, name);
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        Err(Error::invalid(
            format!("{place}: match: key {name:?}"),
            format!("a dataset key of the schema: {known}"),
        ))
    }

    /// The position of a word in a configuration file, as `file:line:column`; the file alone if it is unknown.
    pub fn place_in(path: &Path, word: &str) -> String {
        text_of(path).map_or_else(|_| path.display().to_string(), |text| yaml::place_of(&text, path, word))
    }
}

/// Resolves the relative paths of a space from the file's folder.
fn placed(mut space: Space, file: &Path) -> Result<Space> {
    for uri in [&mut space.catalogue, &mut space.store] {
        if uri.scheme() == "posix" && !uri.path().is_empty() && !uri.path().starts_with('/') {
            let text = uri.to_string();
            let options = text.find('?').map_or("", |at| &text[at..]);
            *uri = format!("posix:{}{options}", beside(file, uri.path())?.display()).parse()?;
        }
    }
    Ok(space)
}

/// The schema's text, if `schema` is its path. No path has a bracket or several lines.
fn schema_text(schema: &str, text: &str, file: &Path) -> Result<String> {
    if schema.contains(['[', '\n']) {
        return checked(schema.to_owned(), &yaml::place_of(text, file, "schema"));
    }
    let path = beside(file, schema)?;
    let read = fs::read_to_string(&path).map_err(|error| {
        let place = yaml::place_of(text, file, schema);
        let what = format!("{place}: schema {}: {error}", path.display());
        Error::invalid(what, "the path of a schema, or its text")
    });
    checked(read?, &path.display().to_string())
}

/// Checks that a schema has rules. Errors name its place.
fn checked(text: String, place: &str) -> Result<String> {
    let schema = Schema::parse(&text).map_err(|error| {
        let (line, column) = (error.line, error.column);
        let what = format!("{place}: schema: line {line}, column {column}: {}", error.found);
        Error::invalid(what, error.expected)
    })?;
    match schema.rules().next() {
        Some(_) => Ok(text),
        None => Err(Error::invalid(
            format!("{place}: a schema of 0 rules can take no field"),
            "at least one rule",
        )),
    }
}

/// The path relative to a file's folder, made absolute.
fn beside(file: &Path, path: &str) -> Result<PathBuf> {
    let path = file.parent().unwrap_or(Path::new("")).join(path);
    std::path::absolute(&path).map_err(|error| failed(error, &path))
}

fn text_of(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| failed(error, path))
}

fn failed(error: std::io::Error, path: &Path) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => ObjectError::not_found(format!("file {}", path.display())).into(),
        _ => ObjectError::from_io(error, format!("read {}", path.display())).into(),
    }
}

#[cfg(test)]
mod tests;
