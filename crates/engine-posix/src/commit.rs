//! Committing: appending the frame of a transaction, and learning whether it counts.

use std::sync::atomic::Ordering;

use isotach_object::{Epoch, Error, Precondition, Result};

use crate::{handle::PosixContainer, writer::Writer};

impl PosixContainer {
    /// Lets `append` put a frame with these preconditions into the log, and comes to the verdict on it. `append` gives the
    /// frame's number and the position of its end.
    pub(crate) fn decide(
        &self,
        preconditions: &[Precondition<'_>],
        append: impl FnOnce(&mut Writer) -> Result<(u64, u64)>,
    ) -> Result<Epoch> {
        let decided = self.judge(preconditions, append)?;
        decided.map_err(|failed| preconditions[failed].conflict())
    }

    /// As [`decide`](Self::decide); of a frame that does not count it gives which precondition failed first.
    pub(crate) fn judge(
        &self,
        preconditions: &[Precondition<'_>],
        append: impl FnOnce(&mut Writer) -> Result<(u64, u64)>,
    ) -> Result<std::result::Result<Epoch, usize>> {
        self.place.log.check_writable()?;
        self.check_current()?;
        let conditional = !preconditions.is_empty();
        let _awaited = conditional.then(|| self.await_verdict());
        if conditional {
            // A state opened after the append could begin at a run that holds the frame, and not its verdict.
            self.state()?;
        }
        let (sequence, end) = {
            let mut writer = self.writer();
            let appended = append(&mut writer)?;
            self.gathered.store(false, Ordering::Release);
            appended
        };
        let epoch = Epoch(self.place.log.epoch_at(end));
        if !conditional {
            return Ok(Ok(epoch));
        }
        // Every process that replays the log up to this frame comes to the same verdict.
        match self.replay(|state| state.verdicts.take(sequence))? {
            Some(None) => Ok(Ok(epoch)),
            Some(Some(failed)) => Ok(Err(failed)),
            None if self.state()?.get()?.covered(&self.place) >= epoch.0 => {
                let what =
                    format!("learn the verdict on a transaction in {}", self.place.log.path().display());
                let reason = "the log was purged up to it meanwhile, so whether it counts is not known; read what it changes";
                Err(Error::from_io(std::io::Error::other(reason), what))
            }
            None => Err(Error::corrupt(
                "the log does not hold a frame just appended",
                self.place.log.path().display().to_string(),
            )),
        }
    }
}
