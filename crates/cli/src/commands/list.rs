//! `isotach list`: a line for each field.

use std::io::Write;

use isotach_fields::ListOptions;
use isotach_mars::Match;

use super::{line::Lines, requests};
use crate::{
    context,
    failure::Outcome,
    flags::{ListFlags, PlaceFlags},
    output::standard_output,
};

/// Streams the listing; memory does not grow with it.
pub(crate) fn run(place: &PlaceFlags, flags: &ListFlags) -> Outcome {
    let requests = requests::given_or_all(&flags.requests)?;
    let store = context::open_at(place, &flags.at)?;
    let mut out = standard_output();
    let mut lines = Lines::default();
    requests.for_each(&store, Match::Partial, |request| {
        for listed in store.list(request, ListOptions { duplicates: flags.duplicates })? {
            let listed = listed?;
            if flags.json {
                lines.json(&mut out, &listed, flags.duplicates)?;
            } else {
                lines.plain(&mut out, &listed, flags.long)?;
            }
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(())
}
