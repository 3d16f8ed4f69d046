//! Histories: records what several processes do at the same time, and searches for an order that explains it.
//!
//! [`history_suite!`](crate::history_suite) makes a module with a test per case. Its processes put, get, commit, stage and
//! are killed. Each records its calls and answers with a [`Recorder`]. Then [`check`] searches for an order of all operations, each at
//! one moment between its call and its return, that explains every answer. With one operation on many keys being at one moment, too, that is atomic visibility; and since
//! an operation that ended before another began comes before it, no reader goes back and flushed updates are seen.
//!
//! `ISOTACH_HISTORY_SECONDS` is the time for each case (2), `ISOTACH_SEED` repeats the calls of the processes, though
//! not their timing.
//!
//! An engine joins by one line. A layer above writes its own roles, and passes their operations to [`check`].

mod cells;
mod epochs;
mod offence;
mod operation;
mod order;
mod parts;
mod processes;
mod record;
mod roles;
#[cfg(test)]
mod tests;

use std::{error, fmt};

pub use offence::Window;
pub use operation::{Clause, GARBLED, Key, Operation, Outcome, Value};
pub use record::{Call, Recorder, now, operations};

use order::{Search, SearchResult, Slot};
pub(super) use processes::play;
use roles::Kind;

use super::trial::Trial;

/// Get, put, put if absent, compare and put, and remove, of keys one by one.
#[doc(hidden)]
pub fn operations_on_single_keys_have_an_order(trial: &Trial<'_>) {
    processes::check_histories(trial, Kind::Singles);
}

/// Transactions of entries and arrays, whole and staged, and every way to read several keys at once.
#[doc(hidden)]
pub fn transactions_have_an_order_and_are_seen_whole(trial: &Trial<'_>) {
    if trial.has_transactions() {
        processes::check_histories(trial, Kind::Groups);
    }
}

/// Figures of a history that has an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// Operations.
    pub operations: usize,
    /// Those of them that never returned.
    pub unfinished: usize,
    /// Parts without a key in common.
    pub parts: usize,
    /// States that the search went through.
    pub states: u64,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operations, unfinished, parts, states } = self;
        write!(f, "{operations} operations ({unfinished} without a return), {parts} parts, {states} states")
    }
}

/// The most states of a search in one part of a history. A true history needs few of them.
const STATES_MAX: u64 = 20_000_000;

/// Why a history is impossible, or not known to be possible.
#[derive(Debug)]
pub enum Offence {
    /// No order of the operations explains what they saw.
    NoOrder(Box<Window>),
    /// The search for an order takes too long, with this many operations on some keys.
    TooLong(usize),
    /// The second began after the first had ended, and has an earlier epoch.
    EpochGoesBack(Box<[Operation; 2]>),
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOrder(window) => write!(f, "{window}"),
            Self::TooLong(operations) => {
                write!(f, "{STATES_MAX} states do not decide whether {operations} operations have an order")
            }
            Self::EpochGoesBack(two) => {
                writeln!(f, "an epoch goes back:")?;
                two.iter().try_for_each(|one| {
                    let Operation { process, called, returned, epoch, .. } = one;
                    writeln!(f, "  process {process}, {called} to {returned:?}: {one}, epoch {epoch:?}")
                })
            }
        }
    }
}

impl error::Error for Offence {}

/// Searches for an order of these operations that explains every answer. At first all keys are absent.
///
/// ```
/// use isotach_object_conformance::history::{Operation, Outcome, Clause, check};
/// let operation = |name: &str, called, clauses: &[Clause], saw: &[_]| Operation {
///     process: 1,
///     name: name.to_owned(),
///     called,
///     returned: Some(called + 1),
///     clauses: clauses.to_vec(),
///     saw: saw.to_vec(),
///     outcome: Outcome::Done,
///     epoch: None,
/// };
/// let put = operation("put", 0, &[Clause::Sets(6, Some(42))], &[]);
/// let seen = operation("get", 5, &[], &[(6, Some(42))]);
/// let stale = operation("get", 8, &[], &[(6, None)]);
/// assert!(check(&[put.clone(), seen]).is_ok());
/// assert!(check(&[put, stale]).is_err());
/// ```
///
/// # Errors
/// The shortest part of the history that has no such order, or two operations whose epochs contradict their times.
pub fn check(operations: &[Operation]) -> Result<Checked, Offence> {
    if let Some(two) = epochs::backward(operations) {
        return Err(Offence::EpochGoesBack(Box::new(two.map(Operation::clone))));
    }
    let parts = parts::parts(operations);
    let mut states = 0;
    for part in &parts {
        let mut search = Search::new(part, STATES_MAX);
        match search.run(Slot::Is(None)) {
            SearchResult::Order => {}
            SearchResult::Stuck(stuck) => {
                return Err(Offence::NoOrder(Box::new(offence::shortest(part, &stuck))));
            }
            SearchResult::Nothing => return Err(Offence::TooLong(part.len())),
        }
        states += search.states;
    }
    let unfinished = operations.iter().filter(|one| one.returned.is_none()).count();
    Ok(Checked { operations: operations.len(), unfinished, parts: parts.len(), states })
}
