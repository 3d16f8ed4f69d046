//! `isotach list`: a line for each field.

use std::io::Write;

use clap::Args;
use isotach_fields::{Error, ListOptions};
use isotach_mars::Match;

use crate::{
    context::{self, AtFlag, PlaceFlags},
    failure::{Outcome, say},
    missing,
    output::{
        line::{Lines, Shown},
        standard_output,
    },
    requests::{self, LeastFlag, OneRequest},
};

/// List fields
///
/// Prints a line for each field, its keys by the three levels of the schema.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = "Example: isotach list class=od,date=-1,step=0/to/24/by/6 --json")]
pub(crate) struct ListFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Also show fields that were replaced
    #[arg(long)]
    pub(crate) duplicates: bool,
    /// Also show where each field is, its length and its checksum
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) long: bool,
    /// Also show the length of each field, in bytes
    #[arg(long, conflicts_with_all = ["json", "long"])]
    pub(crate) length: bool,
    /// Show datasets (1), collocations (2) or fields (3)
    #[arg(long, value_name = "LEVELS", default_value = "3", value_parser = clap::value_parser!(u8).range(1..=3))]
    #[arg(conflicts_with_all = ["json", "long", "length", "duplicates"])]
    pub(crate) depth: u8,
    /// Print what scripts read: the lines alone, as FDB prints them, without a mark on fields that were replaced
    #[arg(long, conflicts_with_all = ["json", "long"])]
    pub(crate) porcelain: bool,
    /// Print one JSON object a line: key, location, offset, length, checksum
    #[arg(long)]
    pub(crate) json: bool,
}

/// Streams the listing; memory does not grow with it.
pub(crate) fn run(place: &PlaceFlags, flags: &ListFlags) -> Outcome {
    let requests = requests::given_or_all(&flags.requests)?.with_least(&flags.least)?;
    let store = context::open_at(place, &flags.at)?;
    let mut out = standard_output();
    let mut lines = Lines::default();
    let (mut is_empty, mut failed) = (true, None::<Error>);
    requests.for_each(&store, Match::Partial, |request| {
        for listed in store.list(request, ListOptions { duplicates: flags.duplicates })? {
            let listed = match listed {
                Ok(listed) => listed,
                // What cannot be listed hides nothing else.
                Err(error) => {
                    failed.replace(error).into_iter().for_each(say);
                    continue;
                }
            };
            is_empty = false;
            if flags.json {
                lines.json(&mut out, &listed, flags.duplicates)?;
            } else if flags.depth < 3 {
                lines.level(&mut out, &listed, flags.depth)?;
            } else {
                lines.plain(
                    &mut out,
                    &listed,
                    Shown { porcelain: flags.porcelain, length: flags.length, place: flags.long },
                )?;
            }
        }
        Ok(())
    })?;
    out.flush()?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    if is_empty { missing::note(&store, &requests) } else { Ok(()) }
}
