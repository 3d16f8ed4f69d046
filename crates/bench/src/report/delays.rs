//! Delays: from the release to the start of each process, and from the flush of a step to its first complete read.

use serde_json::{Map, Value};

use super::{
    axes::{groups, title, varying},
    html::Table,
    measured::{Measured, Row, is_measured, starts_of, summary_of},
    plot::{Bars, Figure, Panel, Plot, Shape},
};
use crate::harness::groups::grouped;

const STARTS: &str = "From the go to the first I/O start of each process, over the processes: median, 95th percentile (medians of all \
    cases and repetitions) and the longest of all.";
const FRESHNESS: &str = "From the end of the flush of a step of a member until a reader had seen all of its fields: median, 95th percentile \
    and longest.";
const PARTS: [&str; 3] = ["median", "95 %", "longest"];

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
    figure(measured, &delays, |rows| {
        let results = rows.iter().flat_map(|row| &row.results);
        let all = results.filter_map(|result| result.extras.freshness.as_ref());
        summary_of(&all.map(|one| one.delay_s).collect::<Vec<_>>())
    })
}

struct Delays<'d> {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    /// The labels of one case: cases with the same values are combined.
    by: &'d [String],
}

/// `of` returns the median, the 95th percentile and the longest delay, in seconds.
fn figure(
    measured: &Measured,
    delays: &Delays<'_>,
    of: impl Fn(&[&Row]) -> Option<[f64; 3]>,
) -> Option<Figure> {
    let of = |rows: &[&Row]| of(rows).map(|seconds| seconds.map(|seconds| seconds * 1e3));
    let measured = measured.rows.iter().filter(|row| is_measured(&row.phase));
    let delayed: Vec<(&Row, [f64; 3])> = measured.filter_map(|row| Some((row, of(&[row])?))).collect();
    let rows: Vec<&Row> = delayed.iter().map(|(row, _)| *row).collect();
    let mut cases = Vec::new();
    for (phase, rows) in grouped(rows.iter().copied(), |row| row.phase.as_str()) {
        for (_, rows) in groups(&rows, delays.by) {
            let name = match delays.by {
                [] => phase.to_owned(),
                by => format!("{phase}, {}", title(rows[0], by)),
            };
            cases.extend(of(&rows).map(|milliseconds| (name, milliseconds)));
        }
    }
    let panel = (!rows.is_empty()).then(|| Panel { choice: Map::new(), plots: vec![plot(delays, &cases)] });
    Figure::new(delays.id, delays.title, delays.caption.to_owned(), panel.into_iter().collect(), || {
        let names = varying(&rows, &[]);
        let parts = PARTS.map(|part| format!("{part} ms"));
        let cells =
            |(row, delays): &(&Row, [f64; 3])| row.cells(&names).chain(delays.map(Value::from)).collect();
        let columns = ["phase".to_owned()].into_iter().chain(parts);
        Table::new(&names, columns, delayed.iter().map(cells).collect())
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
