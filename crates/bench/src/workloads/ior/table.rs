//! The tables of IOR: a line for each iteration, the best one, and a summary of all tests. Also as CSV.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Map, Value};

use crate::harness::{
    metrics::{Iteration, OVERLAP_MIN},
    output::print_table,
    spread::{MIB, Spread},
    study::{CaseRecord, CaseResults, Record, ResultRecord, common_labels, labels_text, text_of},
};

/// The timed phases, in order.
const TIMED: [&str; 2] = ["write", "read"];
/// The columns of an iteration, and those of the summary.
const COLUMNS: &str =
    "access bw(MiB/s) IOPS Latency(s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) total(s) iter";
const SUMMARY: &str = "Operation api class Max(MiB) Min(MiB) Mean(MiB) StdDev Max(OPs) Min(OPs) Mean(OPs) StdDev \
                       Mean(s) Tasks xfer(KiB) aggs(MiB) store";
/// A label for reports, with the value of `transfer`.
const SIZE: &str = "size";
/// The label and the column of the store, which is text.
const STORE: &str = "store";

/// One iteration of one phase.
struct Row {
    access: String,
    bandwidth: f64,
    iops: f64,
    block: f64,
    transfer: f64,
    figures: Iteration,
    /// Counted over all repetitions.
    number: u64,
}

impl Row {
    fn cells(&self) -> [String; 11] {
        let Self { access, bandwidth, iops, block, transfer, figures, number } = self;
        let second = |time: f64| format!("{time:.6}");
        [
            access.clone(),
            format!("{:.2}", bandwidth / MIB),
            format!("{iops:.2}"),
            second(figures.mean_transfer_s_min),
            format!("{:.2}", block / 1024.0),
            format!("{:.2}", transfer / 1024.0),
            second(figures.open_s),
            second(figures.transfer_s),
            second(figures.close_s),
            second(figures.total_s),
            number.to_string(),
        ]
    }
}

fn number(labels: &Map<String, Value>, name: &str) -> f64 {
    labels.get(name).and_then(Value::as_f64).unwrap_or(0.0)
}

/// The rows of a case: the write and the read of each iteration.
fn rows((case, results): &CaseResults<'_>) -> Vec<Row> {
    let labels = &case.labels;
    let iterations = number(labels, "iterations") as u64;
    let row = |result: &ResultRecord, figures: &Iteration| Row {
        access: result.phase.clone(),
        bandwidth: figures.bytes as f64 / figures.total_s,
        iops: figures.operations as f64 / figures.transfer_s,
        block: number(labels, "block"),
        transfer: number(labels, "transfer"),
        figures: *figures,
        number: u64::from(result.repetition) * iterations + figures.iteration,
    };
    let timed = TIMED.iter().flat_map(|phase| results.iter().filter(move |result| result.phase == *phase));
    let mut rows: Vec<Row> =
        timed.flat_map(|result| result.iterations.iter().map(|one| row(result, one))).collect();
    // The sort is stable, so a write stays before its read.
    rows.sort_by_key(|row| row.number);
    rows
}

fn plain(header: &str, left: usize) -> Table {
    let header: Vec<&str> = header.split(' ').collect();
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(&header);
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if number >= left && header[number] != STORE {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

pub(super) fn print(record: &Record, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", record.description().driver)?;
    let all: Vec<CaseResults<'_>> = record.cases().collect();
    let common = common_labels(&all);
    let labels_of = |case: &CaseRecord, is_common: bool| {
        labels_text(&case.labels, |name| name != SIZE && common.contains(&name) == is_common)
    };
    writeln!(out, "{}", all.first().map_or_else(String::new, |(case, _)| labels_of(case, true)))?;
    for case in &all {
        let differing = labels_of(case.0, false);
        let gap = if differing.is_empty() { "" } else { "\n" };
        writeln!(out, "{gap}{differing}\n")?;
        print_case(case, out)?;
    }
    writeln!(out, "\nSummary of all tests:")?;
    let mut table = plain(SUMMARY, 3);
    for case in &all {
        let rows = rows(case);
        for phase in TIMED {
            let of_phase: Vec<&Row> = rows.iter().filter(|row| row.access == phase).collect();
            if let Some(first) = of_phase.first() {
                table.add_row(summary(case, &of_phase, first));
            }
        }
    }
    print_table(&table, out)?;
    writeln!(
        out,
        "bw: bytes by total, from the first open to the last close. StdDev: of the iterations. Kept in {}",
        record.folder().display()
    )
}

fn print_case(case: &CaseResults<'_>, out: &mut impl Write) -> io::Result<()> {
    let rows = rows(case);
    let mut table = plain(COLUMNS, 1);
    table.add_rows(rows.iter().map(Row::cells));
    print_table(&table, out)?;
    writeln!(out)?;
    for (phase, name) in TIMED.iter().zip(["Max Write:", "Max Read: "]) {
        let best = rows.iter().filter(|row| row.access == *phase).map(|row| row.bandwidth).reduce(f64::max);
        if let Some(best) = best {
            writeln!(out, "{name} {:.2} MiB/sec ({:.2} MB/sec)", best / MIB, best / 1e6)?;
        }
    }
    print_remarks(&case.1, out)
}

/// Prints wrong bytes, start delays, and poor overlap.
fn print_remarks(results: &[&ResultRecord], out: &mut impl Write) -> io::Result<()> {
    for result in results {
        let (phase, figures) = (&result.phase, &result.figures);
        if phase == "write-check" || figures.wrong > 0 {
            let all = figures.operations;
            writeln!(out, "{phase}: {} of {all} transfers were wrong", figures.wrong)?;
        }
        if TIMED.contains(&&**phase) {
            let latest = figures.start_delay_s.max * 1e3;
            writeln!(out, "{phase}: the last process began {latest:.2} ms after the go")?;
        }
        if TIMED.contains(&&**phase) && figures.is_overlap_poor {
            let overlap = figures.overlap;
            writeln!(
                out,
                "{phase}: all processes were at work for {overlap:.2} of the time only; {OVERLAP_MIN} is wanted"
            )?;
        }
    }
    Ok(())
}

fn summary(case: &CaseResults<'_>, rows: &[&Row], first: &Row) -> [String; 16] {
    let labels = &case.0.labels;
    let spread = |of: fn(&Row) -> f64| Spread::of(rows.iter().map(|row| of(row)).collect());
    let two = |value: f64| format!("{value:.2}");
    let (bandwidth, iops) = (spread(|row| row.bandwidth / MIB), spread(|row| row.iops));
    let text = |name: &str| labels.get(name).map(text_of).unwrap_or_default();
    let tasks = number(labels, "nodes") * number(labels, "processes_per_node");
    [
        first.access.clone(),
        text("api"),
        text("class"),
        two(bandwidth.max),
        two(bandwidth.min),
        two(bandwidth.mean),
        two(bandwidth.deviation),
        two(iops.max),
        two(iops.min),
        two(iops.mean),
        two(iops.deviation),
        format!("{:.6}", spread(|row| row.figures.total_s).mean),
        tasks.to_string(),
        two(first.transfer / 1024.0),
        two(first.figures.bytes as f64 / MIB),
        text(STORE),
    ]
}

/// Prints a line for each iteration, with the labels of its case before it.
pub(super) fn print_csv(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let mut has_header = false;
    for case in record.cases() {
        // Other labels are columns of IOR.
        let labels = || {
            case.0
                .labels
                .iter()
                .filter(|(name, _)| !["access", "block", "transfer", SIZE].contains(&&***name))
        };
        if !has_header {
            let shared = ["files".to_owned()].into_iter().chain(labels().map(|(name, _)| name.clone()));
            let header: Vec<String> = shared.chain(COLUMNS.split(' ').map(str::to_owned)).collect();
            writeln!(out, "{}", header.join(","))?;
            has_header = true;
        }
        for row in rows(&case) {
            let files = case.0.labels.get("access").map(text_of).unwrap_or_default();
            let shared = [files].into_iter().chain(labels().map(|(_, value)| text_of(value)));
            let line: Vec<String> = shared.map(|text| quoted(&text)).chain(row.cells()).collect();
            writeln!(out, "{}", line.join(","))?;
        }
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_a_comma_or_a_quotation_mark_is_quoted() {
        assert_eq!(quoted("posix, tmpfs"), "\"posix, tmpfs\"");
        assert_eq!(quoted("a \"b\""), "\"a \"\"b\"\"\"");
        assert_eq!(quoted("plain"), "plain");
    }
}
