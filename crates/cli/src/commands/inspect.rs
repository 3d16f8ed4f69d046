//! `isotach inspect`: the locations of the fields of a request.

use std::io::Write;

use clap::Args;
use isotach_mars::Match;

use crate::{
    context::{self, AtFlag, StoreFlags},
    failure::{Failure, Outcome, say},
    missing::Missing,
    output::{line::Lines, standard_output},
    requests::RequestFlags,
};

/// Show the locations of the fields of an exact request, in the request's order, and which are missing
///
/// The request names every key that the schema asks for, as for read.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: isotach inspect class=od,date=-1,time=12,type=fc,levtype=pl,levelist=500,step=6,param=t"
)]
pub(crate) struct InspectFlags {
    #[command(flatten)]
    requests: RequestFlags,
    #[command(flatten)]
    at: AtFlag,
    /// Fail if a field is missing
    #[arg(long)]
    strict: bool,
    /// Print one JSON object a line: key, location, offset, length, checksum
    #[arg(long)]
    json: bool,
}

/// Prints a line for each field, and on standard error the missing ones.
pub(crate) fn run(target: &StoreFlags, flags: &InspectFlags) -> Outcome {
    let requests = flags.requests.parse()?;
    let store = context::open_at(target, &flags.at)?;
    let mut out = standard_output();
    let mut lines = Lines::default();
    let mut missing = 0;
    requests.for_each(&store, Match::Exact, |request| {
        let mut inspection = store.inspect(request)?;
        for field in inspection.by_ref() {
            match flags.json {
                true => lines.json_inspected(&mut out, &field?)?,
                false => lines.plain_inspected(&mut out, &field?)?,
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
