//! `isotach acl`: who may read and write a store and its datasets. And how rights are typed and printed.

use isotach_fields::ContainerRights;
use isotach_mars::{Match, Request};
use isotach_object::{Acl, Rights, RightsChange};
use serde_json::{Value, json};

use super::{control::check_whole_datasets, requests};
use crate::{
    context,
    failure::{Failure, Outcome},
    flags::{AclAction, AclFlags, ListFlag, OwnerFlags, PlaceFlags},
    output::{key_object, outln, print_json},
};

/// Shows, or sets and shows.
pub(crate) fn run(place: &PlaceFlags, flags: &AclFlags) -> Outcome {
    let (request, change) = match &flags.action {
        AclAction::Get { request } => (request, None),
        AclAction::Set { request, list, owner } => (request, Some(asked(list, owner)?)),
    };
    if change.as_ref().is_some_and(|change| *change == RightsChange::default()) {
        return Err(Failure::usage("nothing to set: expected --acl, --mode, --owner or --group"));
    }
    let typed = request.as_deref().map(|text| requests::typed(Some(text))).transpose()?;
    let store = context::open(place)?;
    let Some(typed) = typed else {
        let rights = change.map_or_else(|| store.rights(), |change| store.set_rights(&change))?;
        return print(&rights, flags.json);
    };
    typed.for_each(&store, Match::Partial, |request: &Request| {
        check_whole_datasets(store.schema(), request, "rights are of")?;
        let rights = match &change {
            Some(change) => store.set_dataset_rights(request, change)?,
            None => store.dataset_rights(request)?,
        };
        if rights.is_empty() && !flags.json {
            return outln!("the request matches no dataset");
        }
        print(&rights, flags.json)
    })
}

/// The list that was typed, if one was.
pub(crate) fn typed_list(flag: &ListFlag) -> Outcome<Option<Acl>> {
    if let Some(text) = &flag.acl {
        return text.parse().map(Some).map_err(|error| Failure::from(error).about("--acl"));
    }
    let Some(text) = &flag.mode else { return Ok(None) };
    let digits = (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..b'8').contains(&byte));
    let mode = u32::from_str_radix(text, 8).ok().filter(|_| digits);
    let mode =
        mode.ok_or_else(|| Failure::usage(format!("--mode: {text:?}: expected three octal digits, as 750")))?;
    Acl::of_mode(mode).map(Some).map_err(|error| Failure::from(error).about("--mode"))
}

/// What was typed of rights.
pub(crate) fn asked(list: &ListFlag, owner: &OwnerFlags) -> Outcome<RightsChange> {
    let OwnerFlags { owner, group } = owner;
    Ok(RightsChange { acl: typed_list(list)?, owner: owner.clone(), group: group.clone() })
}

/// Prints rights, in a form that `--acl` takes again.
pub(crate) fn print_rights(rights: &Rights) -> Outcome {
    outln!("# owner: {}", rights.owner)?;
    outln!("# group: {}", rights.group)?;
    rights.acl.texts().try_for_each(|entry| outln!("{entry}"))
}

/// Rights as a JSON object, after what says whose they are.
pub(crate) fn rights_object(mut whose: Value, rights: &Rights) -> Value {
    whose["owner"] = json!(rights.owner);
    whose["group"] = json!(rights.group);
    whose["acl"] = rights.acl.texts().collect();
    whose
}

fn print(all: &[ContainerRights], as_json: bool) -> Outcome {
    for (at, found) in all.iter().enumerate() {
        let ContainerRights { dataset, pool, label, rights } = found;
        if as_json {
            let key = dataset.as_ref().map(key_object);
            let whose = json!({"key": key, "pool": pool.to_string(), "container": label.as_str()});
            print_json(&rights_object(whose, rights))?;
            continue;
        }
        if at > 0 {
            outln!("")?;
        }
        match dataset {
            Some(key) => outln!("# dataset: {key}")?,
            None => outln!("# store: {pool}")?,
        }
        print_rights(rights)?;
    }
    Ok(())
}
