//! `isotach init`: makes a store.

use isotach_fields::{Error as FieldsError, FieldStore};
use isotach_object::{Error as ObjectError, RightsChange};
use serde_json::json;

use super::{acl, schema};
use crate::{
    context::{self, check_matches, not_opened},
    failure::{Failure, Outcome},
    flags::{InitFlags, PlaceFlags},
    output::{count, outln, print_json},
};

/// Makes pools and schema where there are none.
pub(crate) fn run(place: &PlaceFlags, flags: &InitFlags) -> Outcome {
    let acl = acl::typed_list(&flags.list)?;
    let (mut config, source) = context::configuration(place)?;
    if let Some(path) = &flags.schema {
        config = config.with_schema(schema::read_useful(path)?.source());
    }
    let registry = context::registry();
    let was_there = FieldStore::open(&config, &registry).is_ok();
    let store = FieldStore::create(&config, &registry).map_err(|error| match error {
        FieldsError::NotAStore { store, why } => {
            Failure::failed(format!("cannot make a field store of {store}: {why}"))
        }
        // Not the advice to do what is being done.
        FieldsError::Object(ObjectError::NotFound { .. }) => {
            Failure::failed(format!("cannot make store {}: no folder can be made there", source.name()))
        }
        error => not_opened(error, &config, &source),
    })?;
    check_matches(&config, &source, &store)?;
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
