//! `isotach adopt`: indexes the messages of files where they are.

use super::ingest::{self, Intake};
use crate::{
    failure::Outcome,
    flags::{AdoptFlags, PlaceFlags},
};

/// Adopts.
pub(crate) fn run(place: &PlaceFlags, flags: &AdoptFlags) -> Outcome {
    let intake = Intake {
        files: &flags.files,
        key: flags.key.as_deref(),
        skip_bad: flags.skip_bad,
        flush_every: u64::MAX,
        in_place: true,
        json: flags.json,
    };
    ingest::run(place, &intake)
}
