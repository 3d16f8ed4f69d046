//! Profiles and freshness as tables.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::{
    extras::{CallShare, Freshness, OTHER},
    record::{CaseResults, ResultRecord, text_of},
    table::{by_phase, common},
};
use crate::harness::{
    output::{print_table, table},
    spread::Spread,
};

/// Prints the time of each phase by call, for workloads that record it.
pub(super) fn print_profiles(all: &[CaseResults<'_>], out: &mut impl Write) -> io::Result<()> {
    let results = all.iter().flat_map(|(_, results)| results);
    let calls: BTreeSet<&String> = results.flat_map(|result| result.extras.profile.keys()).collect();
    if calls.is_empty() {
        return Ok(());
    }
    let (calls, other): (Vec<&String>, Vec<&String>) = calls.into_iter().partition(|name| *name != OTHER);
    let calls: Vec<&String> = calls.into_iter().chain(other).collect();
    let shares = calls.iter().map(|name| format!("{name} ms (share)"));
    let header = ["fields/s".to_owned()].into_iter().chain(shares);
    let mut rows = Vec::new();
    for (case, phase, of_phase) in phases(all) {
        let cells = calls.iter().map(|name| {
            let shares: Vec<&CallShare> =
                of_phase.iter().filter_map(|one| one.extras.profile.get(*name)).collect();
            let median =
                |of: fn(&CallShare) -> f64| Spread::of(shares.iter().map(|one| of(one)).collect()).median;
            let text = || {
                format!("{:.1} ({:.0}%)", median(|one| one.seconds) * 1e3, median(|one| one.share) * 100.0)
            };
            if shares.is_empty() { String::new() } else { text() }
        });
        let rate = Spread::of(of_phase.iter().map(|one| fields_per_s(one)).collect()).median;
        rows.push([case, phase.to_owned(), format!("{rate:.0}")].into_iter().chain(cells).collect());
    }
    writeln!(out, "time of a process in each call, mean over the processes:")?;
    print(header.collect(), rows, out)
}

/// Fields written, read or listed per second by all processes together.
fn fields_per_s(result: &ResultRecord) -> f64 {
    let figures = &result.figures;
    result.extras.listed_per_s.unwrap_or(figures.operations as f64 / figures.total_s)
}

/// Prints the delay between the flush of a step and its first complete read.
pub(super) fn print_freshness(all: &[CaseResults<'_>], out: &mut impl Write) -> io::Result<()> {
    let mut rows = Vec::new();
    for (case, phase, of_phase) in phases(all) {
        let found: Vec<&Freshness> =
            of_phase.iter().filter_map(|one| one.extras.freshness.as_ref()).collect();
        if found.is_empty() {
            continue;
        }
        let median = |of: fn(&Freshness) -> f64| Spread::of(found.iter().map(|one| of(one)).collect()).median;
        let mark = if found.iter().any(|one| one.is_behind) { "!" } else { "" };
        let ms = |of: fn(&Freshness) -> f64| format!("{:.2}", median(of) * 1e3);
        rows.push(vec![
            case,
            phase.to_owned(),
            ms(|one| one.delay_s.mean),
            ms(|one| one.delay_s.p95),
            ms(|one| one.delay_s.max),
            format!("{:.0}%{mark}", median(|one| one.behind) * 100.0),
        ]);
    }
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "from the end of a flush until a reader saw all of the step (!: readers fell behind):")?;
    print(["mean ms", "p95 ms", "max ms", "seen after the next step"].map(str::to_owned).to_vec(), rows, out)
}

/// The phases of all cases, with the labels that distinguish the cases.
fn phases<'r>(all: &'r [CaseResults<'r>]) -> Vec<(String, &'r str, Vec<&'r ResultRecord>)> {
    let common = common(all);
    let mut found = Vec::new();
    for (case, results) in all {
        let labels = case.labels.iter().filter(|(name, _)| !common.contains(&name.as_str()));
        let labels: Vec<String> = labels.map(|(_, value)| text_of(value)).collect();
        let phases = by_phase(results).into_iter();
        found.extend(phases.map(|(phase, of_phase)| (labels.join(", "), phase, of_phase)));
    }
    found
}

fn print(header: Vec<String>, rows: Vec<Vec<String>>, out: &mut impl Write) -> io::Result<()> {
    let header = ["case", "phase"].map(str::to_owned).into_iter().chain(header);
    print_table(&table(header, rows, 2), out)
}
