//! `isotach lock`, `isotach unlock` and `isotach status`.

use clap::Args;
use isotach_fields::{Action, DatasetStatus, Locks};
use isotach_mars::Match;
use serde_json::{Value, json};

use crate::{
    context::{self, StoreFlags},
    failure::Outcome,
    output::{Table, key_object, outln, print_json, utc},
    requests::{MinimumKeysFlag, OptionalRequestFlags, RequestFlags, check_whole_datasets},
};

// The commands describe themselves; a description here would take the place of theirs.
#[derive(Debug, Args)]
pub(crate) struct ControlFlags {
    #[command(flatten)]
    requests: RequestFlags,
    #[command(flatten)]
    minimum: MinimumKeysFlag,
    #[command(flatten)]
    actions: Actions,
    /// Print one JSON object for each dataset
    #[arg(long)]
    json: bool,
}

/// At least one action.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own, as FDB has them")]
struct Actions {
    /// Reading fields
    #[arg(long)]
    retrieve: bool,
    /// Listing fields
    #[arg(long)]
    list: bool,
    /// Archiving and adopting fields
    #[arg(long)]
    archive: bool,
    /// Removing fields
    #[arg(long)]
    wipe: bool,
}

/// Show datasets, when they were created and which actions are locked
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach status class=od")]
pub(crate) struct StatusFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    /// Print one JSON object for each dataset
    #[arg(long)]
    json: bool,
}

/// Locks or unlocks datasets, and shows them.
pub(crate) fn run(target: &StoreFlags, flags: &ControlFlags, lock: bool) -> Outcome {
    let requests = flags.requests.parse()?.with_minimum(&flags.minimum)?;
    let store = context::open(target)?;
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
        let verb = if lock { "lock" } else { "unlock" };
        return outln!("nothing to {verb}: the request matches no dataset");
    }
    print(&changed, flags.json)
}

/// Shows datasets.
pub(crate) fn status(target: &StoreFlags, flags: &StatusFlags) -> Outcome {
    let requests = flags.requests.parse()?;
    let store = context::open(target)?;
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
    let mut table = Table::new(["dataset", "created", "locked"]);
    for dataset in datasets {
        let forbidden = dataset.forbidden.iter().map(|action| format!("{action} (by the configuration)"));
        let by_move = |action| action == Action::Archive && dataset.locks.is_moving();
        let locks = dataset.locks.iter().map(|action| match by_move(action) {
            true => format!("{action} (by a move)"),
            false => action.to_string(),
        });
        let locked: Vec<String> = locks.chain(forbidden).collect();
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
        "moving": dataset.locks.is_moving(),
        "overlays": dataset.below.iter().map(key_object).collect::<Vec<_>>(),
        "forbidden": dataset.forbidden.iter().map(Action::name).collect::<Vec<_>>(),
        "rule": dataset.rule,
        "catalogue": dataset.catalogue.to_string(),
        "store": dataset.store.to_string(),
    })
}
