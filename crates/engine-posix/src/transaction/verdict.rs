//! What replaying decided of a handle's own conditional frames, until whoever appended them has asked.

use std::collections::HashMap;

use crate::format::frame::Origin;

/// The number of the precondition that failed, if one did.
pub(crate) type Verdict = Option<usize>;

/// The verdicts on one writer's frames.
#[derive(Debug)]
pub(crate) struct Verdicts {
    own: u64,
    kept: HashMap<u64, Verdict>,
    /// The last frame whose verdict was taken: another state may replay it again, and nobody will ask again.
    taken: Option<u64>,
}

impl Verdicts {
    /// For the frames of the writer whose number is `own`.
    pub(crate) fn of(own: u64) -> Self {
        Self { own, kept: HashMap::new(), taken: None }
    }

    /// Keeps the verdict on a conditional frame, if it is this writer's.
    pub(crate) fn keep(&mut self, origin: Origin, verdict: Verdict) {
        if origin.writer == self.own && self.taken < Some(origin.sequence) {
            self.kept.insert(origin.sequence, verdict);
        }
    }

    /// The verdict on a frame, once it is replayed.
    pub(crate) fn take(&mut self, sequence: u64) -> Option<Verdict> {
        self.taken = self.taken.max(Some(sequence));
        self.kept.remove(&sequence)
    }

    /// Takes over from the state before this one: what it kept, and what it need not keep.
    pub(crate) fn take_over(&mut self, old: &mut Self) {
        self.taken = self.taken.max(old.taken);
        self.kept.retain(|sequence, _| Some(*sequence) > old.taken);
        self.kept.extend(old.kept.drain());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_verdict_is_lost_or_kept_for_ever_when_a_state_takes_the_place_of_another() {
        let frame = |sequence| Origin { writer: 1, sequence };
        let (mut old, mut new) = (Verdicts::of(1), Verdicts::of(1));
        for sequence in [4, 5, 6] {
            old.keep(frame(sequence), Some(sequence as usize));
        }
        old.keep(Origin { writer: 2, sequence: 9 }, None);
        // Two that wait may come in any order.
        assert_eq!(old.take(6), Some(Some(6)));
        assert_eq!(old.take(4), Some(Some(4)));
        // The new one begins behind frame 5 and has come further.
        for sequence in [6, 7] {
            new.keep(frame(sequence), None);
        }
        new.take_over(&mut old);
        assert_eq!(new.take(5), Some(Some(5)));
        assert_eq!(new.take(7), Some(None));
        assert_eq!((new.take(6), new.kept.len()), (None, 0));
    }
}
