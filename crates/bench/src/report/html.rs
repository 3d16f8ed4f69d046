//! Text and tables as HTML.

use std::{collections::BTreeSet, fmt::Write};

use serde_json::Value;

use super::{
    axes::{varying, words},
    measured::{Row, has_events, starts_of},
    rates::Unit,
};
use crate::harness::{metrics::Figures, spread::Spread};

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Value>>,
    /// The row and column of figures of processes that did not overlap well.
    pub(crate) poor: BTreeSet<(usize, usize)>,
}

/// The mark of a figure of processes that did not overlap well.
const POOR: &str = "<span class=\"poor\" role=\"img\" aria-label=\"poor overlap\">\u{25b2}</span> ";

/// Text in HTML, also for attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A number with its significant digits.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        large if large >= 10.0 => format!("{value:.1}"),
        middle if middle >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

impl Table {
    /// A table whose first columns are labels.
    pub(crate) fn new<C: Into<String>>(
        names: &[String],
        columns: impl IntoIterator<Item = C>,
        rows: Vec<Vec<Value>>,
    ) -> Self {
        let names = names.iter().map(|name| words(name));
        let columns = names.chain(columns.into_iter().map(Into::into)).collect();
        Self { columns, rows, poor: BTreeSet::new() }
    }

    /// A row for each phase of each case, with the labels that differ.
    pub(crate) fn of(rows: &[&Row], unit: Unit) -> Self {
        let names = varying(rows, &[]);
        let synchronous = format!("synchronous {}", unit.name);
        let figures = ["phase", "unit", "mean", "deviation", "min", "max", &synchronous, "median latency ms"];
        let rest = ["median start delay ms", "max start delay ms", "overlap", "poor overlap", "repetitions"];
        let columns = figures.into_iter().chain(rest);
        let rows = rows.iter().map(|row| row.cells(&names).chain(values(row, unit)).collect());
        Self::new(&names, columns, rows.collect()).without_empty_columns()
    }

    fn without_empty_columns(mut self) -> Self {
        for column in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|row| row[column].is_null()) {
                self.columns.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        self
    }

    pub(crate) fn html(&self) -> String {
        let mut html = String::from("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
        for (number, column) in self.columns.iter().enumerate() {
            let is_number = self.rows.iter().any(|row| row[number].is_number());
            let class = if is_number { " class=\"number\"" } else { "" };
            // Writing to a string cannot fail.
            let _ = write!(html, "<th scope=\"col\"{class}>{}</th>", escape(column));
        }
        html.push_str("</tr></thead><tbody>");
        for (at, row) in self.rows.iter().enumerate() {
            html.push_str("<tr>");
            let cells = row.iter().enumerate();
            cells.for_each(|(column, value)| html.push_str(&cell(value, self.poor.contains(&(at, column)))));
            html.push_str("</tr>");
        }
        html.push_str("</tbody></table></div>");
        html
    }
}

fn cell(value: &Value, is_poor: bool) -> String {
    match value {
        Value::Number(figure) => {
            let figure = figure.as_f64().unwrap_or_default();
            let mark = if is_poor { POOR } else { "" };
            format!("<td class=\"number\" data-value=\"{figure}\">{mark}{}</td>", number(figure))
        }
        Value::Null => "<td></td>".to_owned(),
        other => format!("<td>{}</td>", escape(other.as_str().unwrap_or_default())),
    }
}

fn values(row: &Row, unit: Unit) -> Vec<Value> {
    let Spread { mean, deviation, min, max, .. } = row.spread(unit);
    let timed = || row.figures().filter(|one| has_events(one));
    let spread = |of: &dyn Fn(&Figures) -> f64| {
        let all: Vec<f64> = timed().map(of).collect();
        (!all.is_empty()).then(|| Spread::of(all))
    };
    let is_shown = row.is_in_step && row.figures().any(|one| one.bytes > 0);
    let synchronous = spread(&|one| unit.shown(one.synchronous_bandwidth)).filter(|_| is_shown);
    let overlap = row.figures().map(|one| one.overlap).reduce(f64::min);
    let starts = starts_of(row.figures());
    let poor = row.is_overlap_poor().then_some("poor");
    let figures = [mean, deviation, min, max].map(Value::from);
    let rest = [
        synchronous.map(|all| all.mean).into(),
        spread(&|one| one.latency_s.median * 1e3).map(|all| all.median).into(),
        starts.map(|[median, _, _]| median * 1e3).into(),
        starts.map(|[_, _, longest]| longest * 1e3).into(),
        overlap.into(),
        poor.into(),
        row.rates.len().into(),
    ];
    [unit.text(row.rate).into()].into_iter().chain(figures).chain(rest).collect()
}
