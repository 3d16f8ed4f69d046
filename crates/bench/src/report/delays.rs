//! Delays: from the release to the start of each process, and from the flush of a step to its first complete read.

use serde_json::Map;

use super::{
    axes::{by_name, groups, title, varying, words},
    html::Table,
    measured::{Measured, Row, is_measured, starts_of, summary_of},
    plot::{Bars, Figure, Panel, Plot, Shape},
};

const STARTS: &str = "From the go to the first I/O start of each process, over the processes: median, 95th percentile (medians of all \
    cases and repetitions) and the longest of all.";
const FRESHNESS: &str = "From the end of the flush of a step of a member until a reader had seen all of its fields: median, 95th percentile \
    and longest.";
const PARTS: [&str; 3] = ["median", "95 %", "longest"];

/// A row with its median, its 95th percentile and its longest delay, in milliseconds.
type Delayed<'r> = (&'r Row, [f64; 3]);

fn freshness_of(rows: &[&Row]) -> Option<[f64; 3]> {
    let results = rows.iter().flat_map(|row| &row.results);
    let all = results.filter_map(|result| result.extras.freshness.as_ref());
    summary_of(&all.map(|one| one.delay_s).collect::<Vec<_>>())
}

/// The start delays of processes, by their number.
pub(crate) fn starts(measured: &Measured) -> Option<Figure> {
    let of = |rows: &[&Row]| starts_of(rows.iter().flat_map(|row| row.figures()));
    let mut by = varying(&measured.own(), &[]);
    by.retain(|name| ["nodes", "processes_per_node"].contains(&name.as_str()));
    if by.is_empty() {
        by.push("processes_per_node".to_owned());
    }
    let delays = Delays { id: "starts", title: "Start-up delays", caption: STARTS, by: &by };
    figure(measured, &delays, of)
}

/// The freshness of what readers saw.
pub(crate) fn freshness(measured: &Measured) -> Option<Figure> {
    let by = varying(&measured.own(), &[]);
    let delays = Delays { id: "freshness", title: "Freshness", caption: FRESHNESS, by: &by };
    figure(measured, &delays, freshness_of)
}

struct Delays<'d> {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    /// The labels of one case: cases with the same values are combined.
    by: &'d [String],
}

fn figure(
    measured: &Measured,
    delays: &Delays<'_>,
    of: impl Fn(&[&Row]) -> Option<[f64; 3]>,
) -> Option<Figure> {
    let measured = measured.rows.iter().filter(|row| is_measured(&row.phase));
    let delayed: Vec<Delayed<'_>> =
        measured.filter_map(|row| Some((row, of(&[row])?.map(|seconds| seconds * 1e3)))).collect();
    let rows: Vec<&Row> = delayed.iter().map(|(row, _)| *row).collect();
    if rows.is_empty() {
        return None;
    }
    let mut cases = Vec::new();
    for (phase, rows) in by_name(&rows) {
        for group in groups(&rows, delays.by) {
            let name = match delays.by {
                [] => phase.to_owned(),
                by => format!("{phase}, {}", title(group.rows[0], by)),
            };
            cases.extend(of(&group.rows).map(|seconds| (name, seconds.map(|seconds| seconds * 1e3))));
        }
    }
    Some(Figure {
        id: delays.id,
        title: delays.title.to_owned(),
        caption: delays.caption.to_owned(),
        panels: vec![Panel { choice: Map::new(), plots: vec![plot(delays, &cases)] }],
        table: table(&rows, &delayed),
    })
}

fn plot(delays: &Delays<'_>, cases: &[(String, [f64; 3])]) -> Plot {
    let part = |number: usize| {
        let values = cases.iter().map(|(_, parts)| Some(parts[number]));
        Bars::plain(PARTS[number], number, values.collect())
    };
    let shape = Shape::Bars {
        y: "ms".to_owned(),
        categories: cases.iter().map(|(name, _)| name.clone()).collect(),
        series: (0..PARTS.len()).map(part).collect(),
        stacked: false,
    };
    let alternative = format!("{} in ms in {} cases", delays.title, cases.len());
    Plot { title: "all phases".to_owned(), alternative, shape }
}

/// A row for each phase of each case.
fn table(rows: &[&Row], delayed: &[Delayed<'_>]) -> Table {
    let names = varying(rows, &[]);
    let parts = PARTS.map(|part| format!("{part} ms"));
    let columns = names.iter().map(|name| words(name)).chain(["phase".to_owned()]).chain(parts);
    let rows = delayed.iter().map(|(row, delays)| {
        let labels = names.iter().map(|name| row.text(name)).chain([row.phase.clone()]);
        labels.map(serde_json::Value::from).chain(delays.map(serde_json::Value::from)).collect()
    });
    Table { columns: columns.collect(), rows: rows.collect(), ..Table::default() }
}
