//! `isotach inspect`: where the fields of a request are.

use std::io::Write;

use clap::Args;
use isotach_mars::Match;

use crate::{
    context::{self, AtFlag, PlaceFlags},
    failure::{Failure, Outcome, say},
    missing::Missing,
    output::{line::Lines, standard_output},
    requests::{self, Requests},
};

/// Show where the fields of an exact request are, in the request's order, and which are missing
///
/// The request names every key that the schema asks for, as for read.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: isotach inspect class=od,date=-1,time=12,type=fc,levtype=pl,levelist=500,step=6,param=t"
)]
pub(crate) struct InspectFlags {
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Fail if a field is missing
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object a line: key, location, offset, length, checksum
    #[arg(long)]
    pub(crate) json: bool,
}

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
