//! The measured phases of all cases, with labels and the figures of all repetitions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    rates::{Rate, Unit},
    runs::Run,
};
use crate::{
    harness::{
        groups::grouped,
        metrics::Figures,
        output::size_text,
        spread::{Spread, median, median_of},
        study::{IS_LIMIT_POOR, LIMIT_ERROR, ResultRecord, text_of},
    },
    workloads::transfer::NAME as TRANSFERS,
};

/// The label that distinguishes runs of the same cases.
pub(crate) const RUN: &str = "run";
/// The label that distinguishes Isotach, peers and limits.
pub(crate) const WHO: &str = "who";
/// The value of that label for Isotach.
pub(crate) const OURS: &str = "Isotach";
/// The label of a peer in a record.
const PEER: &str = "peer";
/// The label of a limit in a record, and its name beside Isotach.
const LIMIT: &str = "limit";
/// Workloads whose processes begin each iteration together.
const IN_STEP: [&str; 1] = ["ior"];
/// Phases that are not measured: preparation and checks.
const UNMEASURED: [&str; 2] = ["setup", "write-check"];
/// Labels with numbers of bytes.
const BYTES: [&str; 3] = ["size", "block", "transfer"];

#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) labels: Map<String, Value>,
    pub(crate) phase: String,
    pub(crate) rate: Rate,
    pub(crate) rates: Vec<Repeated>,
    pub(crate) results: Vec<ResultRecord>,
    /// The peer or limit; none for Isotach.
    pub(crate) other: Option<String>,
    pub(crate) run: usize,
    /// The number of its case in the run.
    pub(crate) case: u32,
    /// Whether its processes begin each iteration together, so its synchronous bandwidth is meaningful.
    pub(crate) is_in_step: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Repeated {
    repetition: u32,
    rate: f64,
    is_overlap_poor: bool,
}

#[derive(Debug)]
pub(crate) struct Measured {
    /// Those of Isotach.
    pub(crate) rows: Vec<Row>,
    /// Peers and limits.
    pub(crate) others: Vec<Row>,
    /// Transfers between processes, without a store.
    pub(crate) transfers: Vec<Row>,
    pub(crate) unit: Unit,
}

impl Row {
    #[cfg(test)]
    pub(crate) fn without_results(labels: Map<String, Value>, phase: &str) -> Self {
        let (phase, rate, rates, results) = (phase.to_owned(), Rate::Global, Vec::new(), Vec::new());
        Self { labels, phase, rate, rates, results, other: None, run: 0, case: 0, is_in_step: false }
    }

    /// A label as text, sizes with their unit; empty if it does not exist.
    pub(crate) fn text(&self, name: &str) -> String {
        let Some(value) = self.labels.get(name) else { return String::new() };
        match value.as_u64() {
            Some(bytes) if BYTES.contains(&name) || name.ends_with("_size") => size_text(bytes as usize),
            _ => text_of(value),
        }
    }

    /// A label as text, with its name where the value alone is unclear.
    pub(crate) fn named(&self, name: &str) -> String {
        let text = self.text(name);
        let is_number = self.labels.get(name).is_some_and(Value::is_number);
        match name {
            "api" | "pattern" | "contention" => format!("{name} {text}"),
            "nodes" | "servers" | "processes_per_node" if text == "1" => {
                format!(
                    "1 {}",
                    name.replace('_', " ").replacen("processes", "process", 1).trim_end_matches('s')
                )
            }
            _ if is_number && !BYTES.contains(&name) => format!("{text} {}", name.replace('_', " ")),
            _ => text,
        }
    }

    /// Some labels and the phase, as cells of a table.
    pub(crate) fn cells(&self, names: &[String]) -> impl Iterator<Item = Value> {
        names.iter().map(|name| self.text(name)).chain([self.phase.clone()]).map(Value::from)
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.labels.get(name)?.as_f64()
    }

    pub(crate) fn figures(&self) -> impl Iterator<Item = &Figures> {
        self.results.iter().map(|result| &result.figures)
    }

    /// The distribution of the rate over the repetitions.
    pub(crate) fn spread(&self, unit: Unit) -> Spread {
        Spread::of(self.rates.iter().map(|one| unit.of_rate(self.rate, one.rate)).collect())
    }

    /// The seconds of each call, over all repetitions.
    pub(crate) fn calls(&self) -> BTreeMap<&str, f64> {
        let mut calls = BTreeMap::new();
        for (name, call) in self.results.iter().flat_map(|result| &result.extras.profile) {
            *calls.entry(name.as_str()).or_default() += call.seconds;
        }
        calls
    }

    /// The row of its limit, if it was measured.
    pub(crate) fn limits(&self) -> Option<Self> {
        let limit = |result: &ResultRecord| {
            let is_overlap_poor = result.more.get(IS_LIMIT_POOR).and_then(Value::as_bool).unwrap_or(false);
            Some(Repeated { repetition: result.repetition, rate: self.rate.limit(result)?, is_overlap_poor })
        };
        let rates: Vec<Repeated> = self.results.iter().filter_map(limit).collect();
        let other = Some(LIMIT.to_owned());
        (!rates.is_empty()).then(|| Self { rates, results: Vec::new(), other, ..self.clone() }.with_who())
    }

    /// The ratio to another row: the median of the ratios of the repetitions.
    pub(crate) fn ratio(&self, other: &Self) -> Option<f64> {
        let pair = |own: &Repeated| {
            let other = other.rates.iter().find(|one| one.repetition == own.repetition)?;
            Some(own.rate / other.rate)
        };
        let ratios: Vec<f64> = self.rates.iter().filter_map(pair).collect();
        (!ratios.is_empty()).then(|| median(ratios))
    }

    pub(crate) fn is_limit(&self) -> bool {
        self.other.as_deref() == Some(LIMIT)
    }

    /// The row with the label that distinguishes Isotach, peers and limits.
    pub(crate) fn with_who(&self) -> Self {
        let mut row = self.clone();
        row.labels.insert(WHO.to_owned(), self.other.as_deref().unwrap_or(OURS).into());
        row
    }

    pub(crate) fn is_overlap_poor(&self) -> bool {
        self.rates.iter().any(|one| one.is_overlap_poor)
    }
}

pub(crate) fn is_measured(phase: &str) -> bool {
    !UNMEASURED.contains(&phase)
}

/// Whether processes recorded events.
pub(crate) fn has_events(figures: &Figures) -> bool {
    figures.iteration_s.max > 0.0
}

/// Median, 95th percentile and maximum of delays in several repetitions, in seconds; none without delays.
pub(crate) fn summary_of(all: &[Spread]) -> Option<[f64; 3]> {
    let median = |of: fn(&Spread) -> f64| median_of(all, of);
    let longest = all.iter().map(|one| one.max).fold(0.0, f64::max);
    (longest > 0.0).then(|| [median(|one| one.median), median(|one| one.p95), longest])
}

/// The start delays of the processes of some results.
pub(crate) fn starts_of<'f>(figures: impl Iterator<Item = &'f Figures>) -> Option<[f64; 3]> {
    summary_of(&figures.map(|one| one.start_delay_s).collect::<Vec<_>>())
}

impl Measured {
    /// The phases of all runs. Where two runs have a case in common, the run is a label.
    pub(crate) fn of(runs: &[Run]) -> Self {
        let mut rows: Vec<Row> =
            runs.iter().enumerate().flat_map(|(number, run)| rows_of(number, run)).collect();
        if have_a_case_in_common(runs) {
            for row in &mut rows {
                row.labels.insert(RUN.to_owned(), runs[row.run].name.clone().into());
            }
        }
        let bandwidths = rows.iter().filter(|row| row.rate != Rate::Fields && row.other.is_none());
        let all = bandwidths.flat_map(|row| row.rates.iter().map(|one| one.rate));
        let unit = Unit::of(all.fold(0.0, f64::max));
        let is_transfer = |row: &Row| runs[row.run].record.workload == TRANSFERS;
        let (transfers, rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(is_transfer);
        let (rows, others) = rows.into_iter().partition(|row| row.other.is_none());
        Self { rows, others, transfers, unit }
    }

    /// All rows, with the label of their peer if there are peers or limits.
    pub(crate) fn all(&self) -> Vec<Row> {
        match self.others.is_empty() {
            true => self.rows.iter().chain(&self.transfers).cloned().collect(),
            false => {
                let others = self.others.iter().map(Row::with_who);
                self.rows
                    .iter()
                    .map(Row::with_who)
                    .chain(others)
                    .chain(self.transfers.iter().cloned())
                    .collect()
            }
        }
    }

    /// The rows of Isotach for plots.
    pub(crate) fn own(&self) -> Vec<&Row> {
        // A phase has a rate if bytes were moved or fields listed.
        let has_rate = |row: &Row| row.rate == Rate::Fields || row.figures().any(|one| one.bytes > 0);
        self.rows.iter().filter(|row| is_measured(&row.phase) && has_rate(row)).collect()
    }
}

fn have_a_case_in_common(runs: &[Run]) -> bool {
    let mut all = BTreeSet::new();
    runs.iter().any(|run| {
        let own: BTreeSet<String> =
            run.record.cases.iter().map(|case| Value::Object(case.labels.clone()).to_string()).collect();
        let is_common = own.iter().any(|case| all.contains(case));
        all.extend(own);
        is_common
    })
}

fn rows_of(number: usize, run: &Run) -> Vec<Row> {
    let is_in_step = IN_STEP.contains(&&*run.record.workload);
    let of_phases = grouped(&run.record.results, |result| (result.case, &*result.phase));
    let row = |((number_of_case, _), results): ((u32, &str), Vec<&ResultRecord>)| {
        let case = run.record.cases.iter().find(|case| case.number == number_of_case)?;
        Some(row(number, &case.labels, &results, is_in_step))
    };
    of_phases.into_iter().filter_map(row).collect()
}

/// The row of the repetitions of a phase.
fn row(run: usize, labels: &Map<String, Value>, results: &[&ResultRecord], is_in_step: bool) -> Row {
    let (mut labels, first) = (labels.clone(), results[0]);
    let rate = Rate::of(&labels, first);
    let is_label = |name: &str, value: &Value| value.is_string() && name != LIMIT_ERROR;
    let more = first.more.iter().filter(|(name, value)| is_label(name, value));
    labels.extend(more.map(|(name, value)| (name.clone(), value.clone())));
    let peer = labels.shift_remove(PEER).map(|value| text_of(&value));
    let limit = labels.shift_remove(LIMIT).map(|_| LIMIT.to_owned());
    let other = limit.or(peer.filter(|name| !name.eq_ignore_ascii_case("isotach")));
    let repeated = |result: &&ResultRecord| {
        let is_overlap_poor = result.figures.is_overlap_poor;
        Repeated { repetition: result.repetition, rate: rate.value(result), is_overlap_poor }
    };
    let rates = results.iter().map(repeated).collect();
    let (phase, case, results) =
        (first.phase.clone(), first.case, results.iter().copied().cloned().collect());
    Row { labels, phase, rate, rates, results, other, run, case, is_in_step }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::sample::{self, result},
        *,
    };

    fn run(name: &str, cases: &[Value]) -> Run {
        let more = json!({"profile": {"put": {"count": 1, "seconds": 2, "share": 1}}, "window": "3 s", "limit_mib_per_s": 2, "limit_error": "no space"});
        let results: Vec<Value> = (0..cases.len()).map(|case| result(case, 0, "write", &more)).collect();
        sample::run(name, "field-io", cases, &results)
    }

    #[test]
    fn runs_with_common_cases_are_distinguished_and_others_are_combined() {
        let [one, two] = [json!({"nodes": 1}), json!({"nodes": 2})];
        let apart =
            Measured::of(&[run("a", &[one.clone(), two.clone()]), run("b", std::slice::from_ref(&two))]);
        let names: Vec<String> = apart.rows.iter().map(|row| row.text(RUN)).collect();
        assert_eq!(names, ["a", "a", "b"]);
        let together = Measured::of(&[run("a", &[one]), run("b", &[two])]);
        assert!(together.rows.iter().all(|row| !row.labels.contains_key(RUN)));
    }

    #[test]
    fn peers_and_limits_are_separate_and_text_fields_of_results_are_labels() {
        let cases = [json!({"size": 4096}), json!({"size": 4096, "peer": "fdb"}), json!({"limit": "write"})];
        let measured = Measured::of(&[run("a", &cases)]);
        let others: Vec<&str> = measured.others.iter().filter_map(|row| row.other.as_deref()).collect();
        assert_eq!(others, ["fdb", "limit"]);
        let row = &measured.rows[0];
        assert_eq!((row.text("size"), row.text("window")), ("4 KiB".to_owned(), "3 s".to_owned()));
        assert!(!row.labels.contains_key("limit_mib_per_s"), "a figure is no label");
        assert!(!row.labels.contains_key(LIMIT_ERROR), "nor is what went wrong");
        assert_eq!(row.calls(), BTreeMap::from([("put", 2.0)]));
        assert_eq!((row.spread(measured.unit).mean, measured.unit.name), (1.0, "MiB/s"));
        let all: Vec<String> = measured.all().iter().map(|row| row.text(WHO)).collect();
        assert_eq!(all, [OURS, "fdb", "limit"]);
    }
}
