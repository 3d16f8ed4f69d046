//! What a process notes beside its operations: how its time went over the calls of a library, and when steps of a forecast
//! were there.

use std::{collections::BTreeMap, time::Instant};

use serde::{Deserialize, Serialize};

/// The notes of one process on one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Notes {
    pub(crate) profile: Profile,
    pub(crate) marks: Vec<Mark>,
    /// When one who follows writers first asked the store, in nanoseconds since 1970: its work begins with that, and not
    /// with the first operation, which has to wait for the writers.
    #[serde(default)]
    pub(crate) asked: Option<i64>,
    /// Steps that took longer than their window.
    pub(crate) late_steps: u64,
    /// Fields that were listed.
    pub(crate) listed: u64,
}

impl Notes {
    /// Adds those of another time that the process went through the phase.
    pub(crate) fn add(&mut self, more: Self) {
        self.profile.seconds += more.profile.seconds;
        for (name, time) in more.profile.calls {
            let sum = self.profile.calls.entry(name).or_default();
            (sum.count, sum.seconds) = (sum.count + time.count, sum.seconds + time.seconds);
        }
        self.marks.extend(more.marks);
        self.asked = self.asked.into_iter().chain(more.asked).min();
        self.late_steps += more.late_steps;
        self.listed += more.listed;
    }

    /// Moves all times.
    pub(crate) fn shift(&mut self, nanoseconds: i64) {
        self.marks.iter_mut().for_each(|mark| mark.at += nanoseconds);
        self.asked = self.asked.map(|at| at + nanoseconds);
    }
}

/// How the time of a phase went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// All of the phase.
    pub(crate) seconds: f64,
    pub(crate) calls: BTreeMap<String, CallTime>,
}

/// How often something was called, and how long that took altogether.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallTime {
    pub(crate) count: u64,
    pub(crate) seconds: f64,
}

/// When a step of a member was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) what: Marked,
    pub(crate) member: u32,
    pub(crate) step: u32,
    /// In nanoseconds since 1970.
    pub(crate) at: i64,
}

/// For whom it was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Marked {
    /// Its writer had flushed it.
    Flushed,
    /// A reader saw it whole.
    Seen,
}

/// Calls that are being timed.
#[derive(Debug)]
pub(crate) struct Calls {
    began: Instant,
    // Few and known: comparing their names is quicker than anything that would find one.
    calls: Vec<(&'static str, CallTime)>,
}

impl Calls {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), calls: Vec::new() }
    }

    /// Makes a call.
    pub(crate) fn time<T>(&mut self, name: &'static str, call: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let outcome = call();
        let seconds = began.elapsed().as_secs_f64();
        let place = self.calls.iter().position(|(there, _)| *there == name).unwrap_or_else(|| {
            self.calls.push((name, CallTime::default()));
            self.calls.len() - 1
        });
        let time = &mut self.calls[place].1;
        (time.count, time.seconds) = (time.count + 1, time.seconds + seconds);
        outcome
    }

    /// How the time went until now.
    pub(crate) fn end(&self) -> Profile {
        let calls = self.calls.iter().map(|(name, time)| ((*name).to_owned(), *time)).collect();
        Profile { seconds: self.began.elapsed().as_secs_f64(), calls }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_question_of_several_times_counts_and_all_times_move_together() {
        let mark = Mark { what: Marked::Seen, member: 1, step: 2, at: 30 };
        let mut notes = Notes { asked: Some(20), marks: vec![mark], ..Notes::default() };
        notes.add(Notes { asked: Some(40), ..Notes::default() });
        notes.add(Notes::default());
        notes.shift(-5);
        assert_eq!((notes.asked, notes.marks[0].at), (Some(15), 25));
        let mut none = Notes::default();
        none.add(Notes { asked: Some(7), ..Notes::default() });
        assert_eq!(none.asked, Some(7));
    }

    #[test]
    fn calls_are_counted_by_name_and_take_no_longer_than_the_whole() {
        let mut calls = Calls::start();
        let sum: u32 = (0..3).map(|one| calls.time("a", || one)).sum();
        calls.time("b", || ());
        let profile = calls.end();
        assert_eq!((sum, profile.calls["a"].count, profile.calls["b"].count), (3, 3, 1));
        assert!(profile.calls.values().map(|call| call.seconds).sum::<f64>() <= profile.seconds);
    }
}
