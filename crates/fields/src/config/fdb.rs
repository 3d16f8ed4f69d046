//! FDB's own configuration of a local POSIX FDB: schema, spaces and roots. It is the configuration that is understood,
//! not the data.

use serde::Deserialize;

use super::{Pattern, Space};
use crate::{Error, Result};

/// The handlers that put a dataset into the first root that takes it.
const HANDLERS: [&str; 2] = ["Default", "First"];

/// The top of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with spaces, as FDB has it")]
pub(super) struct FdbFile {
    #[serde(rename = "type")]
    _kind: Option<Kind>,
    #[serde(rename = "engine")]
    _engine: Option<Engine>,
    #[serde(rename = "store")]
    _store: Option<Store>,
    pub(super) schema: Option<String>,
    pub(super) spaces: Vec<FdbSpace>,
}

/// What kinds of FDB are understood.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "local")]
enum Kind {
    Local,
}

/// What engines of FDB are understood.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "toc")]
enum Engine {
    Toc,
}

/// What stores of FDB are understood.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", expecting = "file")]
enum Store {
    File,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with roots")]
struct SpaceAsWritten {
    name: Option<String>,
    handler: Option<String>,
    regex: Option<String>,
    roots: Vec<Root>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with path")]
struct Root {
    path: String,
    #[serde(rename = "name")]
    _name: Option<String>,
    writable: Option<bool>,
    #[serde(rename = "visit")]
    _visit: Option<bool>,
    #[serde(rename = "list")]
    _list: Option<bool>,
    #[serde(rename = "retrieve")]
    _retrieve: Option<bool>,
    archive: Option<bool>,
    #[serde(rename = "wipe")]
    _wipe: Option<bool>,
}

impl Root {
    fn takes_fields(&self) -> bool {
        self.archive.or(self.writable).unwrap_or(true)
    }
}

/// A space, checked.
#[derive(Debug, Deserialize)]
#[serde(try_from = "SpaceAsWritten")]
pub(super) struct FdbSpace(pub(super) Space);

impl TryFrom<SpaceAsWritten> for FdbSpace {
    type Error = Error;

    fn try_from(written: SpaceAsWritten) -> Result<Self> {
        if let Some(handler) = written.handler.filter(|handler| !HANDLERS.contains(&handler.as_str())) {
            return Err(Error::invalid(format!("handler {handler}"), HANDLERS.join(" or ")));
        }
        let root = written.roots.iter().find(|root| root.takes_fields());
        let root = root.ok_or_else(|| Error::invalid("roots", "one that is writable"))?;
        let pool: isotach_object::PoolUri = format!("posix:{}", root.path).parse()?;
        Ok(Self(Space {
            name: written.name.unwrap_or_else(|| "default".to_owned()),
            pattern: written.regex.as_deref().map_or_else(|| Ok(Pattern::all()), Pattern::of_joined)?,
            catalogue: pool.clone(),
            store: pool,
        }))
    }
}
