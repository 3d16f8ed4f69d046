//! `isotach init`: makes a store.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use isotach_fields::{Action, Config, Error as FieldsError, FieldStore};
use isotach_object::{Error as ObjectError, RightsChange};
use serde_json::json;

use super::{
    acl::{self, ListFlag},
    schema,
};
use crate::{
    context::{self, PlaceFlags, Source, check_matches, not_opened},
    failure::{Failure, Outcome, say},
    output::{count, outln, print_json},
};

/// Make a store: its pools, and the schema it keeps
///
/// A store that is there already is left as it is.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach --store posix:/data/fields init")]
pub(crate) struct InitFlags {
    /// A schema in FDB's language; without it the standard schema, which fits ordinary MARS-labelled GRIB
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Also make the folders above the store
    #[arg(short, long)]
    pub(crate) parents: bool,
    #[command(flatten)]
    pub(crate) list: ListFlag,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Makes the store that a configuration names, or opens it. A folder above it that is not there is mostly a mistyped one.
pub(crate) fn make(config: &Config, source: &Source) -> Outcome<FieldStore> {
    if let Some(folder) = parents(config).find(|folder| !folder.exists()) {
        return Err(Failure::failed(format!(
            "cannot make store {}: its folder {} does not exist; `isotach {} init --parents` makes that, too",
            source.name(),
            folder.display(),
            source.as_flag()
        )));
    }
    let made = FieldStore::create(config, &context::registry()).map_err(|error| match error {
        FieldsError::NotAStore { store, why } => {
            Failure::failed(format!("cannot make a field store of {store}: {why}"))
        }
        // Not the advice to do what is being done.
        FieldsError::Object(ObjectError::NotFound { .. }) => {
            Failure::failed(format!("cannot make store {}: no folder can be made there", source.name()))
        }
        error => not_opened(error, config, source),
    })?;
    check_matches(config, source, &made)?;
    Ok(made)
}

/// The folders that pools are to be made in.
fn parents(config: &Config) -> impl Iterator<Item = &Path> {
    let pools = config.spaces.iter().filter(|space| !space.forbidden.contains(Action::Archive));
    let uris = pools.flat_map(|space| [&space.catalogue, &space.store]);
    uris.filter(|uri| uri.scheme() == "posix").filter_map(|uri| Path::new(uri.path()).parent())
}

fn make_parents(config: &Config) -> Outcome {
    parents(config).try_for_each(|folder| fs::create_dir_all(folder).map_err(Failure::file("make", folder)))
}

/// Makes pools and schema where there are none.
pub(crate) fn run(place: &PlaceFlags, flags: &InitFlags) -> Outcome {
    let acl = acl::typed_list(&flags.list)?;
    let (mut config, source) = context::configuration(place)?;
    config.notes.iter().for_each(say);
    if let Some(path) = &flags.schema {
        config = config.with_schema(schema::read_useful(path)?.source());
    }
    if flags.parents {
        make_parents(&config)?;
    }
    let registry = context::registry();
    let was_there = FieldStore::open(&config, &registry).is_ok();
    let store = make(&config, &source)?;
    if let Some(acl) = acl {
        store.set_rights(&RightsChange { acl: Some(acl), ..RightsChange::default() })?;
    }
    let rules = store.schema().rules().count() as u64;
    if flags.json {
        return print_json(&json!({"store": source.name(), "made": !was_there, "rules": rules}));
    }
    let done = if was_there { "is there already" } else { "made" };
    outln!("store {} {done}, with a schema of {}", source.name(), count(rules, "rule"))
}
