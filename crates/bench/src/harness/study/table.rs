//! The results of a study as a table: medians over the repetitions.

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::{
    extras_table,
    limit::{IS_POOR, RATIO},
    record::{CaseResults, Record, ResultRecord, text_of},
};
use crate::harness::{
    metrics::Figures,
    output::{overlap_mark, print_table, table},
    spread::{MIB, Spread},
};

/// The header of the ratio to the limit.
const OF_PLAIN: &str = "of plain";
const FIGURES: [&str; 6] = ["MiB/s", OF_PLAIN, "latency ms", "p99 ms", "start ms", "overlap"];

/// Prints a row for each phase of each case, and profiles of the time by call if wanted.
pub(crate) fn print(record: &Record, with_profiles: bool, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", record.machine())?;
    let all: Vec<CaseResults<'_>> = record.cases().collect();
    let Some((first, _)) = all.first() else { return Ok(()) };
    // Labels that all cases share are printed once.
    let common = common(&all);
    writeln!(out, "{}", labels_text(&first.labels, |name| common.contains(&name)))?;
    let names: Vec<&String> = first.labels.keys().filter(|name| !common.contains(&name.as_str())).collect();
    let has_limit = all.iter().flat_map(|(_, results)| results).any(|one| one.more.contains_key(RATIO));
    let is_shown = |name: &&str| has_limit || *name != OF_PLAIN;
    let figures: Vec<&str> = FIGURES.into_iter().filter(is_shown).collect();
    let header = names.iter().map(|name| name.replace('_', " ")).chain(["phase".to_owned()]);
    let header = header.chain(figures.iter().map(|name| (*name).to_owned()));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (case, results) in &all {
        for (phase, of_phase) in by_phase(results) {
            let labels = names.iter().map(|name| text_of(&case.labels[*name]));
            let cells = figures.iter().map(|name| cell(name, &of_phase));
            rows.push(labels.chain([phase.to_owned()]).chain(cells).collect());
        }
    }
    print_table(&table(header, rows, names.len() + 1), out)?;
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

/// The names of the labels that have the same value in all cases.
pub(crate) fn common<'r>(all: &[CaseResults<'r>]) -> Vec<&'r str> {
    let Some((first, _)) = all.first() else { return Vec::new() };
    let is_common = |name: &str| all.iter().all(|(case, _)| case.labels.get(name) == first.labels.get(name));
    first.labels.keys().map(String::as_str).filter(|name| is_common(name)).collect()
}

pub(crate) fn labels_text(labels: &Map<String, Value>, is_shown: impl Fn(&str) -> bool) -> String {
    let shown = labels.iter().filter(|(name, _)| is_shown(name));
    let texts = shown.map(|(name, value)| format!("{} {}", name.replace('_', " "), text_of(value)));
    texts.collect::<Vec<_>>().join(", ")
}

/// The results by phase, in the order of the first result of each.
pub(super) fn by_phase<'r>(results: &[&'r ResultRecord]) -> Vec<(&'r str, Vec<&'r ResultRecord>)> {
    let mut phases: Vec<(&str, Vec<&ResultRecord>)> = Vec::new();
    for result in results {
        match phases.iter_mut().find(|(phase, _)| *phase == result.phase) {
            Some((_, of_phase)) => of_phase.push(result),
            None => phases.push((&result.phase, vec![result])),
        }
    }
    phases
}

/// The cell of one of [`FIGURES`]: the median of the repetitions.
fn cell(name: &str, all: &[&ResultRecord]) -> String {
    let median =
        |of: fn(&Figures) -> f64| Spread::of(all.iter().map(|one| of(&one.figures)).collect()).median;
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
            format!("{:.2}{}", Spread::of(ratios).median, overlap_mark(is_poor))
        }
        "latency ms" => format!("{:.2}", median(|one| one.latency_s.median) * 1e3),
        "p99 ms" => format!("{:.2}", median(|one| one.latency_s.p99) * 1e3),
        "start ms" => format!("{:.2}", median(|one| one.start_delay_s.max) * 1e3),
        _ => {
            let is_poor = all.iter().any(|one| one.figures.is_overlap_poor);
            format!("{:.2}{}", median(|one| one.overlap), overlap_mark(is_poor))
        }
    }
}
