//! Verdicts on a handle's own conditional frames, until its threads take them.

use std::collections::HashMap;

use crate::format::frame::Origin;

/// The number of the precondition that failed, if any.
pub(crate) type Verdict = Option<usize>;

/// The verdicts on one writer's frames.
#[derive(Debug)]
pub(crate) struct Verdicts {
    own: u64,
    untaken: HashMap<u64, Verdict>,
    /// The last frame whose verdict was taken. Another state may replay the frame again, but nobody takes the verdict again.
    taken: Option<u64>,
}

impl Verdicts {
    /// For the frames of the writer whose number is `own`.
    pub(crate) fn of(own: u64) -> Self {
        Self { own, untaken: HashMap::new(), taken: None }
    }

    /// Records the verdict on a conditional frame, if it is this writer's.
    pub(crate) fn record(&mut self, origin: Origin, verdict: Verdict) {
        if origin.writer == self.own && self.taken < Some(origin.sequence) {
            self.untaken.insert(origin.sequence, verdict);
        }
    }

    /// The verdict on a frame, once it is replayed.
    pub(crate) fn take(&mut self, sequence: u64) -> Option<Verdict> {
        self.taken = self.taken.max(Some(sequence));
        self.untaken.remove(&sequence)
    }

    /// Takes over the verdicts of the previous state, and what was taken from it.
    pub(crate) fn take_over(&mut self, old: &mut Self) {
        self.taken = self.taken.max(old.taken);
        self.untaken.retain(|sequence, _| Some(*sequence) > old.taken);
        self.untaken.extend(old.untaken.drain());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_a_state_neither_loses_nor_leaks_verdicts() {
        let frame = |sequence| Origin { writer: 1, sequence };
        let (mut old, mut new) = (Verdicts::of(1), Verdicts::of(1));
        for sequence in [4, 5, 6] {
            old.record(frame(sequence), Some(sequence as usize));
        }
        old.record(Origin { writer: 2, sequence: 9 }, None);
        // Two waiting threads may come in any order.
        assert_eq!(old.take(6), Some(Some(6)));
        assert_eq!(old.take(4), Some(Some(4)));
        // The new state begins behind frame 5 and has come further.
        for sequence in [6, 7] {
            new.record(frame(sequence), None);
        }
        new.take_over(&mut old);
        assert_eq!(new.take(5), Some(Some(5)));
        assert_eq!(new.take(7), Some(None));
        assert_eq!((new.take(6), new.untaken.len()), (None, 0));
    }
}
