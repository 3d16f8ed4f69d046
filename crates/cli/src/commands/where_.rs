//! `isotach where`: spaces and their pools, or datasets and their containers.

use clap::Args;
use isotach_fields::Action;
use isotach_mars::Match;
use serde_json::json;

use crate::{
    context::{self, PlaceFlags},
    failure::Outcome,
    output::{Table, key_object, print_json},
    requests::{self, OneRequest},
};

/// Show the spaces of the store and their pools; with a request, the containers of its datasets
#[derive(Debug, Args)]
#[command(after_help = "Examples: isotach where
          isotach where class=od,date=-1")]
pub(crate) struct WhereFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    /// Print one JSON object for each space or dataset
    #[arg(long)]
    pub(crate) json: bool,
}

/// Without a request the spaces, with one its datasets.
pub(crate) fn run(place: &PlaceFlags, flags: &WhereFlags) -> Outcome {
    if flags.requests.request.is_none() && flags.requests.file.is_none() {
        return spaces(place, flags.json);
    }
    let requests = requests::given_or_all(&flags.requests)?;
    let store = context::open(place)?;
    let mut table = Table::new(["dataset", "catalogue", "store"]);
    requests.for_each(&store, Match::Partial, |request| {
        for dataset in store.status(request)? {
            let (catalogue, store) = (dataset.catalogue.to_string(), dataset.store.to_string());
            if flags.json {
                print_json(
                    &json!({"key": key_object(&dataset.key), "catalogue": catalogue, "store": store}),
                )?;
            } else {
                table.row([dataset.key.to_string(), catalogue, store]);
            }
        }
        Ok(())
    })?;
    if flags.json { Ok(()) } else { table.print() }
}

fn spaces(place: &PlaceFlags, as_json: bool) -> Outcome {
    let (config, _) = context::configuration(place)?;
    let are_limited = config.spaces.iter().any(|space| space.forbidden.iter().next().is_some());
    let mut columns = vec!["space", "datasets", "catalogue", "store"];
    columns.extend(are_limited.then_some("forbidden"));
    let mut table = Table::new(columns);
    for space in &config.spaces {
        let forbidden: Vec<&str> = space.forbidden.iter().map(Action::name).collect();
        let (pattern, catalogue, store) =
            (space.pattern.to_string(), space.catalogue.to_string(), space.store.to_string());
        if as_json {
            let object = json!({"space": space.name, "datasets": pattern, "catalogue": catalogue, "store": store, "forbidden": forbidden});
            print_json(&object)?;
        } else {
            let mut row = vec![space.name.clone(), pattern, catalogue, store];
            row.extend(
                are_limited.then(|| if forbidden.is_empty() { "-".to_owned() } else { forbidden.join(", ") }),
            );
            table.row(row);
        }
    }
    if as_json { Ok(()) } else { table.print() }
}
