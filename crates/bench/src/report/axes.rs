//! The labels that distinguish the rows of a plot, and their roles: lines or bars, or a choice of the reader.

use serde_json::{Map, Value};

use super::{
    measured::Row,
    rates::{Rate, Unit},
};

/// Labels that the papers compare, in order of preference.
const PREFERRED: [&str; 10] = [
    "mode",
    "contention",
    "pattern",
    "api",
    "kernel",
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
    let rank = |name: &str| PREFERRED.iter().position(|known| *known == name).unwrap_or(PREFERRED.len());
    let mut by_rank = all.clone();
    by_rank.sort_by_key(|name| rank(name));
    let mut chosen: Vec<(&str, Vec<usize>)> =
        without.iter().map(|name| (*name, classes(rows, name))).collect();
    for name in by_rank {
        let classes = classes(rows, name);
        if chosen.iter().all(|(_, known)| *known != classes) {
            chosen.push((name, classes));
        }
    }
    all.retain(|name| chosen.iter().any(|(one, _)| one == name));
    all.into_iter().map(str::to_owned).collect()
}

/// The number of the value of a label for each row, in order of first appearance.
fn classes(rows: &[&Row], name: &str) -> Vec<usize> {
    let mut values: Vec<Option<&Value>> = Vec::new();
    let mut classes = Vec::new();
    for row in rows {
        let value = row.labels.get(name);
        classes.push(values.iter().position(|known| *known == value).unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        }));
    }
    classes
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

/// Rows with the same values of some labels.
pub(crate) struct Group<'r> {
    pub(crate) values: Vec<String>,
    pub(crate) rows: Vec<&'r Row>,
}

/// Rows by the values of some labels, in order of first appearance.
pub(crate) fn groups<'r>(rows: &[&'r Row], names: &[String]) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    for row in rows {
        let values: Vec<String> = names.iter().map(|name| row.text(name)).collect();
        match groups.iter_mut().find(|group| group.values == values) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { values, rows: vec![row] }),
        }
    }
    groups
}

/// Rows by phase, independent of their units.
pub(crate) fn by_name<'r>(rows: &[&'r Row]) -> Vec<(&'r str, Vec<&'r Row>)> {
    let mut found: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match found.iter_mut().find(|(phase, _)| *phase == row.phase) {
            Some((_, of_phase)) => of_phase.push(row),
            None => found.push((&row.phase, vec![row])),
        }
    }
    found
}

/// Rows by phase. A phase with two units is two phases.
pub(crate) fn phases<'r>(rows: &[&'r Row], unit: Unit) -> Vec<Phase<'r>> {
    let mut found: Vec<(&str, Rate, Vec<&Row>)> = Vec::new();
    for row in rows {
        match found.iter_mut().find(|(phase, rate, _)| (*phase, *rate) == (&*row.phase, row.rate)) {
            Some((_, _, of_phase)) => of_phase.push(row),
            None => found.push((&row.phase, row.rate, vec![row])),
        }
    }
    let is_two = |phase: &str| found.iter().filter(|(one, _, _)| *one == phase).count() > 1;
    let title = |(phase, rate): (&str, Rate)| match is_two(phase) {
        true => format!("{phase}, {}", unit.text(rate)),
        false => phase.to_owned(),
    };
    let all = found.iter().map(|(phase, rate, rows)| Phase {
        title: title((phase, *rate)),
        unit: unit.text(*rate),
        rows: rows.clone(),
    });
    all.collect()
}

pub(crate) struct Phase<'r> {
    pub(crate) title: String,
    /// The unit of all rows.
    pub(crate) unit: String,
    pub(crate) rows: Vec<&'r Row>,
}

/// The labels by which a panel is chosen.
pub(crate) fn choice(names: &[String], values: &[String]) -> Map<String, Value> {
    names.iter().map(|name| words(name)).zip(values.iter().map(|value| value.clone().into())).collect()
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

/// The name of a label as words.
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
