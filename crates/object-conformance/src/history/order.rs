//! Whether there is an order of operations, each at a moment between its call and its return, that explains all that
//! they saw: linearizability, by Wing and Gong's search, as late as possible, as Lowe does it.
//!
//! Calls and returns are gone through in the order of time. What is carried along is every state in which the keys can be,
//! with the operations that have taken effect and not returned yet. Only a return forces anything: the operation that
//! returns must have taken effect by then, and others that are called already may have done so before it. When no state is
//! left, there is no such order.
//!
//! Two things keep the states few, and neither changes the answer. An operation that changes nothing takes effect as soon
//! as what it saw is there. Of two states that hold the same, the one with more operations left that never return is kept.

use std::collections::{HashMap, HashSet};

use super::operation::{Clause, Key, Operation, Outcome, Value};

/// What a key can be said to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// Anything; the first operation that reads it decides.
    Any,
    Is(Value),
}

/// One of the possible states.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Config {
    slots: Vec<Slot>,
    /// Operations called and not returned that took effect, sorted.
    ahead: Vec<usize>,
    /// Those of them that never return, sorted.
    lost: Vec<usize>,
}

/// Why there is no order.
#[derive(Debug)]
pub(super) struct Stuck {
    /// The operation whose return has no explanation.
    pub(super) at: usize,
    /// What the keys could hold then, in the order of the keys.
    pub(super) possible: Vec<Vec<Slot>>,
}

/// What came of a search.
#[derive(Debug)]
pub(super) enum SearchResult {
    Order,
    Stuck(Stuck),
    /// It went through as many states as it may.
    Nothing,
}

/// Operations on some keys. Operations on other keys are independent of them.
pub(super) struct Search<'h> {
    operations: &'h [&'h Operation],
    /// The place of each key in a state.
    places: HashMap<Key, usize>,
    open: Vec<usize>,
    /// States searched.
    pub(super) states: u64,
    /// How many it may go through.
    most: u64,
}

impl<'h> Search<'h> {
    /// A search through so many states at most.
    pub(super) fn new(operations: &'h [&'h Operation], most: u64) -> Self {
        let mut keys: Vec<Key> = operations.iter().flat_map(|operation| operation.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        let places = keys.into_iter().enumerate().map(|(place, key)| (key, place)).collect();
        Self { operations, places, open: Vec::new(), states: 0, most }
    }

    /// The keys, in the order of a state's slots.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.places.keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    /// Looks for an order from the state in which all keys hold `first`.
    pub(super) fn run(&mut self, first: Slot) -> SearchResult {
        let slots = vec![first; self.places.len()];
        let mut configs = vec![Config { slots, ahead: Vec::new(), lost: Vec::new() }];
        for (_, is_return, at) in events(self.operations) {
            if !is_return {
                if self.operations[at].returned.is_some() || !self.operations[at].is_passive() {
                    self.open.push(at);
                    configs.iter_mut().for_each(|config| self.settle(config, &[at]));
                }
                continue;
            }
            let Some(next) = self.take_effect(&configs, at) else { return SearchResult::Nothing };
            if next.is_empty() {
                let mut possible: Vec<Vec<Slot>> = configs.into_iter().map(|config| config.slots).collect();
                possible.sort_by_key(|slots| format!("{slots:?}"));
                possible.dedup();
                return SearchResult::Stuck(Stuck { at, possible });
            }
            self.open.retain(|open| *open != at);
            configs = next;
        }
        SearchResult::Order
    }

    /// All states that can be when `at` returns; none where they are too many.
    fn take_effect(&mut self, configs: &[Config], at: usize) -> Option<Vec<Config>> {
        let mut reached = HashSet::new();
        let mut seen: HashSet<Config> = configs.iter().cloned().collect();
        let mut stack = configs.to_vec();
        while let Some(config) = stack.pop() {
            self.states += 1;
            if self.states > self.most {
                return None;
            }
            if let Ok(place) = config.ahead.binary_search(&at) {
                let mut config = config;
                config.ahead.remove(place);
                reached.insert(config);
                continue;
            }
            for next in self.open.iter().filter_map(|open| self.with(&config, *open)) {
                if seen.insert(next.clone()) {
                    stack.push(next);
                }
            }
        }
        Some(without_needless(reached))
    }

    /// The state after one more open operation.
    fn with(&self, config: &Config, at: usize) -> Option<Config> {
        let is_lost = self.operations[at].returned.is_none();
        let gone = if is_lost { &config.lost } else { &config.ahead };
        let place = gone.binary_search(&at).err()?;
        let slots = self.step(&config.slots, self.operations[at])?;
        let mut next = Config { slots, ..config.clone() };
        if is_lost { &mut next.lost } else { &mut next.ahead }.insert(place, at);
        self.settle(&mut next, &self.open);
        Some(next)
    }

    /// Lets those of `which` take effect that see the present state and change nothing.
    fn settle(&self, config: &mut Config, which: &[usize]) {
        for at in which.iter().filter(|at| self.operations[**at].is_passive()) {
            let Err(place) = config.ahead.binary_search(at) else { continue };
            if self.step(&config.slots, self.operations[*at]).is_some_and(|slots| slots == config.slots) {
                config.ahead.insert(place, *at);
            }
        }
    }

    /// What the keys hold after an operation; none if it cannot take effect here.
    fn step(&self, slots: &[Slot], operation: &Operation) -> Option<Vec<Slot>> {
        let mut slots = slots.to_vec();
        if operation.outcome == Outcome::Refused {
            return self.may_be_refused(&slots, operation).then_some(slots);
        }
        let required = operation.clauses.iter().filter_map(|clause| match clause {
            Clause::Requires(key, value) | Clause::Unchanged(key, value) => Some((*key, *value)),
            Clause::Sets(..) => None,
        });
        for (key, value) in required.chain(operation.saw.iter().copied()) {
            let slot = &mut slots[self.places[&key]];
            if *slot == Slot::Any {
                *slot = Slot::Is(value);
            }
            if *slot != Slot::Is(value) {
                return None;
            }
        }
        operation.changes().for_each(|(key, value)| slots[self.places[&key]] = Slot::Is(value));
        Some(slots)
    }

    /// Whether a requirement may fail here.
    fn may_be_refused(&self, slots: &[Slot], operation: &Operation) -> bool {
        operation.clauses.iter().any(|clause| match clause {
            Clause::Requires(key, value) => slots[self.places[key]] != Slot::Is(*value),
            Clause::Unchanged(..) => true,
            Clause::Sets(..) => false,
        })
    }
}

/// Calls and returns in the order of time: the time, whether it is a return, and whose. Of one moment the calls come first,
/// so that these operations may be in any order.
fn events(operations: &[&Operation]) -> Vec<(u64, bool, usize)> {
    let calls = operations.iter().enumerate().map(|(at, one)| (one.called, false, at));
    let returns = operations.iter().enumerate().filter_map(|(at, one)| Some((one.returned?, true, at)));
    let mut events: Vec<_> = calls.chain(returns).collect();
    events.sort_unstable();
    events
}

/// Without the states from which nothing can come that does not come from another: one that holds the same, and for which
/// fewer of the operations that never return had to take effect.
fn without_needless(configs: HashSet<Config>) -> Vec<Config> {
    type Same = (Vec<Slot>, Vec<usize>);
    let mut kinds: HashMap<Same, Vec<Vec<usize>>> = HashMap::new();
    for Config { slots, ahead, lost } in configs {
        let kind = kinds.entry((slots, ahead)).or_default();
        let is_within = |inner: &[usize], outer: &[usize]| inner.iter().all(|at| outer.contains(at));
        if !kind.iter().any(|other| is_within(other, &lost)) {
            kind.retain(|other| !is_within(&lost, other));
            kind.push(lost);
        }
    }
    let kinds = kinds.into_iter();
    kinds
        .flat_map(|((slots, ahead), kind)| {
            kind.into_iter().map(move |lost| Config { slots: slots.clone(), ahead: ahead.clone(), lost })
        })
        .collect()
}
