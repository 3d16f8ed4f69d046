//! `isotach stats`: the number of fields and bytes.

use clap::Args;
use isotach_fields::{Counts, DatasetStats};
use isotach_mars::Match;
use serde_json::{Value, json};

use crate::{
    context::{self, AtFlag, StoreFlags},
    failure::Outcome,
    missing,
    output::{Bytes, Table, key_object, print_json},
    requests::{MinimumKeysFlag, OptionalRequestFlags, report_unusable},
};

/// Count fields and bytes, for each dataset
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach stats class=od,date=-1")]
pub(crate) struct StatsFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    #[command(flatten)]
    minimum: MinimumKeysFlag,
    #[command(flatten)]
    at: AtFlag,
    /// Print one JSON object for each dataset
    #[arg(long)]
    json: bool,
}

/// Prints a row for each dataset, and one for all.
pub(crate) fn run(target: &StoreFlags, flags: &StatsFlags) -> Outcome {
    let requests = flags.requests.parse()?.with_minimum(&flags.minimum)?;
    let store = context::open_at(target, &flags.at)?;
    requests.for_each(&store, Match::Partial, |request| {
        let answer = store.stats(request)?;
        if flags.json {
            answer.found.iter().try_for_each(|dataset| print_json(&object(dataset)))?;
        } else {
            print(&answer.found)?;
        }
        missing::note_unlisted(&store, request);
        report_unusable(answer.unusable)
    })
}

fn print(stats: &[DatasetStats]) -> Outcome {
    let headings = ["dataset", "collocations", "fields", "bytes", "replaced", "adopted", "on disk"];
    let mut table = Table::new(headings).right(&[1, 2, 3, 4, 5, 6]);
    let (mut sum, mut collocations, mut disk) = (Counts::default(), 0, 0);
    for dataset in stats {
        sum = sum.plus(dataset.counts);
        (collocations, disk) = (collocations + dataset.collocations, disk + dataset.container_bytes);
        table.row(row(
            dataset.key.to_string(),
            dataset.collocations,
            dataset.counts,
            dataset.container_bytes,
        ));
    }
    if stats.len() != 1 {
        table.row(row(format!("{} datasets", stats.len()), collocations, sum, disk));
    }
    table.print()
}

fn row(name: String, collocations: u64, counts: Counts, disk: u64) -> [String; 7] {
    [
        name,
        collocations.to_string(),
        counts.fields.to_string(),
        Bytes(counts.bytes).to_string(),
        counts.replaced_fields.to_string(),
        counts.adopted_fields.to_string(),
        Bytes(disk).to_string(),
    ]
}

fn object(dataset: &DatasetStats) -> Value {
    let counts = dataset.counts;
    json!({
        "key": key_object(&dataset.key),
        "collocations": dataset.collocations,
        "fields": counts.fields,
        "bytes": counts.bytes,
        "replaced_fields": counts.replaced_fields,
        "replaced_bytes": counts.replaced_bytes,
        "adopted_fields": counts.adopted_fields,
        "adopted_bytes": counts.adopted_bytes,
        "container_bytes": dataset.container_bytes,
    })
}
