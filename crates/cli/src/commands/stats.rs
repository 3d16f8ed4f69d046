//! `isotach stats`: how much there is.

use clap::Args;
use isotach_fields::DatasetStats;
use isotach_mars::Match;
use serde_json::{Value, json};

use crate::{
    context::{self, AtFlag, PlaceFlags},
    failure::Outcome,
    output::{Bytes, Table, key_object, print_json},
    requests::{self, LeastFlag, OneRequest},
};

/// Count fields and bytes, for each dataset
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach stats class=od,date=-1")]
pub(crate) struct StatsFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}

/// A row for each dataset, and one for all.
pub(crate) fn run(place: &PlaceFlags, flags: &StatsFlags) -> Outcome {
    let requests = requests::given_or_all(&flags.requests)?.with_least(&flags.least)?;
    let store = context::open_at(place, &flags.at)?;
    requests.for_each(&store, Match::Partial, |request| {
        let answer = store.stats(request)?;
        if flags.json {
            answer.found.iter().try_for_each(|dataset| print_json(&object(dataset)))?;
        } else {
            print(&answer.found)?;
        }
        requests::tell_unusable(answer.unusable)
    })
}

fn print(stats: &[DatasetStats]) -> Outcome {
    let headings = ["dataset", "collocations", "fields", "bytes", "replaced", "adopted", "on disk"];
    let mut table = Table::new(headings).right(&[1, 2, 3, 4, 5, 6]);
    let mut sum = isotach_fields::Counts::default();
    for dataset in stats {
        let counts = dataset.counts;
        sum = sum.plus(counts);
        table.row(row(dataset.key.to_string(), dataset.collocations, &counts, dataset.container_bytes));
    }
    if stats.len() != 1 {
        let collocations = stats.iter().map(|dataset| dataset.collocations).sum();
        let disk = stats.iter().map(|dataset| dataset.container_bytes).sum();
        table.row(row(format!("{} datasets", stats.len()), collocations, &sum, disk));
    }
    table.print()
}

fn row(name: String, collocations: u64, counts: &isotach_fields::Counts, disk: u64) -> [String; 7] {
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
