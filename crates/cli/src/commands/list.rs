//! `isotach list`: a line for each field.

use std::io::Write;

use isotach_fields::{Error, ListOptions};
use isotach_mars::Match;

use super::{
    absent,
    line::{Lines, Shown},
    requests,
};
use crate::{
    context,
    failure::{Outcome, say},
    flags::{ListFlags, PlaceFlags},
    output::standard_output,
};

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
                lines.plain(&mut out, &listed, Shown::of(flags))?;
            }
        }
        Ok(())
    })?;
    out.flush()?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    if is_empty { absent::note(&store, &requests) } else { Ok(()) }
}
