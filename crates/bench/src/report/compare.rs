//! Comparisons of the same cases: low and high contention, Isotach and others, several runs.

use serde_json::Value;

use super::{
    axes::{Group, Phase, captioned, groups, phases, pick, title, varying},
    html::Table,
    measured::{Measured, RUN, Row, WHO},
    plot::{Bars, Figure, Panel, Plot},
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
    unit: Unit,
}

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
        unit: measured.unit,
    };
    comparison.figure(&measured.own())
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
        unit: measured.unit,
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
    comparison.figure(&rows.iter().collect::<Vec<_>>())
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
        unit: measured.unit,
    };
    comparison.figure(&measured.own())
}

impl Comparison {
    fn figure(&self, rows: &[&Row]) -> Option<Figure> {
        let (names, label) = (varying(rows, &[self.label]), [self.label.to_owned()]);
        let matched: Vec<Group<'_>> = phases(rows, self.unit)
            .iter()
            .flat_map(|phase| groups(&phase.rows, &names))
            .filter(|(_, rows)| groups(rows, &label).len() > 1)
            .collect();
        let rows: Vec<&Row> = matched.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        let values: Vec<String> = groups(&rows, &label).into_iter().flat_map(|(values, _)| values).collect();
        let (categories, choices) = pick(names.clone(), 2);
        let plot = |phase: &Phase<'_>| Some(self.plot(phase, &categories, &values));
        let panels = Panel::all(&rows, &choices, self.unit, plot);
        let table = || self.table(&matched, &names, &values);
        Figure::new(self.id, self.title, captioned(&rows, self.caption), panels, table)
    }

    fn plot(&self, phase: &Phase<'_>, categories: &[String], values: &[String]) -> Plot {
        let cases = groups(&phase.rows, categories);
        let bars = |(number, value): (usize, &String)| {
            let rows: Vec<_> = cases.iter().map(|(_, rows)| self.of(rows, value)).collect();
            rows.iter().any(Option::is_some).then(|| {
                let bars = Bars::at(value.clone(), rows.into_iter(), self.unit, self.ratio.middle());
                // A value has the same colour in all plots, also where other values are missing.
                Bars { colour: Some(number), ..bars }
            })
        };
        let series = values.iter().enumerate().filter_map(bars).collect();
        let (values, count) = (values.join(" and "), cases.len());
        let alternative = format!("{} in {}: {values} for {count} cases", phase.title, phase.unit);
        let categories = cases.iter().map(|(_, rows)| title(rows[0], categories)).collect();
        Plot::bars(phase, alternative, categories, series)
    }

    /// The row of one of the compared values in a case.
    fn of<'r>(&self, case: &[&'r Row], value: &str) -> Option<&'r Row> {
        case.iter().find(|row| row.text(self.label) == value).copied()
    }

    /// A row for each case, with columns for the compared values and their ratios.
    fn table(&self, matched: &[Group<'_>], names: &[String], values: &[String]) -> Table {
        let ratios = values[1..].iter().map(|other| self.ratio.text(&values[0], other));
        let columns = ["phase", "unit"].map(str::to_owned).into_iter().chain(values.iter().cloned());
        let mut table = Table::new(names, columns.chain(ratios), Vec::new());
        for (labels, rows) in matched {
            let texts = [rows[0].phase.clone(), self.unit.text(rows[0].rate)];
            let labels = labels.iter().cloned().chain(texts).map(|text| (Value::from(text), false));
            let cells: Vec<(Value, bool)> = labels.chain(self.compared(rows, values)).collect();
            let poor = cells.iter().enumerate().filter(|(_, (_, is_poor))| *is_poor);
            table.poor.extend(poor.map(|(column, _)| (table.rows.len(), column)));
            table.rows.push(cells.into_iter().map(|(value, _)| value).collect());
        }
        table
    }

    /// The figures of a case and their ratios, each with a flag for poor overlap.
    fn compared(&self, case: &[&Row], values: &[String]) -> Vec<(Value, bool)> {
        let rows: Vec<Option<&Row>> = values.iter().map(|value| self.of(case, value)).collect();
        let is_poor = |row: Option<&Row>| row.is_some_and(Row::is_overlap_poor);
        let shown = |row: &Option<&Row>| {
            let figure = row.map(|row| self.ratio.middle()(&row.spread(self.unit)));
            (figure.into(), is_poor(*row))
        };
        let ratio = |other: &Option<&Row>| {
            let pair = rows[0].zip(*other);
            let ratio = pair.and_then(|(own, other)| self.ratio.of(own, other, self.unit));
            (ratio.into(), is_poor(rows[0]) || is_poor(*other))
        };
        rows.iter().map(shown).chain(rows[1..].iter().map(ratio)).collect()
    }
}
