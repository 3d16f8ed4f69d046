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
        how: &flags.intake,
        flush_every: flags.flush_every.unwrap_or(u64::MAX),
        in_place: false,
        atomic: flags.atomic,
    };
    ingest::run(place, &intake)
}
