//! The results of transfers as tables: bandwidths, latencies, and each pair.

use std::io::{self, Write};

use super::{
    TRANSFER,
    case::direction_name,
    pairs::{ONE_WAY_US, PAIRS, PairFigures},
    play::Direction,
};
use crate::harness::{
    output::{overlap_mark, print_table, short, size_text, table},
    spread::{MIB, Spread, median_of},
    study::{CaseRecord, CaseResults, Record, ResultRecord, text_of},
};

const BANDWIDTH: [&str; 5] = ["MiB/s", "pair, lowest", "pair, median", "pair, highest", "overlap"];
const LATENCY: [&str; 4] = ["median us", "p95 us", "p99 us", "max us"];

/// A case with the results of its timed phase.
type Measured<'r> = CaseResults<'r>;

/// Prints a row for each case, and one for each pair if wanted.
pub(super) fn print(record: &Record, with_pairs: bool, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", record.description().driver)?;
    for (transport, settings) in &record.description().settings {
        let values =
            settings.as_object().into_iter().flatten().map(|(name, value)| format!("{name} {value}"));
        writeln!(out, "{transport}: {}", values.collect::<Vec<_>>().join(", "))?;
    }
    let all: Vec<Measured<'_>> = record.cases().map(timed).collect();
    let is_ping =
        |case: &CaseRecord| case.labels.get("direction") == Some(&direction_name(Direction::PingPong));
    let (pings, sent): (Vec<_>, Vec<_>) = all.into_iter().partition(|(case, _)| is_ping(case));
    print_rows(&sent, &BANDWIDTH, bandwidths, out)?;
    if !sent.is_empty() {
        writeln!(
            out,
            "MiB/s: all bytes that arrived by the time from the first start to the last end, of both directions with both-ways;"
        )?;
        writeln!(out, "pair: each direction of a pair by its own time; *: processes did not overlap well.")?;
    }
    print_rows(&pings, &LATENCY, latencies, out)?;
    if !pings.is_empty() {
        writeln!(out, "us: half of a round trip.")?;
    }
    if with_pairs {
        print_pairs(&sent, "MiB/s", |pair| pair.mib_per_s, out)?;
        print_pairs(&pings, "median us", |pair| pair.one_way_us, out)?;
    }
    writeln!(out, "Medians of the repetitions. Kept in {}", record.folder().display())
}

/// The results of the timed phase.
fn timed<'r>((case, results): CaseResults<'r>) -> Measured<'r> {
    (case, results.into_iter().filter(|one| one.phase == TRANSFER).collect())
}

fn has_variables(all: &[Measured<'_>]) -> bool {
    all.iter().any(|(case, _)| case.labels.contains_key("variables"))
}

/// The labels of a case that its row begins with.
fn label_names(all: &[Measured<'_>]) -> Vec<&'static str> {
    let variables = has_variables(all).then_some("variables");
    ["transport"]
        .into_iter()
        .chain(variables)
        .chain(["direction", "size", "nodes", "processes_per_node"])
        .collect()
}

fn label(case: &CaseRecord, name: &str) -> String {
    match case.labels.get(name) {
        Some(size) if name == "size" => size_text(size.as_u64().unwrap_or(0) as usize),
        Some(value) => text_of(value),
        None => "-".to_owned(),
    }
}

/// The cells that the row of a case begins with.
fn labels(case: &CaseRecord, names: &[&str]) -> impl Iterator<Item = String> + use<> {
    let labels: Vec<String> = names.iter().map(|name| label(case, name)).collect();
    labels.into_iter()
}

/// The names of the labels, and of the figures behind them.
fn header(names: &[&str], figures: &[&str]) -> Vec<String> {
    let names = names.iter().map(|name| name.replace("processes_per_node", "per node"));
    names.chain(figures.iter().map(|name| (*name).to_owned())).collect()
}

fn print_rows<const N: usize>(
    all: &[Measured<'_>],
    figures: &[&str; N],
    cells: impl Fn(&[&ResultRecord]) -> [String; N],
    out: &mut impl Write,
) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let names = label_names(all);
    let rows = all.iter().map(|(case, results)| labels(case, &names).chain(cells(results)));
    print_table(&table(header(&names, figures), rows, names.len()), out)
}

fn bandwidths(results: &[&ResultRecord]) -> [String; 5] {
    let of_pairs = |figure: fn(&Spread) -> f64| {
        let spread = |one: &&ResultRecord| {
            Spread::of(pairs_of(one).into_iter().filter_map(|pair| pair.mib_per_s).collect())
        };
        short(median_of(results, |one| figure(&spread(one))))
    };
    let is_poor = results.iter().any(|one| one.figures.is_overlap_poor);
    let overlap = median_of(results, |one| one.figures.overlap);
    [
        short(median_of(results, |one| one.figures.global_timing_bandwidth / MIB)),
        of_pairs(|all| all.min),
        of_pairs(|all| all.median),
        of_pairs(|all| all.max),
        format!("{overlap:.2}{}", overlap_mark(is_poor)),
    ]
}

fn latencies(results: &[&ResultRecord]) -> [String; 4] {
    let figure = |of: fn(&Spread) -> f64| {
        short(median_of(results, |one| latency_of(one).map_or(f64::NAN, |all| of(&all))))
    };
    [figure(|all| all.median), figure(|all| all.p95), figure(|all| all.p99), figure(|all| all.max)]
}

/// The distribution of one-way times of a result, in microseconds.
pub(crate) fn latency_of(result: &ResultRecord) -> Option<Spread> {
    serde_json::from_value(result.more.get(ONE_WAY_US)?.clone()).ok()
}

fn pairs_of(result: &ResultRecord) -> Vec<PairFigures> {
    result.more.get(PAIRS).and_then(|pairs| serde_json::from_value(pairs.clone()).ok()).unwrap_or_default()
}

fn print_pairs(
    all: &[Measured<'_>],
    unit: &str,
    figure: impl Fn(&PairFigures) -> Option<f64>,
    out: &mut impl Write,
) -> io::Result<()> {
    let names = label_names(all);
    let mut rows = Vec::new();
    for (case, results) in all {
        let repetitions: Vec<Vec<PairFigures>> = results.iter().map(|one| pairs_of(one)).collect();
        for (at, pair) in repetitions.first().into_iter().flatten().enumerate() {
            let of_all = repetitions.iter().filter_map(|pairs| figure(pairs.get(at)?));
            let end = |process: u32, node: &str| format!("{process} on {node}");
            let ends = [end(pair.from, &pair.from_node), end(pair.to, &pair.to_node)];
            rows.push(labels(case, &names).chain(ends).chain([short(median_of(of_all, |one| one))]));
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    print_table(&table(header(&names, &["from", "to", unit]), rows, names.len() + 2), out)
}
