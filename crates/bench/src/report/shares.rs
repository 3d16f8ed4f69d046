//! The shares of time: of the parts of operations, and of the calls of a workload.

use super::{
    axes::{groups, pick, title, varying},
    html::Table,
    measured::{Measured, Row},
    plot::{Bars, Figure, Panel, Plot, Shape},
};
use crate::harness::groups::grouped;

/// The largest number of calls that are shown by name.
const CALLS_MAX: usize = 9;

/// A row with the seconds of its parts.
pub(crate) type RowParts<'r> = (&'r Row, Vec<(String, f64)>);

/// The shares of calls, where a workload records them.
pub(crate) fn calls(measured: &Measured) -> Option<Figure> {
    let rows = measured.own();
    let parted: Vec<RowParts<'_>> =
        rows.iter().map(|row| (*row, calls_of(row))).filter(|(_, parts)| !parts.is_empty()).collect();
    let caption =
        "The part that each call has of the time in all counted calls, over all processes and repetitions.";
    figure("calls", "Time by call", caption, &parted)
}

/// The seconds of each call, in descending order.
fn calls_of(row: &Row) -> Vec<(String, f64)> {
    let counted = row.calls().into_iter().filter(|(_, seconds)| *seconds > 0.0);
    let mut calls: Vec<(String, f64)> = counted.map(|(name, seconds)| (name.to_owned(), seconds)).collect();
    calls.sort_by(|a, b| b.1.total_cmp(&a.1));
    if calls.len() > CALLS_MAX {
        let rest = calls.split_off(CALLS_MAX - 1).iter().map(|(_, value)| value).sum();
        calls.push(("other calls".to_owned(), rest));
    }
    calls
}

/// A bar of parts for each row.
pub(crate) fn figure(
    id: &'static str,
    name: &'static str,
    caption: &str,
    parted: &[RowParts<'_>],
) -> Option<Figure> {
    let rows: Vec<&Row> = parted.iter().map(|(row, _)| *row).collect();
    let (categories, choices) = pick(varying(&rows, &[]), 3);
    let parts_of = |row: &Row| parted.iter().find(|(one, _)| std::ptr::eq(*one, row)).map(|(_, parts)| parts);
    let all = names_of(parted.iter().map(|(_, parts)| parts));
    let panel = |(values, rows): (Vec<String>, Vec<&Row>)| {
        let plots = grouped(rows, |row| row.phase.as_str()).into_iter().map(|(phase, rows)| {
            let bars: Vec<(String, &Vec<(String, f64)>)> = groups(&rows, &categories)
                .iter()
                .filter_map(|(_, rows)| Some((title(rows[0], &categories), parts_of(rows[0])?)))
                .collect();
            plot(phase, &all, &bars)
        });
        Panel::new(&choices, values, plots.collect())
    };
    let panels = groups(&rows, &choices).into_iter().filter_map(panel).collect();
    Figure::new(id, name, caption.to_owned(), panels, || table(&rows, parted))
}

/// The names of all parts; the rest is last.
fn names_of<'p>(parts: impl Iterator<Item = &'p Vec<(String, f64)>>) -> Vec<&'p str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in parts.flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| name.starts_with("other"));
    names
}

/// A part has the same colour in all plots.
fn plot(phase: &str, all: &[&str], bars: &[(String, &Vec<(String, f64)>)]) -> Plot {
    let names = names_of(bars.iter().map(|(_, parts)| *parts));
    let share = |parts: &[(String, f64)], name: &str| {
        let all: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
        let of = parts.iter().find(|(part, _)| part == name)?.1;
        (all > 0.0).then_some(100.0 * of / all)
    };
    let series = names.iter().map(|name| {
        let colour = all.iter().position(|one| one == name).unwrap_or(0);
        Bars::plain(name, colour, bars.iter().map(|(_, parts)| share(parts, name)).collect())
    });
    let shape = Shape::Bars {
        y: "% of the time".to_owned(),
        categories: bars.iter().map(|(case, _)| case.clone()).collect(),
        series: series.collect(),
        stacked: true,
    };
    let alternative = format!("{phase}: shares of {} in {} cases", names.join(", "), bars.len());
    Plot { title: phase.to_owned(), alternative, shape }
}

fn table(rows: &[&Row], parted: &[RowParts<'_>]) -> Table {
    let names = &varying(rows, &[]);
    let rows = parted.iter().flat_map(|(row, parts)| {
        let all: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
        parts.iter().map(move |(part, seconds)| {
            let percent = if all > 0.0 { 100.0 * seconds / all } else { 0.0 };
            row.cells(names).chain([part.clone().into(), (*seconds).into(), percent.into()]).collect()
        })
    });
    Table::new(names, ["phase", "part", "seconds", "%"], rows.collect())
}
