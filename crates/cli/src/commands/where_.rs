//! `isotach where`: spaces and their pools, or datasets and their containers.

use isotach_mars::Match;
use serde_json::json;

use super::requests;
use crate::{
    context,
    failure::Outcome,
    flags::{PlaceFlags, WhereFlags},
    output::{Table, key_object, print_json},
};

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
    let mut table = Table::new(["space", "datasets", "catalogue", "store"]);
    for space in &config.spaces {
        let (pattern, catalogue, store) =
            (space.pattern.to_string(), space.catalogue.to_string(), space.store.to_string());
        if as_json {
            let object =
                json!({"space": space.name, "datasets": pattern, "catalogue": catalogue, "store": store});
            print_json(&object)?;
        } else {
            table.row([space.name.clone(), pattern, catalogue, store]);
        }
    }
    if as_json { Ok(()) } else { table.print() }
}
