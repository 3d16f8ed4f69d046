//! Notes of a process beside its operations: its time by call of a library, and when steps of a forecast were available.

use std::{collections::BTreeMap, time::Instant};

use serde::{Deserialize, Serialize};

/// The notes of one process on one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Notes {
    pub(crate) profile: Profile,
    pub(crate) marks: Vec<Mark>,
    /// When a reader that follows writers first first_poll the store, in nanoseconds since 1970. Its work begins then, and not
    /// with its first operation, which waits for the writers.
    pub(crate) first_poll: Option<i64>,
    /// Steps that took longer than their window.
    pub(crate) late_steps: u64,
    pub(crate) listed: u64,
}

impl Notes {
    pub(crate) fn add(&mut self, more: Self) {
        self.profile.seconds += more.profile.seconds;
        for (name, time) in more.profile.calls {
            self.profile.calls.entry(name).or_default().add(time);
        }
        self.marks.extend(more.marks);
        self.first_poll = self.first_poll.into_iter().chain(more.first_poll).min();
        self.late_steps += more.late_steps;
        self.listed += more.listed;
    }

    pub(crate) fn shift(&mut self, nanoseconds: i64) {
        self.marks.iter_mut().for_each(|mark| mark.at += nanoseconds);
        self.first_poll = self.first_poll.map(|at| at + nanoseconds);
    }
}

/// The time of a phase by call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// Of the whole phase.
    pub(crate) seconds: f64,
    pub(crate) calls: BTreeMap<String, CallTime>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallTime {
    pub(crate) count: u64,
    pub(crate) seconds: f64,
}

impl CallTime {
    pub(crate) fn add(&mut self, more: Self) {
        (self.count, self.seconds) = (self.count + more.count, self.seconds + more.seconds);
    }
}

/// When a step of a member was available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) what: Marked,
    pub(crate) member: u32,
    pub(crate) step: u32,
    /// In nanoseconds since 1970.
    pub(crate) at: i64,
}

/// To whom it was available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Marked {
    /// To all: its writer has flushed it.
    Flushed,
    /// To a reader, which saw all of it.
    Seen,
}

/// A profile in progress.
#[derive(Debug)]
pub(crate) struct Calls {
    began: Instant,
    // There are few, so comparing names is faster than a map.
    calls: Vec<(&'static str, CallTime)>,
}

impl Calls {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), calls: Vec::new() }
    }

    pub(crate) fn time<T>(&mut self, name: &'static str, call: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let outcome = call();
        let time = CallTime { count: 1, seconds: began.elapsed().as_secs_f64() };
        match self.calls.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => sum.add(time),
            None => self.calls.push((name, time)),
        }
        outcome
    }

    pub(crate) fn end(&self) -> Profile {
        let calls = self.calls.iter().map(|(name, time)| ((*name).to_owned(), *time)).collect();
        Profile { seconds: self.began.elapsed().as_secs_f64(), calls }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_poll_counts_and_shift_moves_all_times() {
        let mark = Mark { what: Marked::Seen, member: 1, step: 2, at: 30 };
        let mut notes = Notes { first_poll: Some(20), marks: vec![mark], ..Notes::default() };
        notes.add(Notes { first_poll: Some(40), ..Notes::default() });
        notes.add(Notes::default());
        notes.shift(-5);
        assert_eq!((notes.first_poll, notes.marks[0].at), (Some(15), 25));
        let mut none = Notes::default();
        none.add(Notes { first_poll: Some(7), ..Notes::default() });
        assert_eq!(none.first_poll, Some(7));
    }

    #[test]
    fn calls_are_counted_by_name_and_take_no_longer_than_the_phase() {
        let mut calls = Calls::start();
        let sum: u32 = (0..3).map(|one| calls.time("a", || one)).sum();
        calls.time("b", || ());
        let profile = calls.end();
        assert_eq!((sum, profile.calls["a"].count, profile.calls["b"].count), (3, 3, 1));
        assert!(profile.calls.values().map(|call| call.seconds).sum::<f64>() <= profile.seconds);
    }
}
