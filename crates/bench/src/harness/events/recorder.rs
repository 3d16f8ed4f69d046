//! Writing events down while they happen: a clock and a vector, nothing that could wait.

use rustix::time::{ClockId, clock_gettime};

use super::{Moment, Notes, Operation};
use crate::Result;

/// Time that never jumps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// What the monotonic clock lacks to the system's time.
    offset: i64,
}

fn read(clock: ClockId) -> i64 {
    let now = clock_gettime(clock);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// How often both clocks are compared.
const LOOKS: usize = 8;

impl Clock {
    pub(crate) fn start() -> Self {
        let look = || [ClockId::Monotonic, ClockId::Realtime, ClockId::Monotonic].map(read);
        Self { offset: offset((0..LOOKS).map(|_| look())) }
    }

    pub(crate) fn now(self) -> i64 {
        read(ClockId::Monotonic) + self.offset
    }
}

/// What the monotonic clock, which is read before and after the system's time, lacks to it. Of several looks the quickest
/// counts: a process may have had to wait in the midst of another, and then all of its times would be wrong by that.
fn offset(looks: impl Iterator<Item = [i64; 3]>) -> i64 {
    let tightest = looks.min_by_key(|[before, _, after]| after - before);
    tightest.map_or(0, |[before, real, after]| real - before.midpoint(after))
}

/// The operations of a phase, as they are done.
#[derive(Debug)]
pub(crate) struct Recorder {
    clock: Clock,
    /// The number of the next iteration.
    next: u64,
    pub(crate) operations: Vec<Operation>,
    /// Told with them.
    pub(crate) notes: Notes,
}

/// An operation that is being done.
#[derive(Debug)]
pub(crate) struct Doing {
    clock: Clock,
    operation: Operation,
}

impl Recorder {
    #[cfg(test)]
    pub(crate) fn new(clock: Clock) -> Self {
        Self::going_on(clock, 0)
    }

    /// The time, for notes.
    pub(crate) fn now(&self) -> i64 {
        self.clock.now()
    }

    /// One that counts iterations from `next` on, for a phase that is gone through again.
    pub(crate) fn going_on(clock: Clock, next: u64) -> Self {
        Self { clock, next, operations: Vec::new(), notes: Notes::default() }
    }

    /// The number of the iteration that would come next.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Does an operation, an iteration by itself, and writes it down. One that fails is not written down.
    pub(crate) fn operation<T>(&mut self, work: impl FnOnce(&mut Doing) -> Result<T>) -> Result<T> {
        let outcome = self.operation_of_many(work)?;
        self.next += 1;
        Ok(outcome)
    }

    /// Does operations, each by [`Self::operation_of_many`], that are one iteration together.
    pub(crate) fn iteration<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = work(self)?;
        self.next += 1;
        Ok(outcome)
    }

    /// Does an operation of an iteration that has more of them.
    pub(crate) fn operation_of_many<T>(&mut self, work: impl FnOnce(&mut Doing) -> Result<T>) -> Result<T> {
        let iteration = self.next;
        let operation = Operation { iteration, bytes: 0, wrong: false, times: [0; Moment::COUNT] };
        let mut doing = Doing { clock: self.clock, operation };
        doing.mark(Moment::IoStart);
        let outcome = work(&mut doing)?;
        doing.mark(Moment::IoEnd);
        self.operations.push(doing.operation);
        Ok(outcome)
    }

    /// Whether the bytes that the last operation read are right: for a check that takes too long to be part of it.
    pub(crate) fn check_last(&mut self, is_right: bool) {
        if let Some(last) = self.operations.last_mut() {
            last.wrong |= !is_right;
        }
    }
}

impl Doing {
    fn mark(&mut self, moment: Moment) {
        self.operation.times[moment as usize] = self.clock.now();
    }

    fn between<T>(&mut self, moments: [Moment; 2], work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.mark(moments[0]);
        let outcome = work();
        self.mark(moments[1]);
        outcome
    }

    /// Finds or makes what is written to or read from.
    pub(crate) fn open<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.between([Moment::OpenStart, Moment::OpenEnd], work)
    }

    /// Moves so many bytes.
    pub(crate) fn transfer<T>(&mut self, bytes: u64, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.operation.bytes = bytes;
        self.between([Moment::TransferStart, Moment::TransferEnd], work)
    }

    /// Lets go of it, and makes it count.
    pub(crate) fn close<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.between([Moment::CloseStart, Moment::CloseEnd], work)
    }

    /// Whether the bytes that were read are right.
    pub(crate) fn check(&mut self, is_right: bool) {
        self.operation.wrong |= !is_right;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_both_clocks_that_was_interrupted_does_not_count() {
        let quick = [1_000, 501_004, 1_008];
        for slow in [[10, 900_000, 400_000], [10, 500_012, 400_000]] {
            assert_eq!(offset([slow, quick, slow].into_iter()), 500_000);
        }
        assert!(Clock::start().now() > 1_600_000_000_000_000_000);
    }

    #[test]
    fn moments_come_in_their_order_and_what_was_not_done_has_none() {
        let mut recorder = Recorder::new(Clock::start());
        let done = recorder.operation(|doing| {
            doing.open(|| Ok(()))?;
            doing.transfer(7, || Ok(()))?;
            doing.check(false);
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
    fn iterations_go_on_counting_and_one_may_have_many_operations() {
        let mut recorder = Recorder::going_on(Clock::start(), 5);
        let one = |doing: &mut Doing| doing.transfer(1, || Ok(()));
        recorder.operation(one).unwrap();
        recorder.iteration(|recorder| (0..3).try_for_each(|_| recorder.operation_of_many(one))).unwrap();
        recorder.operation(one).unwrap();
        let iterations: Vec<u64> = recorder.operations.iter().map(|one| one.iteration).collect();
        assert_eq!((&*iterations, recorder.next()), (&[5, 6, 6, 6, 7][..], 8));
    }
}
