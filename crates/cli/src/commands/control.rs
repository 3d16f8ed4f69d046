//! `isotach lock`, `isotach unlock` and `isotach status`.

use isotach_fields::{Action, DatasetStatus, Locks};
use isotach_mars::{Level, Match, Request, Rule, Schema};
use serde_json::{Value, json};

use super::requests;
use crate::{
    context,
    failure::{Failure, Outcome},
    flags::{Actions, ControlFlags, PlaceFlags, StatusFlags},
    output::{Table, key_object, outln, print_json, utc},
};

/// Locks datasets, or unlocks them, and shows them.
pub(crate) fn run(place: &PlaceFlags, flags: &ControlFlags, lock: bool) -> Outcome {
    let requests = requests::given(&flags.requests)?.with_least(&flags.least)?;
    let store = context::open(place)?;
    let actions = chosen(&flags.actions);
    let mut changed = Vec::new();
    requests.for_each(&store, Match::Partial, |request| {
        check_whole_datasets(store.schema(), request, "locks are for")
    })?;
    requests.for_each(&store, Match::Partial, |request| {
        store.control(request, lock, &actions)?;
        changed.extend(store.status(request)?);
        Ok(())
    })?;
    if changed.is_empty() && !flags.json {
        let doing = if lock { "lock" } else { "unlock" };
        return outln!("nothing to {doing}: the request matches no dataset");
    }
    print(&changed, flags.json)
}

/// Refuses a request that names a part of datasets, where all of each would be meant: `what` says so.
pub(crate) fn check_whole_datasets(schema: &Schema, request: &Request, what: &str) -> Outcome {
    let plans = schema.plans(request, Match::Partial)?;
    let rules: Vec<&Rule> = plans.iter().filter_map(|plan| schema.rule(plan.rule)).collect();
    let keeps = |level: &Level, name: &str| level.names().any(|kept| kept == name);
    let is_below = |name: &str| {
        let in_datasets = rules.iter().any(|rule| keeps(&rule.dataset, name));
        !in_datasets && rules.iter().any(|rule| keeps(&rule.collocation, name) || keeps(&rule.element, name))
    };
    let below: Vec<&str> = request.iter().map(|(name, _)| name).filter(|name| is_below(name)).collect();
    if below.is_empty() {
        return Ok(());
    }
    let names = below.join(", ");
    Err(Failure::usage(format!("the request names {names}, below the dataset; {what} whole datasets")))
}

/// Shows datasets.
pub(crate) fn status(place: &PlaceFlags, flags: &StatusFlags) -> Outcome {
    let requests = requests::given_or_all(&flags.requests)?;
    let store = context::open(place)?;
    requests.for_each(&store, Match::Partial, |request| print(&store.status(request)?, flags.json))
}

fn chosen(flags: &Actions) -> Vec<Action> {
    let of = |action| match action {
        Action::Retrieve => flags.retrieve,
        Action::List => flags.list,
        Action::Archive => flags.archive,
        Action::Wipe => flags.wipe,
    };
    Action::ALL.into_iter().filter(|action| of(*action)).collect()
}

fn print(datasets: &[DatasetStatus], as_json: bool) -> Outcome {
    if as_json {
        return datasets.iter().try_for_each(|dataset| print_json(&object(dataset)));
    }
    let mut table = Table::new(["dataset", "made", "locked"]);
    for dataset in datasets {
        let forbidden = dataset.forbidden.iter().map(|action| format!("{action} (by the configuration)"));
        let locked: Vec<String> =
            names(dataset.locks).into_iter().map(str::to_owned).chain(forbidden).collect();
        let locked = if locked.is_empty() { "-".to_owned() } else { locked.join(", ") };
        table.row([dataset.key.to_string(), utc(dataset.created_us), locked]);
    }
    table.print()
}

fn names(locks: Locks) -> Vec<&'static str> {
    locks.iter().map(Action::name).collect()
}

fn object(dataset: &DatasetStatus) -> Value {
    json!({
        "key": key_object(&dataset.key),
        "created": utc(dataset.created_us),
        "locked": names(dataset.locks),
        "overlays": dataset.below.iter().map(key_object).collect::<Vec<_>>(),
        "forbidden": dataset.forbidden.iter().map(Action::name).collect::<Vec<_>>(),
        "rule": dataset.rule,
        "catalogue": dataset.catalogue.to_string(),
        "store": dataset.store.to_string(),
    })
}
