//! The labels that distinguish the rows of a plot, and their roles: lines or bars, or a choice of the reader.

use super::{
    measured::Row,
    rates::{Rate, Unit},
};
use crate::harness::groups::grouped;

/// Labels that the papers compare, in order of preference.
const PREFERRED: [&str; 12] = [
    "mode",
    "contention",
    "pattern",
    "api",
    "kernel",
    "transport",
    "direction",
    "engine",
    "class",
    "size",
    "nodes",
    "processes_per_node",
];

/// The names of the labels that differ among rows. Leaves out those in `without`, and those that distinguish the same rows as
/// another label.
pub(crate) fn varying(rows: &[&Row], without: &[&str]) -> Vec<String> {
    let mut all: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(|row| row.labels.keys()) {
        let differs = || rows.iter().any(|row| row.labels.get(name) != rows[0].labels.get(name));
        if !all.contains(&name.as_str()) && !without.contains(&name.as_str()) && differs() {
            all.push(name);
        }
    }
    let mut chosen = all.clone();
    chosen.sort_by_key(|name| PREFERRED.iter().position(|known| known == name).unwrap_or(PREFERRED.len()));
    // The first row with the same value, for each row.
    let classes = |name: &str| -> Vec<Option<usize>> {
        let first = |row: &&Row| rows.iter().position(|one| one.labels.get(name) == row.labels.get(name));
        rows.iter().map(first).collect()
    };
    let mut known: Vec<_> = without.iter().map(|name| classes(name)).collect();
    chosen.retain(|name| {
        let classes = classes(name);
        let is_new = !known.contains(&classes);
        known.push(classes);
        is_new
    });
    all.retain(|name| chosen.contains(name));
    all.into_iter().map(str::to_owned).collect()
}

/// The first few preferred names, or the first name, and the rest.
pub(crate) fn pick(names: Vec<String>, most: usize) -> (Vec<String>, Vec<String>) {
    let known = PREFERRED.iter().filter(|known| names.iter().any(|name| name == *known));
    let mut picked: Vec<String> = known.take(most).map(|name| (*name).to_owned()).collect();
    if picked.is_empty() {
        picked.extend(names.first().filter(|_| most > 0).cloned());
    }
    let rest = names.into_iter().filter(|name| !picked.contains(name)).collect();
    (picked, rest)
}

/// The values of some labels, and the rows with these values.
pub(crate) type Group<'r> = (Vec<String>, Vec<&'r Row>);

/// Rows by the values of some labels.
pub(crate) fn groups<'r>(rows: &[&'r Row], names: &[String]) -> Vec<Group<'r>> {
    grouped(rows.iter().copied(), |row| names.iter().map(|name| row.text(name)).collect())
}

/// Rows by phase. A phase with two units is two phases.
pub(crate) fn phases<'r>(rows: &[&'r Row], unit: Unit) -> Vec<Phase<'r>> {
    let found = grouped(rows.iter().copied(), |row| (row.phase.as_str(), row.rate));
    let phase = |((phase, rate), rows): &((&str, Rate), Vec<&'r Row>)| {
        let is_one = found.iter().filter(|((one, _), _)| one == phase).count() == 1;
        let unit = unit.text(*rate);
        let title = if is_one { (*phase).to_owned() } else { format!("{phase}, {unit}") };
        Phase { title, unit, rows: rows.clone() }
    };
    found.iter().map(phase).collect()
}

pub(crate) struct Phase<'r> {
    pub(crate) title: String,
    /// The unit of all rows.
    pub(crate) unit: String,
    pub(crate) rows: Vec<&'r Row>,
}

/// The distinct values of a numeric label, in order.
pub(crate) fn numbers(rows: &[&Row], name: &str) -> Vec<f64> {
    let mut numbers: Vec<f64> = rows.iter().filter_map(|row| row.number(name)).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    numbers
}

/// Some labels of a row as one line.
pub(crate) fn title(row: &Row, names: &[String]) -> String {
    let values = names.iter().map(|name| row.named(name));
    let there: Vec<String> = values.filter(|value| !value.is_empty() && value != "-").collect();
    if there.is_empty() { "all".to_owned() } else { there.join(", ") }
}

pub(crate) fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// A caption, after the definitions of the rates of the rows.
pub(crate) fn captioned(rows: &[&Row], caption: &str) -> String {
    let has = |rate: Rate| rows.iter().any(|row| row.rate == rate);
    let definitions = [
        (
            Rate::Global,
            "Global timing bandwidth: all bytes by the time from the first I/O start to the last I/O end of all processes.",
        ),
        (
            Rate::Synchronous,
            "Synchronous bandwidth: the mean over the iterations of the bytes of one by its own time from the first I/O start to the \
             last I/O end, since the writes and reads of an iteration wait for each other.",
        ),
        (Rate::Fields, "Fields by time, where they are small or are listed."),
    ];
    let definitions = definitions.into_iter().filter(|(rate, _)| has(*rate)).map(|(_, text)| text);
    definitions.chain([caption]).collect::<Vec<_>>().join(" ")
}
