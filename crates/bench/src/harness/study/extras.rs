//! Figures from the notes of processes: the time of a phase by call, and the freshness of what readers saw.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::harness::{
    events::{CallTime, Mark, Marked, ProcessLog},
    launcher::{Phase, RunOutcome},
    metrics::Figures,
    spread::Spread,
};

/// Readers are behind if they see more than this part of the steps only after the next one.
const BEHIND_MAX: f64 = 0.5;
/// The rest of a phase, outside of the recorded calls.
pub(crate) const OTHER: &str = "other";

/// Figures that only some workloads have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Extras {
    /// For each call its count, its seconds and its share of the time of a process; means over the processes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) profile: BTreeMap<String, CallShare>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) freshness: Option<Freshness>,
    /// Steps that took longer than their window, over all processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) late_steps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) listed_per_s: Option<f64>,
    /// The largest possible difference between the clocks of two nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clock_uncertainty_s: Option<f64>,
}

/// The part of a call in a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallShare {
    pub(crate) count: f64,
    pub(crate) seconds: f64,
    pub(crate) share: f64,
}

/// The delay between the flush of a step of a member and its first complete read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Freshness {
    pub(crate) steps: usize,
    pub(crate) delay_s: Spread,
    /// The part of the steps that was seen only after the writer had flushed its next one.
    pub(crate) behind: f64,
    /// Whether readers could not keep up.
    pub(crate) is_behind: bool,
}

impl Extras {
    /// The figures of one phase of a run, which depend on the other phases.
    pub(crate) fn of(phase: &Phase, outcome: &RunOutcome, figures: &Figures) -> Self {
        let logs: Vec<&ProcessLog> = phase.all().collect();
        let all = outcome.phases.iter().flat_map(marks);
        let late_steps = logs.iter().map(|log| log.notes.late_steps).sum();
        let listed: u64 = logs.iter().map(|log| log.notes.listed).sum();
        Self {
            profile: profile(&logs),
            freshness: freshness(marks(phase), all),
            late_steps: Some(late_steps).filter(|steps| *steps > 0),
            listed_per_s: Some(listed as f64 / figures.total_s).filter(|_| listed > 0),
            clock_uncertainty_s: outcome.clock_uncertainty_s,
        }
    }
}

fn marks(phase: &Phase) -> impl Iterator<Item = &Mark> {
    phase.all().flat_map(|log| &log.notes.marks)
}

/// The means over the processes that timed their calls.
fn profile(logs: &[&ProcessLog]) -> BTreeMap<String, CallShare> {
    let profiles: Vec<_> =
        logs.iter().map(|log| &log.notes.profile).filter(|profile| !profile.calls.is_empty()).collect();
    let processes = profiles.len() as f64;
    let mut sums: BTreeMap<String, CallTime> = BTreeMap::new();
    for (name, time) in profiles.iter().flat_map(|profile| &profile.calls) {
        sums.entry(name.clone()).or_default().add(*time);
    }
    let whole: f64 = profiles.iter().map(|profile| profile.seconds).sum();
    let rest = whole - sums.values().map(|sum| sum.seconds).sum::<f64>();
    if !sums.is_empty() {
        sums.insert(OTHER.to_owned(), CallTime { count: 0, seconds: rest.max(0.0) });
    }
    let share = |sum: CallTime| CallShare {
        count: sum.count as f64 / processes,
        seconds: sum.seconds / processes,
        share: sum.seconds / whole,
    };
    sums.into_iter().map(|(name, sum)| (name, share(sum))).collect()
}

fn freshness<'m>(
    own: impl Iterator<Item = &'m Mark>,
    all: impl Iterator<Item = &'m Mark>,
) -> Option<Freshness> {
    let flushed: BTreeMap<(u32, u32), i64> = all
        .filter(|mark| mark.what == Marked::Flushed)
        .map(|mark| ((mark.member, mark.step), mark.at))
        .collect();
    let (mut delays, mut behind) = (Vec::new(), 0);
    for mark in own.filter(|mark| mark.what == Marked::Seen) {
        let Some(at) = flushed.get(&(mark.member, mark.step)) else { continue };
        // A reader may see a step before the flush of the writer has returned.
        delays.push((mark.at - at).max(0) as f64 / 1e9);
        let next = flushed.get(&(mark.member, mark.step + 1));
        behind += usize::from(next.is_some_and(|next| mark.at > *next));
    }
    let steps = delays.len();
    let behind = behind as f64 / steps as f64;
    (steps > 0).then(|| Freshness {
        steps,
        delay_s: Spread::of(delays),
        behind,
        is_behind: behind > BEHIND_MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::events::{Notes, Profile};

    fn mark(what: Marked, step: u32, at_ms: i64) -> Mark {
        Mark { what, member: 1, step, at: at_ms * 1_000_000 }
    }

    #[test]
    fn freshness_is_the_time_from_the_end_of_a_flush_to_the_first_complete_read() {
        let flushed = [100, 200, 300].into_iter().enumerate();
        let flushed: Vec<Mark> = flushed.map(|(step, at)| mark(Marked::Flushed, step as u32, at)).collect();
        let seen = [mark(Marked::Seen, 0, 150), mark(Marked::Seen, 1, 310), mark(Marked::Seen, 2, 299)];
        let found = freshness(seen.iter(), flushed.iter().chain(&seen)).unwrap();
        assert_eq!((found.delay_s.max, found.delay_s.min, found.delay_s.median), (0.11, 0.0, 0.05));
        assert_eq!((found.steps, found.behind, found.is_behind), (3, 1.0 / 3.0, false));
        assert_eq!(freshness(flushed.iter(), flushed.iter()), None, "nothing was seen");
    }

    #[test]
    fn a_profile_is_the_mean_over_processes_and_its_shares_add_up() {
        let log = |seconds: f64| {
            let calls = BTreeMap::from([("archive".to_owned(), CallTime { count: 4, seconds })]);
            ProcessLog {
                notes: Notes { profile: Profile { seconds: 4.0, calls }, ..Notes::default() },
                ..ProcessLog::default()
            }
        };
        let logs = [log(1.0), log(3.0), ProcessLog::default()];
        let found = profile(&logs.iter().collect::<Vec<_>>());
        assert_eq!(found["archive"], CallShare { count: 4.0, seconds: 2.0, share: 0.5 });
        assert_eq!(found[OTHER].share, 0.5);
    }
}
