//! `isotach index`: makes the indexes of fields that were archived without them.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use clap::Args;
use isotach_mars::Match;
use isotach_values::index_fields;
use serde_json::json;

use crate::{
    context::{self, StoreFlags},
    failure::{Failure, Outcome, say},
    output::{Bytes, Rate, count, print_json},
    progress::Progress,
    requests::OptionalRequestFlags,
};

/// The failures that are printed; the others are counted.
const FAILURES_NAMED_MAX: usize = 20;

/// Make the jump indexes that fields lack, by which single grid points are read
///
/// A field gets its jump index when it is archived, or when its points are read for the first time. This command makes those of
/// fields that have neither, and makes damaged ones anew. It reads these fields as a whole.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach index --jump class=od,date=20240101")]
pub(crate) struct IndexFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    /// Make jump indexes, the only kind so far
    #[arg(long, required = true)]
    jump: bool,
    /// How many threads read; 0 for one on each processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Print one JSON object for each request
    #[arg(long)]
    json: bool,
}

/// Makes the indexes, and reports fields that could not be read.
pub(crate) fn run(target: &StoreFlags, flags: &IndexFlags) -> Outcome {
    let requests = flags.requests.parse()?;
    let store = context::open(target)?;
    let mut has_failed = false;
    requests.for_each(&store, Match::Partial, |request| {
        let begin = Instant::now();
        let progress = Mutex::new(Progress::new(None));
        let show = |fields, bytes| {
            progress.lock().unwrap_or_else(PoisonError::into_inner).set(fields, bytes, None);
        };
        let report = index_fields(&store, request, flags.threads, &show)?;
        progress.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
        report.failures.iter().take(FAILURES_NAMED_MAX).for_each(say);
        has_failed |= !report.failures.is_empty();
        if flags.json {
            return print_json(&json!({
                "fields": report.fields,
                "had": report.had,
                "indexed": report.indexed,
                "whole": report.whole,
                "bytes": report.bytes,
                "failures": report.failures.len(),
            }));
        }
        let rate = Rate(report.bytes, begin.elapsed());
        say(format!(
            "indexed {} of {}; {} had a jump index, and {} of other packings have none; read {} ({rate})",
            report.indexed,
            count(report.fields, "field"),
            report.had,
            report.whole,
            Bytes(report.bytes)
        ));
        let unnamed = report.failures.len().saturating_sub(FAILURES_NAMED_MAX);
        if unnamed > 0 {
            say(format!("{unnamed} more failures"));
        }
        Ok(())
    })?;
    if has_failed { Err(Failure::Reported) } else { Ok(()) }
}
