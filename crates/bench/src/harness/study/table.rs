//! The results of a study as a table: medians over the repetitions.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Map, Value};

use super::{
    OfCase, extras_table,
    limit::{IS_POOR, RATIO},
    record::{Record, ResultRecord, text_of},
};
use crate::harness::metrics::{Figures, MIB, Spread};

/// The ratio to the limit, in the header.
const OF_PLAIN: &str = "of plain";
/// What is told of each phase of each case.
const FIGURES: [&str; 6] = ["MiB/s", OF_PLAIN, "latency ms", "p99 ms", "start ms", "overlap"];

/// Prints a row for each phase of each case; with profiles also how the time went over calls.
pub(crate) fn print(record: &Record, with_profiles: bool, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", record.machine())?;
    let all: Vec<OfCase<'_>> = record.cases().collect();
    let Some((first, _)) = all.first() else { return Ok(()) };
    // What all cases have in common is told once.
    let common = common(&all);
    writeln!(out, "{}", said(&first.labels, |name| common.contains(&name)))?;
    let names: Vec<&String> = first.labels.keys().filter(|name| !common.contains(&name.as_str())).collect();
    let mut table = Table::new();
    style(&mut table);
    let has_limit = all.iter().flat_map(|(_, results)| results).any(|one| one.more.contains_key(RATIO));
    let is_shown = |name: &&str| has_limit || *name != OF_PLAIN;
    let figures: Vec<&str> = FIGURES.into_iter().filter(is_shown).collect();
    let header = names.iter().map(|name| name.replace('_', " ")).chain(["phase".to_owned()]);
    table.set_header(header.chain(figures.iter().map(|name| (*name).to_owned())));
    for number in names.len() + 1..=names.len() + figures.len() {
        if let Some(column) = table.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for (case, results) in &all {
        for phase in phases(results) {
            let of_phase: Vec<&ResultRecord> =
                results.iter().filter(|one| one.phase == phase).copied().collect();
            let labels = names.iter().map(|name| text_of(&case.labels[*name]));
            let cells = figures.iter().map(|name| cell(name, &of_phase));
            table.add_row(labels.chain([phase.to_owned()]).chain(cells));
        }
    }
    write(&table, out)?;
    extras_table::print_freshness(&all, out)?;
    if with_profiles {
        extras_table::print_profiles(&all, out)?;
    }
    writeln!(
        out,
        "medians of the repetitions; MiB/s: all bytes by the time from the first start to the last end;"
    )?;
    if has_limit {
        writeln!(
            out,
            "of plain: by plain writes or reads of as many bytes by as many processes, right after it;"
        )?;
    }
    writeln!(
        out,
        "start: from the go until the last process began; *: processes did not overlap well. Kept in {}",
        record.folder().display()
    )
}

/// The names of the labels that all cases have the same of.
pub(crate) fn common<'r>(all: &[OfCase<'r>]) -> Vec<&'r str> {
    let Some((first, _)) = all.first() else { return Vec::new() };
    let is_common = |name: &str| all.iter().all(|(case, _)| case.labels.get(name) == first.labels.get(name));
    first.labels.keys().map(String::as_str).filter(|name| is_common(name)).collect()
}

/// Those labels of a case that are to be told, in words.
pub(crate) fn said(labels: &Map<String, Value>, is_told: impl Fn(&str) -> bool) -> String {
    let told = labels.iter().filter(|(name, _)| is_told(name));
    let said = told.map(|(name, value)| format!("{} {}", name.replace('_', " "), text_of(value)));
    said.collect::<Vec<_>>().join(", ")
}

pub(super) fn style(table: &mut Table) {
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
}

/// Prints a table without the blanks at the ends of its lines.
pub(crate) fn write(table: &Table, out: &mut impl Write) -> io::Result<()> {
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

pub(super) fn phases<'r>(results: &[&'r ResultRecord]) -> Vec<&'r str> {
    let mut phases: Vec<&str> = Vec::new();
    for result in results {
        if !phases.contains(&&*result.phase) {
            phases.push(&result.phase);
        }
    }
    phases
}

/// One of [`FIGURES`]: the median of the repetitions.
fn cell(name: &str, all: &[&ResultRecord]) -> String {
    let median =
        |of: fn(&Figures) -> f64| Spread::of(all.iter().map(|one| of(&one.figures)).collect()).median;
    let mark = |is_poor: bool| if is_poor { "*" } else { "" };
    match name {
        // A phase that moves no bytes, such as a listing, has no bandwidth.
        "MiB/s" if all.iter().all(|one| one.figures.bytes == 0) => "-".to_owned(),
        "MiB/s" => format!("{:.0}", median(|one| one.global_timing_bandwidth) / MIB),
        OF_PLAIN => {
            let ratios: Vec<f64> = all.iter().filter_map(|one| one.more.get(RATIO)?.as_f64()).collect();
            let is_poor = all.iter().any(|one| one.more.get(IS_POOR).and_then(Value::as_bool) == Some(true));
            if ratios.is_empty() {
                return "-".to_owned();
            }
            format!("{:.2}{}", Spread::of(ratios).median, mark(is_poor))
        }
        "latency ms" => format!("{:.2}", median(|one| one.latency_s.median) * 1e3),
        "p99 ms" => format!("{:.2}", median(|one| one.latency_s.p99) * 1e3),
        "start ms" => format!("{:.2}", median(|one| one.start_delay_s.max) * 1e3),
        _ => {
            let is_poor = all.iter().any(|one| one.figures.is_overlap_poor);
            format!("{:.2}{}", median(|one| one.overlap), mark(is_poor))
        }
    }
}
