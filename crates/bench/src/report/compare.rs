//! Comparisons of the same cases: low and high contention, Isotach and others, several runs.

use serde_json::Value;

use super::{
    axes::{Group, Phase, captioned, choice, groups, phases, pick, title, varying, words},
    html::Table,
    measured::{Measured, RUN, Row, WHO},
    plot::{Bars, Figure, Panel, Plot, Shape},
    rates::Unit,
};
use crate::harness::spread::Spread;

struct Comparison {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    /// The label whose values are compared.
    label: &'static str,
    ratio: Ratio,
}

/// The definition of the ratio.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ratio {
    /// The mean of each other value by that of the first.
    OthersByFirst,
    /// The first value by each other in each repetition, and the median of these.
    FirstByOthers,
}

impl Ratio {
    /// The figure of several repetitions.
    fn middle(self) -> fn(&Spread) -> f64 {
        match self {
            Self::OthersByFirst => |spread| spread.mean,
            Self::FirstByOthers => |spread| spread.median,
        }
    }

    fn text(self, first: &str, other: &str) -> String {
        match self {
            Self::OthersByFirst => format!("{other} / {first}"),
            Self::FirstByOthers => format!("{first} / {other}"),
        }
    }

    fn of(self, first: &Row, other: &Row, unit: Unit) -> Option<f64> {
        match self {
            Self::OthersByFirst => Some(other.spread(unit).mean / first.spread(unit).mean),
            Self::FirstByOthers => first.ratio(other),
        }
    }
}

pub(crate) fn contention(measured: &Measured) -> Option<Figure> {
    let comparison = Comparison {
        id: "contention",
        title: "Contention",
        caption: "The same work with an index for each process (low) and with one that all share (high): the mean of \
            the repetitions, with their standard deviation. The table has the ratios.",
        label: "contention",
        ratio: Ratio::OthersByFirst,
    };
    figure(measured, &measured.own(), &comparison)
}

/// Isotach beside peers and limits.
pub(crate) fn peers(measured: &Measured) -> Option<Figure> {
    let comparison = Comparison {
        id: "peers",
        title: "Peers and limits",
        caption: "The same work by Isotach, by other programs where there are any, and at the limit, by plain writes and \
            reads, in the same run: the median of the repetitions, with their standard deviation. Ratios \
            are Isotach's by the other's in the same repetition, the limit measured right before or after Isotach, and of these the \
            median: above 1 Isotach is faster. A triangle marks a figure of processes that did not overlap well, and a ratio \
            that such a figure is in.",
        label: WHO,
        ratio: Ratio::FirstByOthers,
    };
    let own = measured.own();
    let mut rows: Vec<Row> = Vec::new();
    for ours in own {
        let limits = ours.limits();
        let is_wanted = |other: &&Row| limits.is_none() || !other.is_limit();
        let peers = measured.others.iter().filter(is_wanted).filter_map(|other| beside(ours, other));
        let others: Vec<Row> = peers.chain(limits.clone()).collect();
        if !others.is_empty() {
            rows.push(ours.with_who());
            rows.extend(others);
        }
    }
    figure(measured, &rows.iter().collect::<Vec<_>>(), &comparison)
}

/// The row of another peer for the same work, if it is. It may lack labels that do not apply to it.
fn beside(ours: &Row, other: &Row) -> Option<Row> {
    let agree = |(name, value): (&String, &Value)| ours.labels.get(name).is_none_or(|own| own == value);
    let is_same = (&ours.phase, ours.rate) == (&other.phase, other.rate) && other.labels.iter().all(agree);
    is_same.then(|| {
        let row = Row { labels: ours.labels.clone(), ..other.clone() };
        row.with_who()
    })
}

pub(crate) fn runs(measured: &Measured) -> Option<Figure> {
    let comparison = Comparison {
        id: "runs",
        title: "Runs beside each other",
        caption: "The cases that the runs have in common: the mean of the repetitions, with their standard \
            deviation. Ratios are the other run's by the first's: above 1 the other run is faster.",
        label: RUN,
        ratio: Ratio::OthersByFirst,
    };
    figure(measured, &measured.own(), &comparison)
}

fn figure(measured: &Measured, rows: &[&Row], comparison: &Comparison) -> Option<Figure> {
    let names = varying(rows, &[comparison.label]);
    let matched: Vec<Group<'_>> = phases(rows, measured.unit)
        .iter()
        .flat_map(|phase| groups(&phase.rows, &names))
        .filter(|group| groups(&group.rows, &[comparison.label.to_owned()]).len() > 1)
        .collect();
    let rows: Vec<&Row> = matched.iter().flat_map(|group| group.rows.iter().copied()).collect();
    let values: Vec<String> = groups(&rows, &[comparison.label.to_owned()])
        .into_iter()
        .filter_map(|group| group.values.into_iter().next())
        .collect();
    if values.len() < 2 {
        return None;
    }
    let (categories, choices) = pick(names.clone(), 2);
    let panels = groups(&rows, &choices).into_iter().map(|group| Panel {
        choice: choice(&choices, &group.values),
        plots: phases(&group.rows, measured.unit)
            .iter()
            .map(|phase| plot(measured, phase, &categories, &values, comparison))
            .collect(),
    });
    Some(Figure {
        id: comparison.id,
        title: comparison.title.to_owned(),
        caption: captioned(&rows, comparison.caption),
        panels: panels.collect(),
        table: table(measured, &matched, &names, &values, comparison),
    })
}

fn plot(
    measured: &Measured,
    phase: &Phase<'_>,
    categories: &[String],
    values: &[String],
    comparison: &Comparison,
) -> Plot {
    let cases = groups(&phase.rows, categories);
    let bars = |(number, value): (usize, &String)| {
        let rows = cases.iter().map(|case| of(case, comparison.label, value));
        let bars = Bars::at(value.clone(), rows, measured.unit, comparison.ratio.middle());
        // A value has the same colour in all plots, also where other values are missing.
        Bars { colour: Some(number), ..bars }
    };
    let exists = |value: &String| cases.iter().any(|case| of(case, comparison.label, value).is_some());
    let existing = values.iter().enumerate().filter(|(_, value)| exists(value));
    let series: Vec<Bars> = existing.map(bars).collect();
    let y = phase.unit.clone();
    let alternative = format!("{} in {y}: {} for {} cases", phase.title, values.join(" and "), cases.len());
    let categories = cases.iter().map(|case| title(case.rows[0], categories)).collect();
    let shape = Shape::Bars { y, categories, series, stacked: false };
    Plot { title: phase.title.clone(), alternative, shape }
}

/// The row of one of the compared values in a case.
fn of<'r>(case: &Group<'r>, label: &str, value: &str) -> Option<&'r Row> {
    case.rows.iter().find(|row| row.text(label) == value).copied()
}

/// A row for each case, with columns for the compared values and their ratios.
fn table(
    measured: &Measured,
    matched: &[Group<'_>],
    names: &[String],
    values: &[String],
    comparison: &Comparison,
) -> Table {
    let (first, others) = values.split_at(1);
    let ratios = others.iter().map(|other| comparison.ratio.text(&first[0], other));
    let labels = names.iter().map(|name| words(name)).chain(["phase", "unit"].map(str::to_owned));
    let mut table =
        Table { columns: labels.chain(values.iter().cloned()).chain(ratios).collect(), ..Table::default() };
    for group in matched {
        let (phase, unit) = (group.rows[0].phase.clone(), measured.unit.text(group.rows[0].rate));
        let labels =
            group.values.iter().chain([&phase, &unit]).map(|text| (Value::from(text.clone()), false));
        let cells: Vec<(Value, bool)> = labels.chain(compared(measured, group, values, comparison)).collect();
        let poor = cells.iter().enumerate().filter(|(_, (_, is_poor))| *is_poor);
        table.poor.extend(poor.map(|(column, _)| (table.rows.len(), column)));
        table.rows.push(cells.into_iter().map(|(value, _)| value).collect());
    }
    table
}

/// The figures of a case and their ratios, each with a flag for poor overlap.
fn compared(
    measured: &Measured,
    group: &Group<'_>,
    values: &[String],
    comparison: &Comparison,
) -> Vec<(Value, bool)> {
    let rows: Vec<Option<&Row>> = values.iter().map(|value| of(group, comparison.label, value)).collect();
    let is_poor = |row: Option<&Row>| row.is_some_and(Row::is_overlap_poor);
    let middle = comparison.ratio.middle();
    let shown = |row: &Option<&Row>| {
        let figure = row.map(|row| middle(&row.spread(measured.unit)));
        (figure.into(), is_poor(*row))
    };
    let ratio = |other: &Option<&Row>| {
        let ratio =
            rows[0].zip(*other).and_then(|(own, other)| comparison.ratio.of(own, other, measured.unit));
        (ratio.into(), is_poor(rows[0]) || is_poor(*other))
    };
    rows.iter().map(shown).chain(rows[1..].iter().map(ratio)).collect()
}
