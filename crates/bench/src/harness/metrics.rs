//! The figures that the published method derives from events. For `n` processes with `k` operations each:
//!
//! - **latency** of an operation: from its I/O start to its I/O end;
//! - **single-iteration parallel wall-clock time**: from the earliest I/O start of an iteration to its latest I/O end, over
//!   all processes;
//! - **total parallel wall-clock time**: from the earliest I/O start of all to the latest I/O end of all;
//! - **synchronous bandwidth**: the mean over the iterations of the bytes of the iteration by its wall-clock time; it is
//!   meaningful where all processes begin each iteration together;
//! - **global timing bandwidth**: all bytes by the total wall-clock time.
//!
//! Source: the definitions in "DAOS as HPC Storage: a View From Numerical Weather Prediction" (Manubens, Quintino, Smart,
//! Danovaro, Jackson, 2022).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::harness::{
    events::{Moment, Operation, ProcessLog},
    spread::Spread,
    usage::Total,
};

/// Processes overlap well if all of them work for at least this part of the time.
pub(crate) const OVERLAP_MIN: f64 = 0.75;

/// The figures of a phase. Times in seconds, bandwidths in bytes per second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) processes: usize,
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    /// Operations that read other bytes than were written.
    pub(crate) wrong: u64,
    pub(crate) total_s: f64,
    pub(crate) global_timing_bandwidth: f64,
    pub(crate) synchronous_bandwidth: f64,
    pub(crate) iteration_s: Spread,
    pub(crate) latency_s: Spread,
    pub(crate) open_s: Spread,
    pub(crate) transfer_s: Spread,
    pub(crate) close_s: Spread,
    /// The time of each process from its release to the I/O start of its first operation, or to the first poll of a reader
    /// that follows writers.
    #[serde(default)]
    pub(crate) start_delay_s: Spread,
    /// The part of the time in which all processes that were released together were at work, in whatever phase; the mean over
    /// the rounds.
    pub(crate) overlap: f64,
    pub(crate) is_overlap_poor: bool,
}

impl Figures {
    /// The figures of processes that record no single operations, so there is no synchronous bandwidth.
    pub(crate) fn of_total(total: &Total) -> Self {
        Self {
            processes: total.procs,
            operations: total.fields,
            bytes: total.bytes,
            total_s: total.seconds,
            global_timing_bandwidth: total.bytes as f64 / total.seconds,
            overlap: total.overlap(),
            is_overlap_poor: total.overlap() < OVERLAP_MIN,
            ..Self::default()
        }
    }
}

/// The time from an earliest start to a latest end.
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

    /// When a process was at work in a round.
    fn of_round(log: &ProcessLog, round: usize) -> Option<Self> {
        let span = Self::of(log.round(round))?;
        let first_poll = log.notes.first_poll.filter(|_| round == 0);
        Some(Self { start: first_poll.map_or(span.start, |poll| poll.min(span.start)), ..span })
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

/// All processes that were released together, in whatever phase: some may write and others read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReleasedTogether<'l> {
    pub(crate) released: i64,
    pub(crate) logs: &'l [&'l ProcessLog],
}

/// The figures of the processes of a phase; none if they did nothing.
pub(crate) fn figures(logs: &[&ProcessLog], together: ReleasedTogether<'_>) -> Option<Figures> {
    let working: Vec<&ProcessLog> = logs.iter().copied().filter(|log| !log.operations.is_empty()).collect();
    let all: Vec<&Operation> = working.iter().flat_map(|log| &log.operations).collect();
    let total = Span::of(all.iter().copied())?;
    let iterations = iterations(&working);
    let bandwidths = iterations.iter().map(|one| one.bytes as f64 / one.total_s);
    let bytes = all.iter().map(|one| one.bytes).sum::<u64>();
    let spread = |start: Moment, end: Moment| {
        let done = all.iter().filter(|one| one.at(start) != 0);
        Spread::of(done.map(|one| seconds(one.at(start), one.at(end))).collect())
    };
    let began = working.iter().filter_map(|log| Span::of_round(log, 0));
    // By the clock of another node a process may have begun before its release.
    let delays = began.map(|span| seconds(together.released, span.start).max(0.0));
    let overlap = overlap(together.logs);
    Some(Figures {
        processes: working.len(),
        operations: all.len() as u64,
        bytes,
        wrong: all.iter().filter(|one| one.wrong).count() as u64,
        total_s: total.seconds(),
        global_timing_bandwidth: bytes as f64 / total.seconds(),
        synchronous_bandwidth: bandwidths.sum::<f64>() / iterations.len() as f64,
        iteration_s: Spread::of(iterations.iter().map(|one| one.total_s).collect()),
        latency_s: spread(Moment::IoStart, Moment::IoEnd),
        open_s: spread(Moment::OpenStart, Moment::OpenEnd),
        transfer_s: spread(Moment::TransferStart, Moment::TransferEnd),
        close_s: spread(Moment::CloseStart, Moment::CloseEnd),
        start_delay_s: Spread::of(delays.collect()),
        overlap,
        is_overlap_poor: overlap < OVERLAP_MIN,
    })
}

/// The figures of one iteration. Times in seconds, each from the first start to the last end over all processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Iteration {
    pub(crate) iteration: u64,
    pub(crate) operations: u64,
    pub(crate) bytes: u64,
    pub(crate) open_s: f64,
    pub(crate) transfer_s: f64,
    pub(crate) close_s: f64,
    pub(crate) total_s: f64,
    /// The time of a process from its first transfer to the end of its last one, by the number of its transfers: the minimum
    /// over the processes.
    pub(crate) mean_transfer_s_min: f64,
}

pub(crate) fn iterations(logs: &[&ProcessLog]) -> Vec<Iteration> {
    let mut all: BTreeMap<u64, Vec<Vec<&Operation>>> = BTreeMap::new();
    for log in logs {
        let mut own: BTreeMap<u64, Vec<&Operation>> = BTreeMap::new();
        log.operations.iter().for_each(|one| own.entry(one.iteration).or_default().push(one));
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
    let having = || operations.iter().filter(|one| one.at(first) != 0);
    let start = having().map(|one| one.at(first)).min();
    let end = having().map(|one| one.at(last)).max();
    start.zip(end).map_or(0.0, |(start, end)| seconds(start, end))
}

/// The mean over the rounds.
fn overlap(logs: &[&ProcessLog]) -> f64 {
    let rounds = logs.iter().map(|log| log.rounds()).max().unwrap_or(0);
    let spans = |round| logs.iter().filter_map(move |log| Span::of_round(log, round)).collect::<Vec<_>>();
    let all: Vec<f64> = (0..rounds).filter_map(|round| overlap_of(&spans(round))).collect();
    if all.is_empty() { 1.0 } else { all.iter().sum::<f64>() / all.len() as f64 }
}

/// The time from the last start to the first end, as a part of the time from the first start to the last end; none without
/// work.
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

    fn log_of(operations: Vec<Operation>) -> ProcessLog {
        ProcessLog { execution_start: 0, execution_end: 1, operations, ..ProcessLog::default() }
    }

    /// The figures of processes that were released alone.
    fn figures_of(logs: &[&ProcessLog]) -> Option<Figures> {
        figures(logs, ReleasedTogether { released: 0, logs })
    }

    /// Two processes, two iterations: the first from 1000 to 1400 ms, the second from 1400 to 1900 ms.
    fn table() -> [ProcessLog; 2] {
        [
            log_of(vec![operation(0, 1000, 1300), operation(1, 1400, 1800)]),
            log_of(vec![operation(0, 1100, 1400), operation(1, 1500, 1900)]),
        ]
    }

    #[test]
    fn bandwidths_follow_the_formulas_exactly() {
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
    fn an_iteration_lasts_from_the_first_start_to_the_last_end_of_its_operations() {
        // Two transfers of each process: the first is also opened, the last closed.
        let transfer = |times: [i64; Moment::COUNT]| {
            let times = times.map(|time| time * 1_000_000);
            Operation { iteration: 4, bytes: 600, wrong: false, times }
        };
        let one = log_of(vec![
            transfer([1000, 1000, 1100, 1100, 1200, 0, 0, 1200]),
            transfer([1200, 0, 0, 1200, 1300, 1300, 1400, 1400]),
        ]);
        let other = log_of(vec![
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
    fn an_idle_process_does_not_count_and_idle_processes_have_no_figures() {
        let [one, other] = table();
        let idle = log_of(Vec::new());
        assert_eq!(figures_of(&[&one, &other, &idle]), figures_of(&[&one, &other]));
        assert_eq!(figures_of(&[&idle]), None);
    }

    #[test]
    fn overlap_is_the_part_of_the_time_in_which_all_work() {
        let [one, other] = table();
        let overlap = figures_of(&[&one, &other]).unwrap();
        assert_eq!(overlap.overlap, 0.7 / 0.9);
        assert!(!overlap.is_overlap_poor);
        let late = log_of(vec![operation(0, 1700, 2700)]);
        let poor = figures_of(&[&one, &late]).unwrap();
        assert!(poor.is_overlap_poor && poor.overlap < 0.1, "{poor:?}");
        let apart = log_of(vec![operation(0, 2000, 2700)]);
        assert_eq!(figures_of(&[&one, &apart]).unwrap().overlap, 0.0);
    }

    #[test]
    fn readers_that_end_before_the_writers_overlap_poorly_with_them() {
        let writers = [(1000, 2000), (1010, 1990)].map(|(start, end)| log_of(vec![operation(0, start, end)]));
        let readers = [(1000, 1300), (1010, 1310)].map(|(start, end)| log_of(vec![operation(0, start, end)]));
        let idle = log_of(Vec::new());
        let logs: Vec<&ProcessLog> = writers.iter().chain(&readers).chain([&idle]).collect();
        let together = ReleasedTogether { released: 0, logs: &logs };
        for phase in [writers.each_ref(), readers.each_ref()] {
            let found = figures(&phase, together).unwrap();
            assert_eq!((found.overlap, found.is_overlap_poor), (0.29, true));
            assert!(!figures_of(&phase).unwrap().is_overlap_poor);
        }
    }

    #[test]
    fn overlap_is_the_mean_over_the_rounds() {
        let of = |iterations: [(i64, i64); 2]| {
            let [first, second] = iterations.map(|(start, end)| log_of(vec![operation(0, start, end)]));
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
    fn a_reader_that_follows_writers_works_from_its_first_poll_on() {
        let writer = log_of(vec![operation(0, 1000, 2000)]);
        let mut follower = log_of(vec![operation(0, 1900, 2000)]);
        let found = |follower: &ProcessLog| {
            let logs = [&writer, follower];
            figures(&[follower], ReleasedTogether { released: 1_000_000_000, logs: &logs }).unwrap()
        };
        assert_eq!((found(&follower).overlap, found(&follower).start_delay_s.max), (0.1, 0.9));
        follower.notes.first_poll = Some(1_100_000_000);
        assert_eq!((found(&follower).overlap, found(&follower).start_delay_s.max), (0.9, 0.1));
        assert_eq!(found(&follower).total_s, 0.1, "bandwidth is of operations");
    }

    #[test]
    fn a_start_delay_lasts_from_the_release_to_the_first_operation() {
        let [one, other] = table();
        let idle = log_of(Vec::new());
        let delays = |released: i64, logs: &[&ProcessLog]| {
            figures(logs, ReleasedTogether { released, logs }).unwrap().start_delay_s
        };
        let usual = delays(980_000_000, &[&one, &other, &idle]);
        assert_eq!((usual.min, usual.max), (0.02, 0.12));
        // The clock of another node may be slightly behind.
        assert_eq!(delays(1_000_001_000, &[&one]).max, 0.0);
    }
}
