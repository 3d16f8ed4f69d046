//! `isotach inspect`: where the fields of a request are.

use std::io::Write;

use isotach_mars::Match;

use super::{line::Lines, missing::Missing, requests};
use crate::{
    context,
    failure::{Failure, Outcome, say},
    flags::{InspectFlags, PlaceFlags},
    output::standard_output,
};

/// A line for each field that is there; on standard error those that are not.
pub(crate) fn run(place: &PlaceFlags, flags: &InspectFlags) -> Outcome {
    let requests = requests::given(&flags.requests)?;
    let store = context::open_at(place, &flags.at)?;
    let mut out = standard_output();
    let mut lines = Lines::default();
    let mut missing = 0;
    requests.for_each(&store, Match::Exact, |request| {
        let mut inspection = store.inspect(request)?;
        for field in inspection.by_ref() {
            let field = field?;
            if flags.json {
                lines.json_of(&mut out, &field)?;
            } else {
                lines.plain_of(&mut out, &field)?;
            }
        }
        out.flush()?;
        let found = Missing { request, found: inspection.missing() };
        missing += found.count();
        found.text().into_iter().for_each(say);
        Ok(())
    })?;
    if flags.strict && missing > 0 { Err(Failure::Reported) } else { Ok(()) }
}
