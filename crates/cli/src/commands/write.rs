//! `isotach write`: archives the messages of files.

use super::ingest::{self, Intake};
use crate::{
    failure::Outcome,
    flags::{PlaceFlags, WriteFlags},
};

/// Archives.
pub(crate) fn run(place: &PlaceFlags, flags: &WriteFlags) -> Outcome {
    let intake = Intake {
        files: &flags.files,
        key: flags.key.as_deref(),
        skip_bad: flags.skip_bad,
        flush_every: flags.flush_every.unwrap_or(u64::MAX),
        in_place: false,
        json: flags.json,
    };
    ingest::run(place, &intake)
}
