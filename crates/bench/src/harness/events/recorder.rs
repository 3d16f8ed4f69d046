//! Recording events: a clock and a vector, nothing that could block.

use rustix::time::{ClockId, clock_gettime};

use super::{Moment, Notes, Operation};
use crate::Result;

/// Time that never jumps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// What to add to the monotonic clock to get the system's time.
    offset: i64,
}

fn read(clock: ClockId) -> i64 {
    let now = clock_gettime(clock);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Comparisons of both clocks.
const SAMPLES: usize = 8;

impl Clock {
    pub(crate) fn start() -> Self {
        let sample = || [ClockId::Monotonic, ClockId::Realtime, ClockId::Monotonic].map(read);
        Self { offset: offset((0..SAMPLES).map(|_| sample())) }
    }

    pub(crate) fn now(self) -> i64 {
        read(ClockId::Monotonic) + self.offset
    }
}

/// The offset from samples of the monotonic clock, the system's time, and the monotonic clock again. The quickest sample
/// counts: if the process had to wait during a sample, all of its times would be wrong by that.
fn offset(samples: impl Iterator<Item = [i64; 3]>) -> i64 {
    let tightest = samples.min_by_key(|[before, _, after]| after - before);
    tightest.map_or(0, |[before, real, after]| real - before.midpoint(after))
}

#[derive(Debug)]
pub(crate) struct Recorder {
    clock: Clock,
    next: u64,
    pub(crate) operations: Vec<Operation>,
    pub(crate) notes: Notes,
}

/// The timer of an operation in progress.
#[derive(Debug)]
pub(crate) struct Timer {
    clock: Clock,
    operation: Operation,
}

impl Recorder {
    /// A recorder that counts iterations from `next` on.
    pub(crate) fn new(clock: Clock, next: u64) -> Self {
        Self { clock, next, operations: Vec::new(), notes: Notes::default() }
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now()
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Records an operation that is an iteration by itself. One that fails is not recorded.
    pub(crate) fn operation<T>(&mut self, work: impl FnOnce(&mut Timer) -> Result<T>) -> Result<T> {
        let outcome = self.operation_of_many(work)?;
        self.next += 1;
        Ok(outcome)
    }

    /// Records an iteration of several operations, each by [`Self::operation_of_many`].
    pub(crate) fn iteration<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = work(self)?;
        self.next += 1;
        Ok(outcome)
    }

    /// Records one of the operations of an iteration.
    pub(crate) fn operation_of_many<T>(&mut self, work: impl FnOnce(&mut Timer) -> Result<T>) -> Result<T> {
        let operation = Operation { iteration: self.next, ..Operation::default() };
        let mut timer = Timer { clock: self.clock, operation };
        timer.mark(Moment::IoStart);
        let outcome = work(&mut timer)?;
        timer.mark(Moment::IoEnd);
        self.operations.push(timer.operation);
        Ok(outcome)
    }

    /// Records whether the last operation read the right bytes, for checks that are too slow to be part of it.
    pub(crate) fn check_last(&mut self, is_right: bool) {
        if let Some(last) = self.operations.last_mut() {
            last.wrong |= !is_right;
        }
    }
}

impl Timer {
    fn mark(&mut self, moment: Moment) {
        self.operation.times[moment as usize] = self.clock.now();
    }

    fn between<T>(&mut self, moments: [Moment; 2], work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.mark(moments[0]);
        let outcome = work();
        self.mark(moments[1]);
        outcome
    }

    /// Times opening: finding or creating what is written or read.
    pub(crate) fn open<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.between([Moment::OpenStart, Moment::OpenEnd], work)
    }

    /// Times the transfer of so many bytes.
    pub(crate) fn transfer<T>(&mut self, bytes: u64, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.operation.bytes = bytes;
        self.between([Moment::TransferStart, Moment::TransferEnd], work)
    }

    /// Times closing, and making a write durable.
    pub(crate) fn close<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.between([Moment::CloseStart, Moment::CloseEnd], work)
    }

    pub(crate) fn check(&mut self, is_right: bool) {
        self.operation.wrong |= !is_right;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_comparison_of_clocks_does_not_count() {
        let quick = [1_000, 501_004, 1_008];
        for slow in [[10, 900_000, 400_000], [10, 500_012, 400_000]] {
            assert_eq!(offset([slow, quick, slow].into_iter()), 500_000);
        }
        assert!(Clock::start().now() > 1_600_000_000_000_000_000);
    }

    #[test]
    fn moments_are_in_order_and_missing_ones_are_zero() {
        let mut recorder = Recorder::new(Clock::start(), 0);
        let done = recorder.operation(|timer| {
            timer.open(|| Ok(()))?;
            timer.transfer(7, || Ok(()))?;
            timer.check(false);
            Ok("done")
        });
        assert_eq!(done.unwrap(), "done");
        let one = recorder.operations[0];
        let [start, .., end] = one.times;
        assert!(start > 0 && end >= start && one.times[..5].is_sorted(), "{one:?}");
        assert_eq!((one.at(Moment::CloseStart), one.at(Moment::CloseEnd)), (0, 0));
        assert_eq!((one.iteration, one.bytes, one.wrong), (0, 7, true));
        let failed = recorder.operation(|_| Err::<(), _>(crate::Error::wrong("a", "b")));
        assert!(failed.is_err() && recorder.operations.len() == 1);
    }

    #[test]
    fn iterations_continue_counting_and_may_have_many_operations() {
        let mut recorder = Recorder::new(Clock::start(), 5);
        let one = |timer: &mut Timer| timer.transfer(1, || Ok(()));
        recorder.operation(one).unwrap();
        recorder.iteration(|recorder| (0..3).try_for_each(|_| recorder.operation_of_many(one))).unwrap();
        recorder.operation(one).unwrap();
        let iterations: Vec<u64> = recorder.operations.iter().map(|one| one.iteration).collect();
        assert_eq!((&*iterations, recorder.next()), (&[5, 6, 6, 6, 7][..], 8));
    }
}
