//! `isotach where`: spaces and their pools, or datasets and their containers.

use clap::Args;
use isotach_fields::Action;
use isotach_mars::Match;
use serde_json::json;

use crate::{
    context::{self, StoreFlags},
    failure::Outcome,
    output::{Table, key_object, print_json},
    requests::OptionalRequestFlags,
};

/// Show the spaces of the store and their pools; with a request, the containers of its datasets
#[derive(Debug, Args)]
#[command(after_help = "Examples: isotach where
          isotach where class=od,date=-1")]
pub(crate) struct WhereFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    /// Print one JSON object for each space or dataset
    #[arg(long)]
    json: bool,
}

/// Prints the spaces, or the datasets of a request.
pub(crate) fn run(target: &StoreFlags, flags: &WhereFlags) -> Outcome {
    if flags.requests.is_absent() {
        return spaces(target, flags.json);
    }
    let requests = flags.requests.parse()?;
    let store = context::open(target)?;
    let mut table = Table::new(["dataset", "catalogue", "store"]);
    requests.for_each(&store, Match::Partial, |request| {
        for dataset in store.status(request)? {
            let (key, catalogue, store) =
                (&dataset.key, dataset.catalogue.to_string(), dataset.store.to_string());
            match flags.json {
                true => print_json(&json!({"key": key_object(key), "catalogue": catalogue, "store": store}))?,
                false => table.row([key.to_string(), catalogue, store]),
            }
        }
        Ok(())
    })?;
    if flags.json { Ok(()) } else { table.print() }
}

fn spaces(target: &StoreFlags, as_json: bool) -> Outcome {
    let (config, _) = context::configuration(target)?;
    let has_forbidden = config.spaces.iter().any(|space| space.forbidden.iter().next().is_some());
    let mut columns = vec!["space", "datasets", "catalogue", "store"];
    columns.extend(has_forbidden.then_some("forbidden"));
    let mut table = Table::new(columns);
    for space in &config.spaces {
        let forbidden: Vec<&str> = space.forbidden.iter().map(Action::name).collect();
        let (pattern, catalogue, store) =
            (space.pattern.to_string(), space.catalogue.to_string(), space.store.to_string());
        if as_json {
            let object = json!({"space": space.name, "datasets": pattern, "catalogue": catalogue, "store": store, "forbidden": forbidden});
            print_json(&object)?;
            continue;
        }
        let forbidden = if forbidden.is_empty() { "-".to_owned() } else { forbidden.join(", ") };
        let mut row = vec![space.name.clone(), pattern, catalogue, store];
        row.extend(has_forbidden.then_some(forbidden));
        table.row(row);
    }
    if as_json { Ok(()) } else { table.print() }
}
