//! The results of a study as tables: medians over the repetitions, profiles and freshness.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use serde_json::{Map, Value};

use super::{
    extras::{CallShare, Freshness, OTHER},
    limit::{IS_POOR, RATIO},
    record::{CaseResults, Record, ResultRecord, text_of},
};
use crate::harness::{
    groups::grouped,
    metrics::Figures,
    output::{overlap_mark, print_table, table},
    spread::{self, MIB, median_of},
};

/// The header of the ratio to the limit.
const OF_PLAIN: &str = "of plain";
const FIGURES: [&str; 6] = ["MiB/s", OF_PLAIN, "latency ms", "p99 ms", "start ms", "overlap"];

/// A phase of a case, with the labels that distinguish the case.
type Phase<'r> = (Vec<String>, &'r str, Vec<&'r ResultRecord>);

/// Prints a row for each phase of each case, and profiles of the time by call if wanted.
pub(crate) fn print(record: &Record, with_profiles: bool, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", record.description().driver)?;
    let all: Vec<CaseResults<'_>> = record.cases().collect();
    let Some((first, _)) = all.first() else { return Ok(()) };
    // Labels that all cases share are printed once.
    let common = common(&all);
    writeln!(out, "{}", labels_text(&first.labels, |name| common.contains(&name)))?;
    let phases = phases(&all, &common);
    let has_limit = phases.iter().flat_map(|(_, _, results)| results).any(|one| one.more.contains_key(RATIO));
    let is_shown = |name: &&str| has_limit || *name != OF_PLAIN;
    let figures: Vec<&str> = FIGURES.into_iter().filter(is_shown).collect();
    let names = first.labels.keys().map(String::as_str).filter(|name| !common.contains(name));
    let header: Vec<String> =
        names.chain(["phase"]).chain(figures.iter().copied()).map(|name| name.replace('_', " ")).collect();
    let left = header.len() - figures.len();
    let rows = phases.iter().map(|(labels, phase, results)| {
        let cells = figures.iter().map(|name| cell(name, results));
        labels.iter().cloned().chain([(*phase).to_owned()]).chain(cells)
    });
    print_table(&table(header, rows, left), out)?;
    print_freshness(&phases, out)?;
    if with_profiles {
        print_profiles(&phases, out)?;
    }
    let bytes =
        "medians of the repetitions; MiB/s: all bytes by the time from the first start to the last end;";
    let limit = "of plain: by plain writes or reads of as many bytes by as many processes, right after it;";
    [bytes, limit].iter().take(1 + usize::from(has_limit)).try_for_each(|line| writeln!(out, "{line}"))?;
    let start = "start: from the go until the last process began; *: processes did not overlap well.";
    writeln!(out, "{start} Kept in {}", record.folder().display())
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

/// The phases of all cases, in the order of their first results.
fn phases<'r>(all: &[CaseResults<'r>], common: &[&str]) -> Vec<Phase<'r>> {
    let mut found = Vec::new();
    for (case, results) in all {
        let labels = case.labels.iter().filter(|(name, _)| !common.contains(&name.as_str()));
        let labels: Vec<String> = labels.map(|(_, value)| text_of(value)).collect();
        let phases = grouped(results.iter().copied(), |result| result.phase.as_str());
        found.extend(phases.into_iter().map(|(phase, results)| (labels.clone(), phase, results)));
    }
    found
}

/// The cell of one of [`FIGURES`]: the median of the repetitions.
fn cell(name: &str, all: &[&ResultRecord]) -> String {
    let median = |of: fn(&Figures) -> f64| median_of(all, |one| of(&one.figures));
    match name {
        // A phase that moves no bytes, such as a listing, has no bandwidth.
        "MiB/s" if all.iter().all(|one| one.figures.bytes == 0) => "-".to_owned(),
        "MiB/s" => format!("{:.0}", median(|one| one.global_timing_bandwidth) / MIB),
        OF_PLAIN => {
            let ratios: Vec<f64> = all.iter().filter_map(|one| one.more.get(RATIO)?.as_f64()).collect();
            let is_poor = all.iter().any(|one| one.more.get(IS_POOR).and_then(Value::as_bool) == Some(true));
            match ratios.is_empty() {
                true => "-".to_owned(),
                false => format!("{:.2}{}", spread::median(ratios), overlap_mark(is_poor)),
            }
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

/// Prints the time of each phase by call, for workloads that record it.
fn print_profiles(phases: &[Phase<'_>], out: &mut impl Write) -> io::Result<()> {
    let results = phases.iter().flat_map(|(_, _, results)| results);
    let calls: BTreeSet<&String> = results.flat_map(|result| result.extras.profile.keys()).collect();
    if calls.is_empty() {
        return Ok(());
    }
    let (calls, other): (Vec<&String>, Vec<&String>) = calls.into_iter().partition(|name| *name != OTHER);
    let calls: Vec<&String> = calls.into_iter().chain(other).collect();
    let header = ["case", "phase", "fields/s"].map(str::to_owned).into_iter();
    let header = header.chain(calls.iter().map(|name| format!("{name} ms (share)")));
    let rows = phases.iter().map(|(labels, phase, results)| {
        let cells = calls.iter().map(|name| {
            let shares: Vec<&CallShare> =
                results.iter().filter_map(|one| one.extras.profile.get(*name)).collect();
            let ms = median_of(&shares, |one| one.seconds) * 1e3;
            let percent = median_of(&shares, |one| one.share) * 100.0;
            if shares.is_empty() { String::new() } else { format!("{ms:.1} ({percent:.0}%)") }
        });
        // Fields written, read or listed per second by all processes together.
        let rate = median_of(results, |one| {
            one.extras.listed_per_s.unwrap_or(one.figures.operations as f64 / one.figures.total_s)
        });
        [labels.join(", "), (*phase).to_owned(), format!("{rate:.0}")].into_iter().chain(cells)
    });
    writeln!(out, "time of a process in each call, mean over the processes:")?;
    print_table(&table(header, rows, 2), out)
}

/// Prints the delay between the flush of a step and its first complete read.
fn print_freshness(phases: &[Phase<'_>], out: &mut impl Write) -> io::Result<()> {
    let row = |(labels, phase, results): &Phase<'_>| {
        let found: Vec<&Freshness> = results.iter().filter_map(|one| one.extras.freshness.as_ref()).collect();
        let mark = if found.iter().any(|one| one.is_behind) { "!" } else { "" };
        let ms = |of: fn(&Freshness) -> f64| format!("{:.2}", median_of(&found, |one| of(one)) * 1e3);
        let behind = median_of(&found, |one| one.behind) * 100.0;
        (!found.is_empty()).then(|| {
            [
                labels.join(", "),
                (*phase).to_owned(),
                ms(|one| one.delay_s.mean),
                ms(|one| one.delay_s.p95),
                ms(|one| one.delay_s.max),
                format!("{behind:.0}%{mark}"),
            ]
        })
    };
    let rows: Vec<_> = phases.iter().filter_map(row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "from the end of a flush until a reader saw all of the step (!: readers fell behind):")?;
    let header = ["case", "phase", "mean ms", "p95 ms", "max ms", "seen after the next step"];
    print_table(&table(header, rows, 2), out)
}
