//! What a study makes of the notes of its processes: how the time of a phase went over calls, and how fresh what readers saw
//! was.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::harness::{
    events::{CallTime, Mark, Marked, Part},
    launcher::{Played, PlayedPhase},
    metrics::{Figures, Spread},
};

/// Readers that see more than this part of the steps only after the next one are behind.
const BEHIND_MAX: f64 = 0.5;
/// What of a phase is none of the calls that are told apart.
pub(crate) const OTHER: &str = "other";

/// Figures that only some workloads have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Extras {
    /// Of each call: how often a process made it, how long it took, and its share of the process's time; means over the
    /// processes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) profile: BTreeMap<String, Share>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) freshness: Option<Freshness>,
    /// Steps that took longer than their window, over all processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) late_steps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) listed_per_s: Option<f64>,
    /// By how much the clocks of two nodes may differ, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clock_uncertainty_s: Option<f64>,
}

/// A call's part of a phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Share {
    pub(crate) count: f64,
    pub(crate) seconds: f64,
    pub(crate) share: f64,
}

/// How long after a step of a member was flushed a reader saw all of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Freshness {
    pub(crate) steps: usize,
    pub(crate) delay_s: Spread,
    /// The part of the steps that was seen only when the writer had flushed its next one.
    pub(crate) behind: f64,
    /// Whether readers could not keep up.
    pub(crate) is_behind: bool,
}

impl Extras {
    /// Those of one phase of a play, which needs all phases.
    pub(crate) fn of(phase: &PlayedPhase, played: &Played, figures: &Figures) -> Self {
        let parts: Vec<&Part> = phase.all().collect();
        let all = played.phases.iter().flat_map(marks);
        let late_steps = parts.iter().map(|part| part.notes.late_steps).sum();
        let listed: u64 = parts.iter().map(|part| part.notes.listed).sum();
        Self {
            profile: profile(&parts),
            freshness: freshness(marks(phase), all),
            late_steps: Some(late_steps).filter(|steps| *steps > 0),
            listed_per_s: Some(listed as f64 / figures.total_s).filter(|_| listed > 0),
            clock_uncertainty_s: played.clock_uncertainty_s,
        }
    }
}

fn marks(phase: &PlayedPhase) -> impl Iterator<Item = &Mark> {
    phase.all().flat_map(|part| &part.notes.marks)
}

/// The mean over the processes that timed their calls.
fn profile(parts: &[&Part]) -> BTreeMap<String, Share> {
    let profiles: Vec<_> =
        parts.iter().map(|part| &part.notes.profile).filter(|profile| !profile.calls.is_empty()).collect();
    let processes = profiles.len() as f64;
    let mut sums: BTreeMap<String, CallTime> = BTreeMap::new();
    for (name, time) in profiles.iter().flat_map(|profile| &profile.calls) {
        let sum = sums.entry(name.clone()).or_default();
        (sum.count, sum.seconds) = (sum.count + time.count, sum.seconds + time.seconds);
    }
    let whole: f64 = profiles.iter().map(|profile| profile.seconds).sum();
    let rest = whole - sums.values().map(|sum| sum.seconds).sum::<f64>();
    if !sums.is_empty() {
        sums.insert(OTHER.to_owned(), CallTime { count: 0, seconds: rest.max(0.0) });
    }
    let share = |sum: CallTime| Share {
        count: sum.count as f64 / processes,
        seconds: sum.seconds / processes,
        share: sum.seconds / whole,
    };
    sums.into_iter().map(|(name, sum)| (name, share(sum))).collect()
}

/// What readers saw of what writers flushed.
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
        // A reader may see a step before the writer has come back from its flush.
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
    fn freshness_is_from_the_end_of_a_flush_to_the_look_that_saw_the_step() {
        let flushed = [100, 200, 300].into_iter().enumerate();
        let flushed: Vec<Mark> = flushed.map(|(step, at)| mark(Marked::Flushed, step as u32, at)).collect();
        let seen = [mark(Marked::Seen, 0, 150), mark(Marked::Seen, 1, 310), mark(Marked::Seen, 2, 299)];
        let found = freshness(seen.iter(), flushed.iter().chain(&seen)).unwrap();
        assert_eq!((found.delay_s.max, found.delay_s.min, found.delay_s.median), (0.11, 0.0, 0.05));
        assert_eq!((found.steps, found.behind, found.is_behind), (3, 1.0 / 3.0, false));
        assert_eq!(freshness(flushed.iter(), flushed.iter()), None, "nothing was seen");
    }

    #[test]
    fn a_profile_is_the_mean_over_processes_and_its_shares_are_the_whole() {
        let part = |seconds: f64| {
            let calls = BTreeMap::from([("archive".to_owned(), CallTime { count: 4, seconds })]);
            Part {
                notes: Notes { profile: Profile { seconds: 4.0, calls }, ..Notes::default() },
                ..Part::default()
            }
        };
        let parts = [part(1.0), part(3.0), Part::default()];
        let found = profile(&parts.iter().collect::<Vec<_>>());
        assert_eq!(found["archive"], Share { count: 4.0, seconds: 2.0, share: 0.5 });
        assert_eq!(found[OTHER].share, 0.5);
    }
}
