//! `isotach copy` and `isotach move`: fields to another store.

use std::time::Instant;

use isotach_fields::{Config, CopyReport, FieldStore, Result};
use isotach_mars::{Match, Request};
use serde_json::json;

use super::requests;
use crate::{
    context::{self, Source, is_same_pool, not_opened, pool_uri},
    failure::{Failure, Outcome},
    flags::{PlaceFlags, TransferFlags},
    output::{Bytes, Rate, count, outln, print_json, seconds},
};

/// Copies.
pub(crate) fn copy(place: &PlaceFlags, flags: &TransferFlags) -> Outcome {
    transfer(place, flags, "copied", FieldStore::copy_to)
}

/// Moves.
pub(crate) fn move_(place: &PlaceFlags, flags: &TransferFlags) -> Outcome {
    transfer(place, flags, "moved", FieldStore::move_to)
}

fn transfer(
    place: &PlaceFlags,
    flags: &TransferFlags,
    done: &str,
    operation: fn(&FieldStore, &FieldStore, &Request) -> Result<CopyReport>,
) -> Outcome {
    let requests = requests::given(&flags.requests)?;
    let uri = pool_uri(&flags.to).map_err(|failure| failure.about("--to"))?;
    let (config, source) = context::configuration(place)?;
    if config.spaces.iter().any(|space| is_same_pool(&space.catalogue, &uri)) {
        return Err(Failure::usage(format!("--to {uri}: expected another store than the one copied from")));
    }
    let registry = context::registry();
    let from = FieldStore::open(&config, &registry).map_err(|error| not_opened(error, &config, &source))?;
    let other = Config { clock: config.clock, ..Config::single(&uri) };
    let target = Source::Store { uri, given_by: "--to" };
    let to = FieldStore::open(&other, &registry).map_err(|error| not_opened(error, &other, &target))?;
    let begin = Instant::now();
    let mut sum = CopyReport::default();
    requests.for_each(&from, Match::Partial, |request| {
        let report = operation(&from, &to, request)?;
        sum = CopyReport { fields: sum.fields + report.fields, bytes: sum.bytes + report.bytes };
        Ok(())
    })?;
    let elapsed = begin.elapsed();
    if flags.json {
        let seconds = elapsed.as_secs_f64();
        return print_json(&json!({"fields": sum.fields, "bytes": sum.bytes, "seconds": seconds}));
    }
    let (fields, rate, time) = (count(sum.fields, "field"), Rate(sum.bytes, elapsed), seconds(elapsed));
    outln!("{done} {fields}, {} in {time} ({rate})", Bytes(sum.bytes))
}
