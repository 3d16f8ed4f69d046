//! `isotach init`: creates a store.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use isotach_fields::{Action, Config, Error as FieldsError, FieldStore};
use isotach_object::{Error as ObjectError, RightsChange};
use serde_json::json;

use super::{acl::ListFlag, schema};
use crate::{
    context::{self, Source, StoreFlags, flag_of, not_opened, with_grib},
    failure::{Failure, Outcome, say},
    output::{count, outln, print_json},
};

/// Create a store: its pools and its schema
///
/// An existing store is left as it is.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach --store posix:/data/fields init")]
pub(crate) struct InitFlags {
    /// A schema in FDB's language; without it the standard schema, which fits ordinary MARS-labelled GRIB
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Also create the folders above the store
    #[arg(short, long)]
    parents: bool,
    #[command(flatten)]
    list: ListFlag,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Creates the store of a configuration, or opens it if it exists. Without `with_parents` a missing folder above the store is
/// an error, because it is mostly a spelling mistake. A configuration that is refused creates nothing.
pub(crate) fn create(config: &Config, source: &Source, with_parents: bool) -> Outcome<FieldStore> {
    let (name, registry) = (source.name(), context::registry());
    source.check_before_creation(config, &registry).map_err(|error| match error {
        error @ FieldsError::Invalid { .. } => error.into(),
        error => not_opened(error, config, source),
    })?;
    if with_parents {
        parents(config)
            .try_for_each(|folder| fs::create_dir_all(folder).map_err(Failure::file("create", folder)))?;
    }
    if let Some(folder) = parents(config).find(|folder| !folder.exists()) {
        let (folder, flag) = (folder.display(), flag_of(source));
        return Err(Failure::failed(format!(
            "cannot create store {name}: its folder {folder} does not exist; `isotach {flag} init --parents` creates it, too"
        )));
    }
    let store = FieldStore::create(config, &registry).map_err(|error| match error {
        FieldsError::NotAStore { store, why } => {
            Failure::failed(format!("cannot create a field store in {store}: {why}"))
        }
        // `not_opened` would advise to run `isotach init`.
        FieldsError::Object(ObjectError::NotFound { .. }) => {
            Failure::failed(format!("cannot create store {name}: no folder can be created there"))
        }
        error => not_opened(error, config, source),
    })?;
    Ok(with_grib(store))
}

/// The folders that contain the pools.
fn parents(config: &Config) -> impl Iterator<Item = &Path> {
    let spaces = config.spaces.iter().filter(|space| !space.forbidden.contains(Action::Archive));
    let uris = spaces.flat_map(|space| [&space.catalogue, &space.store]);
    uris.filter(|uri| uri.scheme() == "posix").filter_map(|uri| Path::new(uri.path()).parent())
}

/// Creates the pools and the schema that do not exist.
pub(crate) fn run(target: &StoreFlags, flags: &InitFlags) -> Outcome {
    let acl = flags.list.parse()?;
    let (mut config, source) = context::configuration(target)?;
    config.notes.iter().for_each(say);
    if let Some(path) = &flags.schema {
        config = config.with_schema(schema::read_useful(path)?.source());
    }
    let existed = FieldStore::open(&config, &context::registry()).is_ok();
    let store = create(&config, &source, flags.parents)?;
    if let Some(acl) = acl {
        store.set_rights(&RightsChange { acl: Some(acl), ..RightsChange::default() })?;
    }
    let (name, rules) = (source.name(), store.schema().rules().count() as u64);
    if flags.json {
        return print_json(&json!({"store": name, "made": !existed, "rules": rules}));
    }
    let done = if existed { "exists already" } else { "created" };
    outln!("store {name} {done}, with a schema of {}", count(rules, "rule"))
}
