//! Figures from events: the time lines of processes, and the parts of operations.
//!
//! The first repetition with results of each case is shown. Events are read one group of rows at a time and thinned out, so a
//! page of a long run stays small.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    axes::varying,
    html::Table,
    measured::{Measured, Row, has_events, is_measured},
    plot::{Figure, Panel, Plot, Shape, TimeBar},
    runs::Run,
    shares,
};
use crate::harness::{
    events::{LogEntry, Moment, Operation, read_events},
    study::{ResultRecord, events_path},
};

/// The largest number of processes with a row.
const PROCESSES_MAX: usize = 48;
/// The largest number of bars of a case, approximately.
const BARS_MAX: usize = 1500;
const PARTS: [(&str, Moment, Moment); 3] = [
    ("open", Moment::OpenStart, Moment::OpenEnd),
    ("transfer", Moment::TransferStart, Moment::TransferEnd),
    ("close", Moment::CloseStart, Moment::CloseEnd),
];
const LINES: &str = "A row for each process, a bar for each operation from its I/O start to its I/O end, in the first repetition of \
    the case; time counts from the first start. Phases that went on at once stand in one plot. Where there \
    are many, a bar stands for several operations one after the other (hover to see how many), and of more than 48 \
    processes 48 are shown, evenly chosen: so gaps within such a bar are not seen.";
const SHARES: &str = "The part of an operation's time, from I/O start to I/O end, that it spends in opening (finding or making what is \
    written to or read from), in moving bytes, in closing (of a write also what makes it count: its entry in an index, and the \
    flush) and in anything else; over all operations of the first repetition.";

/// The time lines of a case.
struct Lines {
    row: Row,
    phases: Vec<String>,
    /// The lines of each process, by phase.
    processes: BTreeMap<u32, Vec<Line>>,
    /// Seconds by part of each phase.
    parts: Vec<[f64; 4]>,
}

/// The line of a process in a phase. A bar has its start and end in nanoseconds and its number of operations.
struct Line {
    phase: usize,
    operations: usize,
    bars: Vec<(i64, i64, usize)>,
    busy: i64,
}

/// The figures from events. Unreadable events are noted in the run.
pub(crate) fn figures(runs: &mut [Run], measured: &Measured) -> Vec<Figure> {
    let rows = measured.all();
    let mut cases = Vec::new();
    for (number, run) in runs.iter_mut().enumerate() {
        let of_run: Vec<&Row> = rows.iter().filter(|row| row.run == number).collect();
        cases.extend(read_run(run, &of_run));
    }
    [shares_of(&cases), lines_of(&cases)].into_iter().flatten().collect()
}

fn read_run(run: &mut Run, rows: &[&Row]) -> Vec<Lines> {
    let mut cases = Vec::new();
    for case in &run.record.cases {
        let has_lines = |one: &&ResultRecord| is_measured(&one.phase) && has_events(&one.figures);
        let results = run.record.results.iter().filter(|one| one.case == case.number).filter(has_lines);
        let first = results.clone().map(|result| result.repetition).min();
        let row = rows.iter().find(|row| row.case == case.number);
        let (Some(repetition), Some(row)) = (first, row) else { continue };
        let of_first = results.filter(|one| one.repetition == repetition);
        let mut lines = Lines::new(row, of_first.map(|one| one.phase.clone()).collect());
        for (number, phase) in lines.phases.clone().iter().enumerate() {
            let path = events_path(&run.folder, case.number, repetition, phase);
            if let Err(error) = read_events(&path, |entry| lines.take(number, &entry)) {
                run.unread.push(format!("time lines and shares lack what could not be read: {error}"));
            }
        }
        if !lines.processes.is_empty() {
            cases.push(lines);
        }
    }
    cases
}

impl Lines {
    fn new(row: &Row, phases: Vec<String>) -> Self {
        let parts = vec![[0.0; 4]; phases.len()];
        Self { row: row.clone(), phases, processes: BTreeMap::new(), parts }
    }

    fn take(&mut self, phase: usize, entry: &LogEntry) {
        let operations = &entry.log.operations;
        operations.iter().for_each(|one| add_parts(&mut self.parts[phase], one));
        let all =
            self.row.number("nodes").unwrap_or(1.0) * self.row.number("processes_per_node").unwrap_or(1.0);
        let shown = (all as usize).clamp(1, PROCESSES_MAX);
        let most = (BARS_MAX / shown / self.phases.len()).max(10);
        let together = operations.len().div_ceil(most).max(1);
        let bars = operations.chunks(together).map(|few| {
            let (start, end) = (few[0].at(Moment::IoStart), few[few.len() - 1].at(Moment::IoEnd));
            (start, end, few.len())
        });
        let span = |one: &Operation| one.at(Moment::IoEnd) - one.at(Moment::IoStart);
        if !operations.is_empty() {
            self.processes.entry(entry.process).or_default().push(Line {
                phase,
                operations: operations.len(),
                bars: bars.collect(),
                busy: operations.iter().map(span).sum(),
            });
        }
    }

    /// The start and the end of a phase, if it has operations.
    fn span(&self, phase: usize) -> Option<(i64, i64)> {
        let lines = self.processes.values().flatten().filter(|line| line.phase == phase);
        let spans = lines.filter_map(|line| Some((line.bars.first()?.0, line.bars.last()?.1)));
        spans.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
    }

    /// The phases that overlap in time, combined, with the start of the first.
    fn together(&self) -> Vec<(i64, Vec<usize>)> {
        let spans = (0..self.phases.len()).filter_map(|phase| Some((self.span(phase)?, phase)));
        let mut spans: Vec<((i64, i64), usize)> = spans.collect();
        spans.sort_unstable();
        let mut together: Vec<(i64, i64, Vec<usize>)> = Vec::new();
        for ((start, end), phase) in spans {
            match together.last_mut().filter(|(_, last, _)| start < *last) {
                Some((_, last, phases)) => {
                    *last = end.max(*last);
                    phases.push(phase);
                }
                None => together.push((start, end, vec![phase])),
            }
        }
        together.into_iter().map(|(start, _, phases)| (start, phases)).collect()
    }

    /// The processes with operations in some phases, evenly sampled if there are many, and their number.
    fn chosen(&self, phases: &[usize]) -> (Vec<u32>, usize) {
        let works = |lines: &[Line]| lines.iter().any(|line| phases.contains(&line.phase));
        let all: Vec<u32> =
            self.processes.iter().filter(|(_, lines)| works(lines)).map(|(process, _)| *process).collect();
        let shown = all.len().min(PROCESSES_MAX);
        ((0..shown).map(|row| all[row * all.len() / shown]).collect(), all.len())
    }
}

/// Adds the seconds of the parts of an operation, and of the rest.
fn add_parts(sums: &mut [f64; 4], one: &Operation) {
    let span = |start: Moment, end: Moment| match one.at(start) {
        0 => 0.0,
        began => (one.at(end) - began) as f64 / 1e9,
    };
    let mut rest = span(Moment::IoStart, Moment::IoEnd);
    for (sum, (_, start, end)) in sums.iter_mut().zip(PARTS) {
        let seconds = span(start, end);
        *sum += seconds;
        rest -= seconds;
    }
    sums[3] += rest.max(0.0);
}

fn shares_of(cases: &[Lines]) -> Option<Figure> {
    let of_phase = cases.iter().flat_map(|case| {
        case.phases.iter().zip(&case.parts).map(|(phase, sums)| {
            let names = PARTS.map(|(name, _, _)| name).into_iter().chain(["other"]).map(str::to_owned);
            (Row { phase: phase.clone(), ..case.row.clone() }, names.zip(*sums).collect::<Vec<_>>())
        })
    });
    let of_phase: Vec<(Row, Vec<(String, f64)>)> = of_phase.collect();
    let parted: Vec<shares::RowParts<'_>> =
        of_phase.iter().map(|(row, parts)| (row, parts.clone())).collect();
    shares::figure("shares", "Where the time goes", SHARES, &parted)
}

fn lines_of(cases: &[Lines]) -> Option<Figure> {
    let rows: Vec<&Row> = cases.iter().map(|case| &case.row).collect();
    let names = varying(&rows, &[]);
    let panel = |case: &Lines| {
        let values = names.iter().map(|name| case.row.text(name)).collect();
        let plots = case.together().iter().map(|(start, phases)| plot(case, *start, phases)).collect();
        Panel::new(&names, values, plots)
    };
    let panels = cases.iter().filter_map(panel).collect();
    Figure::new("times", "Time lines of the processes", LINES.to_owned(), panels, || table(cases, &names))
}

fn plot(case: &Lines, start: i64, phases: &[usize]) -> Plot {
    let (chosen, all) = case.chosen(phases);
    let milliseconds = |time: i64| ((time - start) as f64 / 1e3).round() / 1e3;
    let mut bars: Vec<TimeBar> = Vec::new();
    for (row, process) in chosen.iter().enumerate() {
        for line in &case.processes[process] {
            let Some(phase) = phases.iter().position(|phase| *phase == line.phase) else { continue };
            let shown = |(from, to, count): &(i64, i64, usize)| {
                (row, phase, milliseconds(*from), milliseconds(*to), *count)
            };
            bars.extend(line.bars.iter().map(shown));
        }
    }
    let names: Vec<String> = phases.iter().map(|phase| case.phases[*phase].clone()).collect();
    let title = names.join(", ");
    let alternative = format!("time lines of {} of {all} processes: {title}", chosen.len());
    let processes = chosen.iter().map(u32::to_string).collect();
    Plot { title, alternative, shape: Shape::Times { processes, phases: names, bars } }
}

/// A row for each shown process and each phase.
fn table(cases: &[Lines], names: &[String]) -> Table {
    let columns = ["process", "phase", "operations", "first start ms", "last end ms", "busy ms"];
    let mut rows = Vec::new();
    for case in cases {
        for (start, phases) in case.together() {
            for process in case.chosen(&phases).0 {
                let lines = case.processes[&process].iter().filter(|line| phases.contains(&line.phase));
                rows.extend(lines.map(|line| table_row(case, names, start, process, line)));
            }
        }
    }
    Table::new(names, columns, rows)
}

fn table_row(case: &Lines, names: &[String], start: i64, process: u32, line: &Line) -> Vec<Value> {
    let milliseconds = |nanoseconds: i64| Value::from(nanoseconds as f64 / 1e6);
    let first = line.bars.first().map_or(start, |bar| bar.0);
    let last = line.bars.last().map_or(start, |bar| bar.1);
    let own = [
        process.to_string().into(),
        case.phases[line.phase].clone().into(),
        (line.operations as f64).into(),
        milliseconds(first - start),
        milliseconds(last - start),
        milliseconds(line.busy),
    ];
    names.iter().map(|name| Value::from(case.row.text(name))).chain(own).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    fn lines(phases: &[(&str, i64, i64)], processes: u32) -> Lines {
        let row = Row::without_results(Map::new(), "");
        let mut lines = Lines::new(&row, phases.iter().map(|(name, _, _)| (*name).to_owned()).collect());
        for process in 0..processes {
            let of_phase = phases.iter().enumerate().map(|(phase, (_, start, end))| Line {
                phase,
                operations: 1,
                bars: vec![(*start, *end, 1)],
                busy: end - start,
            });
            lines.processes.insert(process, of_phase.collect());
        }
        lines
    }

    #[test]
    fn overlapping_phases_share_their_time_lines() {
        let lines = lines(&[("setup", 0, 10), ("write", 20, 50), ("read", 30, 60), ("list", 60, 70)], 2);
        assert_eq!(lines.together(), [(0, vec![0]), (20, vec![1, 2]), (60, vec![3])]);
    }

    #[test]
    fn many_processes_are_sampled_evenly() {
        let lines = lines(&[("write", 0, 10)], 96);
        let (chosen, all) = lines.chosen(&[0]);
        assert_eq!((chosen.len(), all, chosen[0], chosen[47]), (48, 96, 0, 94));
    }
}
