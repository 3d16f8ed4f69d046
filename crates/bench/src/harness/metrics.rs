//! What the published method makes of events. For `n` processes that each do `k` operations:
//!
//! - **latency** of an operation: from its I/O start to its I/O end;
//! - **single-iteration parallel wall-clock time**: from the earliest I/O start of an iteration to its latest I/O end, over
//!   all processes;
//! - **total parallel wall-clock time**: from the earliest I/O start of all to the latest I/O end of all;
//! - **synchronous bandwidth**: the mean over the iterations of the bytes of the iteration by its wall-clock time; it says
//!   something where all processes begin each iteration together;
//! - **global timing bandwidth**: all bytes by the total wall-clock time.
//!
//! Source: the definitions in "DAOS as HPC Storage: a View From Numerical Weather Prediction" (Manubens, Quintino, Smart,
//! Danovaro, Jackson, 2022).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::harness::{
    events::{Moment, Operation, Part},
    results::median,
    team::Total,
};

/// Processes that work together for less of the time than this did not really overlap.
pub(crate) const OVERLAP_MIN: f64 = 0.75;

/// Bytes of a MiB, of which bandwidths are told.
pub(crate) const MIB: f64 = (1 << 20) as f64;

/// The figures of a phase. Times in seconds, bandwidths in bytes per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) processes: usize,
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    /// Operations that read something else than was written.
    pub(crate) wrong: u64,
    pub(crate) total_s: f64,
    pub(crate) global_timing_bandwidth: f64,
    pub(crate) synchronous_bandwidth: f64,
    pub(crate) iteration_s: Spread,
    pub(crate) latency_s: Spread,
    pub(crate) open_s: Spread,
    pub(crate) transfer_s: Spread,
    pub(crate) close_s: Spread,
    /// Of each process the time from when it was let go to the I/O start of its first operation, or, of one who follows
    /// writers, to its first question.
    #[serde(default)]
    pub(crate) start_delay_s: Spread,
    /// The part of the time in which all processes were at work that were let go together, whatever phase they went through:
    /// the mean over the times that they were let go.
    pub(crate) overlap: f64,
    pub(crate) is_overlap_poor: bool,
}

impl Figures {
    /// Of processes that did not write down when each operation was: they have no synchronous bandwidth.
    pub(crate) fn of_total(total: &Total) -> Self {
        Self {
            processes: total.procs,
            operations: total.fields,
            bytes: total.bytes,
            wrong: 0,
            total_s: total.seconds,
            global_timing_bandwidth: total.bytes as f64 / total.seconds,
            synchronous_bandwidth: 0.0,
            iteration_s: Spread::default(),
            latency_s: Spread::default(),
            open_s: Spread::default(),
            transfer_s: Spread::default(),
            close_s: Spread::default(),
            start_delay_s: Spread::default(),
            overlap: total.overlap(),
            is_overlap_poor: total.overlap() < OVERLAP_MIN,
        }
    }
}

/// How figures are spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    /// The standard deviation of all of them.
    pub(crate) deviation: f64,
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Spread {
    pub(crate) fn of(mut all: Vec<f64>) -> Self {
        let Some(last) = all.len().checked_sub(1) else { return Self::default() };
        all.sort_by(f64::total_cmp);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / all.len() as f64;
        // The value that so many hundredths of all do not exceed.
        let part = |hundredths: usize| all[(all.len() * hundredths).div_ceil(100).saturating_sub(1)];
        let (p95, p99, min, max) = (part(95), part(99), all[0], all[last]);
        Self { mean, deviation: variance.sqrt(), min, median: median(all), p95, p99, max }
    }
}

/// The earliest start and the latest end.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: i64,
    end: i64,
}

impl Span {
    fn of<'o>(operations: impl IntoIterator<Item = &'o Operation>) -> Option<Self> {
        let spans = operations
            .into_iter()
            .map(|one| Self { start: one.at(Moment::IoStart), end: one.at(Moment::IoEnd) });
        spans.reduce(Self::and)
    }

    /// When a process was at work, of one of the times that it was let go.
    fn of_go(part: &Part, go: usize) -> Option<Self> {
        let span = Self::of(part.of_go(go))?;
        let asked = part.notes.asked.filter(|_| go == 0);
        Some(Self { start: asked.map_or(span.start, |asked| asked.min(span.start)), ..span })
    }

    fn and(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    fn seconds(self) -> f64 {
        seconds(self.start, self.end)
    }
}

fn seconds(start: i64, end: i64) -> f64 {
    (end - start) as f64 / 1e9
}

/// What was let go at once: phases of their own, where some processes write and others read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Together<'p> {
    /// When.
    pub(crate) go: i64,
    /// What all the processes did.
    pub(crate) parts: &'p [&'p Part],
}

/// The figures of what the processes of a phase did, which were let go together with others; nothing if they did nothing.
pub(crate) fn figures(parts: &[&Part], together: Together<'_>) -> Option<Figures> {
    let working: Vec<&Part> = parts.iter().copied().filter(|part| !part.operations.is_empty()).collect();
    let all: Vec<&Operation> = working.iter().flat_map(|part| &part.operations).collect();
    let total = Span::of(all.iter().copied())?;
    let mut iterations: BTreeMap<u64, Vec<&Operation>> = BTreeMap::new();
    all.iter().for_each(|one| iterations.entry(one.iteration).or_default().push(one));
    let bytes_of = |operations: &[&Operation]| operations.iter().map(|one| one.bytes).sum::<u64>() as f64;
    let walls: Vec<(f64, f64)> = iterations
        .values()
        .filter_map(|of_one| Some((bytes_of(of_one), Span::of(of_one.iter().copied())?.seconds())))
        .collect();
    let spread = |start: Moment, end: Moment| {
        let done = all.iter().filter(|one| one.at(start) != 0);
        Spread::of(done.map(|one| seconds(one.at(start), one.at(end))).collect())
    };
    let overlap = overlap(together.parts);
    Some(Figures {
        processes: working.len(),
        operations: all.len() as u64,
        bytes: all.iter().map(|one| one.bytes).sum(),
        wrong: all.iter().filter(|one| one.wrong).count() as u64,
        total_s: total.seconds(),
        global_timing_bandwidth: bytes_of(&all) / total.seconds(),
        synchronous_bandwidth: walls.iter().map(|(bytes, wall)| bytes / wall).sum::<f64>()
            / walls.len() as f64,
        iteration_s: Spread::of(walls.iter().map(|(_, wall)| *wall).collect()),
        latency_s: spread(Moment::IoStart, Moment::IoEnd),
        open_s: spread(Moment::OpenStart, Moment::OpenEnd),
        transfer_s: spread(Moment::TransferStart, Moment::TransferEnd),
        close_s: spread(Moment::CloseStart, Moment::CloseEnd),
        start_delay_s: Spread::of(start_delays(&working, together.go)),
        overlap,
        is_overlap_poor: overlap < OVERLAP_MIN,
    })
}

/// Of each process the seconds until it began. The clocks of two nodes may say that it began before it was let go.
fn start_delays(working: &[&Part], go: i64) -> Vec<f64> {
    let spans = working.iter().filter_map(|part| Span::of_go(part, 0));
    spans.map(|span| seconds(go, span.start).max(0.0)).collect()
}

/// The figures of one iteration. Times in seconds: each from the first process's begin of it to the last one's end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Iteration {
    pub(crate) iteration: u64,
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    pub(crate) open_s: f64,
    pub(crate) transfer_s: f64,
    pub(crate) close_s: f64,
    pub(crate) total_s: f64,
    /// From the first transfer of a process to the end of its last, by the number of its transfers: of the process where
    /// that is least.
    pub(crate) mean_transfer_s_min: f64,
}

/// The figures of each iteration of a phase.
pub(crate) fn iterations(parts: &[&Part]) -> Vec<Iteration> {
    let mut all: BTreeMap<u64, Vec<Vec<&Operation>>> = BTreeMap::new();
    for part in parts {
        let mut own: BTreeMap<u64, Vec<&Operation>> = BTreeMap::new();
        part.operations.iter().for_each(|one| own.entry(one.iteration).or_default().push(one));
        own.into_iter().for_each(|(iteration, of_one)| all.entry(iteration).or_default().push(of_one));
    }
    all.iter().map(|(iteration, of_processes)| iteration_of(*iteration, of_processes)).collect()
}

fn iteration_of(iteration: u64, of_processes: &[Vec<&Operation>]) -> Iteration {
    let all: Vec<&Operation> = of_processes.iter().flatten().copied().collect();
    let transfers =
        |operations: &[&Operation]| between(operations, Moment::TransferStart, Moment::TransferEnd);
    let means = of_processes.iter().map(|own| transfers(own) / own.len() as f64);
    Iteration {
        iteration,
        operations: all.len() as u64,
        bytes: all.iter().map(|one| one.bytes).sum(),
        open_s: between(&all, Moment::OpenStart, Moment::OpenEnd),
        transfer_s: transfers(&all),
        close_s: between(&all, Moment::CloseStart, Moment::CloseEnd),
        total_s: between(&all, Moment::IoStart, Moment::IoEnd),
        mean_transfer_s_min: means.reduce(f64::min).unwrap_or(0.0),
    }
}

/// Seconds from the earliest of one moment to the latest of another; 0 where no operation has them.
fn between(operations: &[&Operation], first: Moment, last: Moment) -> f64 {
    let there = || operations.iter().filter(|one| one.at(first) != 0);
    let start = there().map(|one| one.at(first)).min();
    let end = there().map(|one| one.at(last)).max();
    start.zip(end).map_or(0.0, |(start, end)| seconds(start, end))
}

/// The mean over the times that the processes were let go.
fn overlap(parts: &[&Part]) -> f64 {
    let goes = parts.iter().map(|part| part.goes()).max().unwrap_or(0);
    let spans = |go| parts.iter().filter_map(move |part| Span::of_go(part, go)).collect::<Vec<_>>();
    let all: Vec<f64> = (0..goes).filter_map(|go| overlap_of(&spans(go))).collect();
    if all.is_empty() { 1.0 } else { all.iter().sum::<f64>() / all.len() as f64 }
}

/// From the last process's start to the first one's end, as a part of the whole from the first start to the last end; nothing
/// if there was no work. A process that did nothing does not count.
fn overlap_of(spans: &[Span]) -> Option<f64> {
    let whole = spans.iter().copied().reduce(Span::and)?;
    let common = spans
        .iter()
        .copied()
        .reduce(|all, one| Span { start: all.start.max(one.start), end: all.end.min(one.end) })?;
    Some(match whole.seconds() {
        0.0 => 1.0,
        seconds => common.seconds().max(0.0) / seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operation on 600 bytes between two times in milliseconds.
    fn operation(iteration: u64, start: i64, end: i64) -> Operation {
        let mut times = [0; Moment::COUNT];
        times[Moment::IoStart as usize] = start * 1_000_000;
        times[Moment::IoEnd as usize] = end * 1_000_000;
        Operation { iteration, bytes: 600, wrong: false, times }
    }

    fn part(operations: Vec<Operation>) -> Part {
        Part { execution_start: 0, execution_end: 1, operations, ..Part::default() }
    }

    /// The figures of processes that were let go by themselves.
    fn figures_of(parts: &[&Part]) -> Option<Figures> {
        figures(parts, Together { go: 0, parts })
    }

    /// Two processes, two iterations: the first from 1000 to 1400 ms, the second from 1400 to 1900 ms.
    fn table() -> [Part; 2] {
        [
            part(vec![operation(0, 1000, 1300), operation(1, 1400, 1800)]),
            part(vec![operation(0, 1100, 1400), operation(1, 1500, 1900)]),
        ]
    }

    #[test]
    fn bandwidths_of_a_table_made_by_hand_are_the_formulas_to_the_last_digit() {
        let table = table();
        let figures = figures_of(&table.each_ref()).unwrap();
        assert_eq!(figures.total_s, 0.9);
        assert_eq!(figures.global_timing_bandwidth, 2400.0 / 0.9);
        assert_eq!(figures.synchronous_bandwidth, (1200.0 / 0.4 + 1200.0 / 0.5) / 2.0);
        assert_eq!((figures.iteration_s.min, figures.iteration_s.max), (0.4, 0.5));
        assert_eq!((figures.latency_s.min, figures.latency_s.max), (0.3, 0.4));
        assert_eq!((figures.operations, figures.bytes, figures.processes), (4, 2400, 2));
    }

    #[test]
    fn an_iteration_is_from_the_first_begin_to_the_last_end_of_all_its_operations() {
        // Two transfers of each process: the first is also opened, the last closed.
        let transfer = |times: [i64; Moment::COUNT]| {
            let times = times.map(|time| time * 1_000_000);
            Operation { iteration: 4, bytes: 600, wrong: false, times }
        };
        let one = part(vec![
            transfer([1000, 1000, 1100, 1100, 1200, 0, 0, 1200]),
            transfer([1200, 0, 0, 1200, 1300, 1300, 1400, 1400]),
        ]);
        let other = part(vec![
            transfer([1050, 1050, 1150, 1150, 1300, 0, 0, 1300]),
            transfer([1300, 0, 0, 1300, 1550, 1550, 1600, 1600]),
        ]);
        let expected = Iteration {
            iteration: 4,
            operations: 4,
            bytes: 2400,
            open_s: 0.15,
            transfer_s: 0.45,
            close_s: 0.3,
            total_s: 0.6,
            mean_transfer_s_min: 0.1,
        };
        assert_eq!(iterations(&[&one, &other]), [expected]);
        let figures = figures_of(&[&one, &other]).unwrap();
        assert_eq!(figures.synchronous_bandwidth, 2400.0 / 0.6);
        // Two iterations, and nothing opened or closed.
        let table = table();
        let both = iterations(&table.each_ref());
        assert_eq!(
            both.iter().map(|one| (one.total_s, one.open_s)).collect::<Vec<_>>(),
            [(0.4, 0.0), (0.5, 0.0)]
        );
    }

    #[test]
    fn a_process_that_does_nothing_does_not_count_and_without_any_there_are_no_figures() {
        let [one, other] = table();
        let idle = part(Vec::new());
        assert_eq!(figures_of(&[&one, &other, &idle]), figures_of(&[&one, &other]));
        assert_eq!(figures_of(&[&idle]), None);
    }

    #[test]
    fn overlap_is_the_part_of_the_time_in_which_all_are_at_work() {
        let [one, other] = table();
        let overlap = figures_of(&[&one, &other]).unwrap();
        assert_eq!(overlap.overlap, 0.7 / 0.9);
        assert!(!overlap.is_overlap_poor);
        let late = part(vec![operation(0, 1700, 2700)]);
        let poor = figures_of(&[&one, &late]).unwrap();
        assert!(poor.is_overlap_poor && poor.overlap < 0.1, "{poor:?}");
        let apart = part(vec![operation(0, 2000, 2700)]);
        assert_eq!(figures_of(&[&one, &apart]).unwrap().overlap, 0.0);
    }

    #[test]
    fn readers_that_end_early_beside_writers_do_not_overlap_well_though_each_phase_by_itself_does() {
        let writers = [(1000, 2000), (1010, 1990)].map(|(start, end)| part(vec![operation(0, start, end)]));
        let readers = [(1000, 1300), (1010, 1310)].map(|(start, end)| part(vec![operation(0, start, end)]));
        let idle = part(Vec::new());
        let parts: Vec<&Part> = writers.iter().chain(&readers).chain([&idle]).collect();
        let together = Together { go: 0, parts: &parts };
        for phase in [writers.each_ref(), readers.each_ref()] {
            let found = figures(&phase, together).unwrap();
            assert_eq!((found.overlap, found.is_overlap_poor), (0.29, true));
            assert!(!figures_of(&phase).unwrap().is_overlap_poor);
        }
    }

    #[test]
    fn processes_that_are_let_go_several_times_overlap_as_well_as_they_do_each_time_on_average() {
        let of = |iterations: [(i64, i64); 2]| {
            let [first, second] = iterations.map(|(start, end)| part(vec![operation(0, start, end)]));
            let mut both = first;
            both.add(second);
            both
        };
        // First half of the time, then one after the other.
        let one = of([(1000, 1200), (2000, 2100)]);
        let other = of([(1100, 1200), (2100, 2200)]);
        let found = figures_of(&[&one, &other]).unwrap();
        assert_eq!((found.overlap, found.is_overlap_poor), (0.25, true));
    }

    #[test]
    fn a_follower_is_at_work_from_its_first_question_on_though_its_operations_wait_for_writers() {
        let writer = part(vec![operation(0, 1000, 2000)]);
        let mut follower = part(vec![operation(0, 1900, 2000)]);
        let found = |follower: &Part| {
            let parts = [&writer, follower];
            figures(&[follower], Together { go: 1_000_000_000, parts: &parts }).unwrap()
        };
        assert_eq!((found(&follower).overlap, found(&follower).start_delay_s.max), (0.1, 0.9));
        follower.notes.asked = Some(1_100_000_000);
        assert_eq!((found(&follower).overlap, found(&follower).start_delay_s.max), (0.9, 0.1));
        assert_eq!(found(&follower).total_s, 0.1, "bandwidth is of operations");
    }

    #[test]
    fn a_start_delay_is_from_the_go_to_the_first_operation_of_each_process() {
        let [one, other] = table();
        let idle = part(Vec::new());
        let delays = |go: i64, parts: &[&Part]| figures(parts, Together { go, parts }).unwrap().start_delay_s;
        let usual = delays(980_000_000, &[&one, &other, &idle]);
        assert_eq!((usual.min, usual.max), (0.02, 0.12));
        // The clock of another node may be a little behind.
        assert_eq!(delays(1_000_001_000, &[&one]).max, 0.0);
    }

    #[test]
    fn a_spread_has_the_values_that_are_there() {
        let spread = Spread::of((1..=100).rev().map(f64::from).collect());
        assert_eq!(
            (spread.min, spread.median, spread.p95, spread.p99, spread.max),
            (1.0, 50.5, 95.0, 99.0, 100.0)
        );
        assert_eq!(spread.mean, 50.5);
        let two = Spread::of(vec![2.0, 4.0]);
        assert_eq!((two.mean, two.deviation, two.median), (3.0, 1.0, 3.0));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
