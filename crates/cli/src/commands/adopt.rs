//! `isotach adopt`: indexes the messages of files where they are.

use super::{
    change::Change,
    ingest::{self, Intake},
};
use crate::{
    context,
    failure::Outcome,
    flags::{AdoptFlags, PlaceFlags},
};

/// Adopts.
pub(crate) fn run(place: &PlaceFlags, flags: &AdoptFlags) -> Outcome {
    let intake = Intake {
        files: &flags.files,
        how: &flags.intake,
        flush_every: u64::MAX,
        in_place: true,
        atomic: false,
        change: Change::default(),
    };
    ingest::run(|| context::open(place), &intake)
}
