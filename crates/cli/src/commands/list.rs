//! `isotach list`: a line for each field.

use std::io::Write;

use clap::Args;
use isotach_fields::{Error, ListOptions};
use isotach_mars::Match;

use crate::{
    context::{self, AtFlag, StoreFlags},
    failure::{Outcome, say},
    missing,
    output::{
        line::{LineOptions, Lines},
        standard_output,
    },
    requests::{MinimumKeysFlag, OptionalRequestFlags},
};

/// List fields
///
/// Prints a line for each field, its keys by the three levels of the schema.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = "Example: isotach list class=od,date=-1,step=0/to/24/by/6 --json")]
pub(crate) struct ListFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    #[command(flatten)]
    minimum: MinimumKeysFlag,
    #[command(flatten)]
    at: AtFlag,
    /// Also show fields that were replaced
    #[arg(long)]
    duplicates: bool,
    /// Also show the location of each field, its length and its checksum
    #[arg(short, long, conflicts_with = "json")]
    long: bool,
    /// Also show the length of each field, in bytes
    #[arg(long, conflicts_with_all = ["json", "long"])]
    length: bool,
    /// Show datasets (1), collocations (2) or fields (3)
    #[arg(long, value_name = "LEVELS", default_value = "3", value_parser = clap::value_parser!(u8).range(1..=3))]
    #[arg(conflicts_with_all = ["json", "long", "length", "duplicates"])]
    depth: u8,
    /// Print for scripts: the lines alone, as FDB prints them, without a mark on fields that were replaced
    #[arg(long, conflicts_with_all = ["json", "long"])]
    porcelain: bool,
    /// Print one JSON object a line: key, location, offset, length, checksum
    #[arg(long)]
    json: bool,
}

/// Prints the listing as a stream, with bounded memory.
pub(crate) fn run(target: &StoreFlags, flags: &ListFlags) -> Outcome {
    let requests = flags.requests.parse()?.with_minimum(&flags.minimum)?;
    let store = context::open_at(target, &flags.at)?;
    let mut out = standard_output();
    let mut lines = Lines::default();
    let options = LineOptions { porcelain: flags.porcelain, length: flags.length, location: flags.long };
    let (mut is_empty, mut failed) = (true, None::<Error>);
    requests.for_each(&store, Match::Partial, |request| {
        for listed in store.list(request, ListOptions { duplicates: flags.duplicates })? {
            let listed = match listed {
                Ok(listed) => listed,
                // An unreadable dataset does not end the listing.
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
                lines.plain(&mut out, &listed, options)?;
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
