//! What to show of a history that has no order: the shortest part of it that has none, as a table.
//!
//! What must stay true: the part shown has no order whatever the rest of the history is. So it is made by taking away what
//! an order must explain, never by taking away what may explain it: an operation that changes nothing may go, another may
//! only lose its return, and with the operations before a moment goes all knowledge of what the keys held then.

use std::fmt;

use super::{
    operation::{Clause, Key, Operation, Value},
    order::{Search, SearchResult, Slot, Stuck},
};

/// Of longer parts no operation is taken out one by one.
const TRIED_ONE_BY_ONE: usize = 400;
/// States gone through for all that makes a part shorter: what is not found by then is shown longer.
const STATES: u64 = 200_000;

/// Operations that no order explains.
#[derive(Debug)]
pub struct Window {
    /// How many the history has on these keys.
    all: usize,
    /// Those shown, in the order of their calls.
    shown: Vec<Operation>,
    /// The place among them of the one whose return nothing explains.
    last: usize,
    keys: Vec<Key>,
    /// What the keys could hold when it returned.
    possible: Vec<Vec<Slot>>,
}

/// The shortest part of a part of a history for which a search got stuck.
pub(super) fn shortest(part: &[&Operation], stuck: &Stuck) -> Window {
    let end = part[stuck.at].returned.unwrap_or(u64::MAX);
    // Nothing that began later has a say, and of what ended later only that it began.
    let begun = part.iter().filter(|one| one.called <= end);
    let cut = |one: &&Operation| match one.returned > Some(end) {
        true => (!one.is_passive()).then(|| one.unfinished()),
        false => Some((*one).clone()),
    };
    let before: Vec<Operation> = begun.filter_map(cut).collect();
    let mut left = STATES;
    let (from, first) = latest_begin(&before, &mut left);
    let mut window = since(&before, from);
    if window.len() <= TRIED_ONE_BY_ONE {
        one_by_one(&mut window, first, &mut left);
    }
    let needed = |one: &Operation| one.returned.is_some() || is_looked_for(one, &window);
    let shown: Vec<Operation> = window.iter().filter(|one| needed(one)).cloned().collect();
    let (keys, stuck) = search(&window, first, &mut { u64::MAX });
    let last = stuck.as_ref().and_then(|stuck| shown.iter().position(|one| *one == window[stuck.at]));
    let possible = stuck.map_or(Vec::new(), |stuck| stuck.possible);
    Window { all: part.len(), last: last.unwrap_or(shown.len()), shown, keys, possible }
}

/// The keys of operations, and why they have no order, if that is found within the states that are left.
fn search(operations: &[Operation], first: Slot, left: &mut u64) -> (Vec<Key>, Option<Stuck>) {
    let operations: Vec<&Operation> = operations.iter().collect();
    let mut search = Search::new(&operations, *left);
    let found = search.run(first);
    *left = left.saturating_sub(search.states);
    match found {
        SearchResult::Stuck(stuck) => (search.keys(), Some(stuck)),
        SearchResult::Order | SearchResult::Nothing => (search.keys(), None),
    }
}

/// What is left when nobody knows what was before a moment. An operation that was called before it may have taken effect
/// before it, too.
fn since(operations: &[Operation], from: u64) -> Vec<Operation> {
    let left = operations.iter().filter_map(|one| match one.called >= from {
        true => Some(one.clone()),
        false => {
            (!one.is_passive() && one.returned.is_none_or(|time| time >= from)).then(|| one.unfinished())
        }
    });
    left.collect()
}

/// The latest moment from which on the operations have no order, whatever the keys held then.
fn latest_begin(operations: &[Operation], left: &mut u64) -> (u64, Slot) {
    let mut is_offence = |from: u64| search(&since(operations, from), Slot::Any, left).1.is_some();
    if !is_offence(0) {
        return (0, Slot::Is(None));
    }
    let mut begins: Vec<u64> = operations.iter().map(|one| one.called).collect();
    begins.sort_unstable();
    let offences = begins.partition_point(|from| is_offence(*from));
    (offences.checked_sub(1).map_or(0, |last| begins[last]), Slot::Any)
}

/// Takes out, or takes the return of, every operation without which there still is no order.
fn one_by_one(window: &mut Vec<Operation>, first: Slot, left: &mut u64) {
    let mut at = 0;
    while at < window.len() {
        let mut less = window.clone();
        if less[at].is_passive() {
            less.remove(at);
        } else {
            less[at] = less[at].unfinished();
        }
        let is_less = less.get(at) != window.get(at);
        if is_less && search(&less, first, left).1.is_some() {
            // What was taken out has left its place to the next.
            at += usize::from(less.len() == window.len());
            *window = less;
        } else {
            at += 1;
        }
    }
}

/// Whether others saw or asked for something that this one may have put there.
fn is_looked_for(one: &Operation, all: &[Operation]) -> bool {
    let asked = |other: &Operation, key: Key, value: Value| {
        other.saw.contains(&(key, value))
            || other.clauses.iter().any(|clause| match clause {
                Clause::Requires(asked, held) | Clause::Unchanged(asked, held) => {
                    (*asked, *held) == (key, value)
                }
                Clause::Sets(..) => false,
            })
    };
    let mut others = all.iter().filter(|other| other.returned.is_some() && *other != one);
    others.any(|other| one.changes().any(|(key, value)| value.is_some() && asked(other, key, value)))
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, all) = (self.shown.len(), self.all);
        writeln!(
            f,
            "no order of these operations explains what they saw ({shown} of the {all} on these keys):"
        )?;
        let begin = self.shown.first().map_or(0, |one| one.called);
        let micros = |time: u64| format!("{:.1}", time.saturating_sub(begin) as f64 / 1000.0);
        writeln!(f, "  {:>7} {:>12} {:>12}  operation", "process", "called/us", "returned/us")?;
        for (at, one) in self.shown.iter().enumerate() {
            let returned = one.returned.map_or("never".to_owned(), micros);
            let mark = if at == self.last { "   <-- not this" } else { "" };
            writeln!(f, "  {:>7} {:>12} {returned:>12}  {one}{mark}", one.process, micros(one.called))?;
        }
        writeln!(f, "when it returned, there could be:")?;
        const SHOWN: usize = 8;
        for slots in self.possible.iter().take(SHOWN) {
            let slots = self.keys.iter().zip(slots).map(|(key, slot)| match slot {
                Slot::Any => format!("  k{key} anything"),
                Slot::Is(None) => format!("  k{key} nothing"),
                Slot::Is(Some(value)) => format!("  k{key} {value}"),
            });
            writeln!(f, "{}", slots.collect::<String>())?;
        }
        match self.possible.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => writeln!(f, "  or one of {more} others"),
        }
    }
}
