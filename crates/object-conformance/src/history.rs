//! Histories: what several processes did at once is written down, and an order is looked for that explains it.
//!
//! [`history_suite!`](crate::history_suite) makes a module with a test per case. Its processes put, get, commit, stage and
//! are killed, each writing down with a [`Recorder`] what it asked and what it
//! saw. Then [`check`] looks for an order of all operations, each at one moment between its call and its return, that
//! explains every answer. With one operation on many keys being at one moment, too, that is atomic visibility; and since
//! what ended before another began comes before it, no reader goes back and what was flushed is seen.
//!
//! `ISOTACH_HISTORY_SECONDS` is the time for each case (2), `ISOTACH_SEED` makes the processes ask the same again, which is
//! not to say that they meet in the same way.
//!
//! An engine joins by one line; a layer above writes its own roles, and gives their operations to [`check`].

mod cells;
mod crew;
mod epochs;
mod offence;
mod operation;
mod order;
mod parts;
mod record;
mod roles;
#[cfg(test)]
mod tests;

use std::{error, fmt};

pub use offence::Window;
pub use operation::{GARBLED, Key, Operation, Outcome, Part, Value};
pub use record::{Call, Recorder, now, operations};

pub(super) use crew::play;
use order::{Found, Search, Slot};
use roles::Kind;

use super::trial::Trial;

/// Get, put, put if absent, compare and put, and remove, of keys one by one.
#[doc(hidden)]
pub fn what_happens_to_single_keys_has_an_order(trial: &Trial<'_>) {
    crew::check_histories(trial, Kind::Singles);
}

/// Transactions of entries and arrays, whole and staged, and every way to look at several keys at once.
#[doc(hidden)]
pub fn transactions_have_an_order_and_are_seen_whole(trial: &Trial<'_>) {
    if trial.has_transactions() {
        crew::check_histories(trial, Kind::Groups);
    }
}

/// What was looked at of a history that has an order.
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

/// States that the search goes through for one part of a history. A true history needs a small part of these.
const MOST_STATES: u64 = 20_000_000;

/// Why a history cannot be, or is not known to be.
#[derive(Debug)]
pub enum Offence {
    /// No order of the operations explains what they saw.
    NoOrder(Box<Window>),
    /// There may be an order, and finding it takes too long: so many operations on some keys.
    TooLong(usize),
    /// The second began after the first had ended, and gave an earlier epoch.
    EpochGoesBack(Box<[Operation; 2]>),
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOrder(window) => write!(f, "{window}"),
            Self::TooLong(operations) => {
                write!(f, "{MOST_STATES} states do not tell whether {operations} operations have an order")
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

/// Looks for an order of these operations that explains what each of them saw. At first all keys hold nothing.
///
/// ```
/// use isotach_object_conformance::history::{Operation, Outcome, Part, check};
/// let operation = |name: &str, called, parts: &[Part], saw: &[_]| Operation {
///     process: 1,
///     name: name.to_owned(),
///     called,
///     returned: Some(called + 1),
///     parts: parts.to_vec(),
///     saw: saw.to_vec(),
///     outcome: Outcome::Done,
///     epoch: None,
/// };
/// let put = operation("put", 0, &[Part::Sets(6, Some(42))], &[]);
/// let seen = operation("get", 5, &[], &[(6, Some(42))]);
/// let stale = operation("get", 8, &[], &[(6, None)]);
/// assert!(check(&[put.clone(), seen]).is_ok());
/// assert!(check(&[put, stale]).is_err());
/// ```
///
/// # Errors
/// The shortest part of the history that has no such order, or two operations whose epochs are against the time.
pub fn check(operations: &[Operation]) -> Result<Checked, Offence> {
    if let Some(two) = epochs::backward(operations) {
        return Err(Offence::EpochGoesBack(Box::new(two.map(Operation::clone))));
    }
    let parts = parts::parts(operations);
    let mut states = 0;
    for part in &parts {
        let mut search = Search::new(part, MOST_STATES);
        match search.run(Slot::Is(None)) {
            Found::Order => {}
            Found::Stuck(stuck) => return Err(Offence::NoOrder(Box::new(offence::shortest(part, &stuck)))),
            Found::Nothing => return Err(Offence::TooLong(part.len())),
        }
        states += search.states;
    }
    let unfinished = operations.iter().filter(|one| one.returned.is_none()).count();
    Ok(Checked { operations: operations.len(), unfinished, parts: parts.len(), states })
}
