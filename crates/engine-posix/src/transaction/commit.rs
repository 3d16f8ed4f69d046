//! Committing: appending the frame of a transaction, and learning its verdict.

use std::sync::atomic::Ordering;

use isotach_object::{Epoch, Error, Precondition, Result, Transaction, Update};

use crate::{handle::PosixContainer, transaction::writer::Writer};

impl PosixContainer {
    /// Calls `append` to append a frame with these preconditions, and takes the verdict on it. `append` returns the frame's number and the
    /// position of its end.
    pub(crate) fn decide(
        &self,
        preconditions: &[Precondition<'_>],
        append: impl FnOnce(&mut Writer) -> Result<(u64, u64)>,
    ) -> Result<Epoch> {
        let decided = self.judge(preconditions, append)?;
        decided.map_err(|failed| preconditions[failed].conflict())
    }

    /// Commits an update of the engine's own objects. `refused` is the error if the precondition does not hold.
    pub(crate) fn update_if(
        &self,
        precondition: Precondition<'_>,
        update: Update<'_>,
        refused: impl FnOnce() -> Error,
    ) -> Result<Epoch> {
        self.commit_checked(&Transaction::new().require(precondition).update(update))
            .map_err(|error| if matches!(error, Error::Conflict { .. }) { refused() } else { error })
    }

    /// As [`decide`](Self::decide). Returns the precondition that failed first, if the frame does not count.
    pub(crate) fn judge(
        &self,
        preconditions: &[Precondition<'_>],
        append: impl FnOnce(&mut Writer) -> Result<(u64, u64)>,
    ) -> Result<std::result::Result<Epoch, usize>> {
        self.storage.log.check_writable()?;
        self.check_current()?;
        let conditional = !preconditions.is_empty();
        let _awaited = conditional.then(|| self.await_verdict());
        if conditional {
            // A state that is opened after the append could begin at a run that contains the frame but not its verdict.
            self.state()?;
        }
        let (sequence, end) = {
            let mut writer = self.writer();
            let appended = append(&mut writer)?;
            self.gathered.store(false, Ordering::Release);
            appended
        };
        let epoch = Epoch(self.storage.log.epoch_at(end));
        if !conditional {
            return Ok(Ok(epoch));
        }
        let what = format!("learn the verdict on a transaction in {}", self.storage.log.path().display());
        self.verdict(sequence, epoch, &what).map_err(|error| error.after_decision(what))
    }

    /// The verdict on a frame of this handle that is in the log: the epoch, or which precondition failed first.
    fn verdict(&self, sequence: u64, epoch: Epoch, what: &str) -> Result<std::result::Result<Epoch, usize>> {
        // Every process that replays the log up to this frame comes to the same verdict.
        match self.follow(|state| state.verdicts.take(sequence))? {
            Some(None) => Ok(Ok(epoch)),
            Some(Some(failed)) => Ok(Err(failed)),
            None if self.state()?.get()?.covered(&self.storage) >= epoch.0 => {
                let reason =
                    "a purge has removed the log up to it, so its outcome is uncertain; read what it changes";
                Err(Error::from_io(std::io::Error::other(reason), what))
            }
            None => Err(Error::corrupt(
                "the log does not hold a frame just appended",
                self.storage.log.path().display().to_string(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use isotach_object::{
        Array, Cell, Container, ContainerOptions, Label, Maintenance, ObjectClass, ObjectId, ObjectType, Pool,
    };

    use super::*;
    use crate::{
        simulation::{Fault, SimulatedDisk},
        testing::Fixture,
    };

    fn object(otype: ObjectType) -> ObjectId {
        ObjectId::new(otype, ObjectClass::S1, 0, 1)
    }

    /// Commits two stages: one entry within the frame, and many in a segment.
    fn commit_in_parts(container: &dyn Container) {
        let names = ["small", "large"].map(|name| name.parse::<Label>().unwrap());
        for (name, count) in names.iter().zip([1_u8, 50]) {
            let mut staging = container.prepared_transactions().unwrap().begin_prepared().unwrap();
            for number in 0..count {
                let key = [count, number];
                let cell = Cell::kv(object(ObjectType::KeyValue), &key);
                staging.update(&[Update::Put { cell, value: b"value" }]).unwrap();
            }
            staging.prepare(name, &[]).unwrap();
        }
        container.prepared_transactions().unwrap().commit_prepared(&names, &Transaction::new()).unwrap();
    }

    /// Commits one entry with a fault at a call of the commit; whether the call was made, the outcome, and whether another
    /// handle sees the entry afterwards.
    fn commit_with(fault: impl FnOnce(u64) -> Fault, call: u64) -> (bool, Result<Epoch>, bool) {
        let (disk, uri, label) = (SimulatedDisk::new(), "posix:/pool".parse().unwrap(), "c".parse().unwrap());
        disk.engine().create_pool(&uri).unwrap();
        let pool = disk.engine().open_pool(&uri).unwrap();
        pool.create_container(&label, &ContainerOptions::default()).unwrap();
        let cell = Cell::kv(object(ObjectType::KeyValue), b"key");
        let container = pool.open_container(&label).unwrap();
        let failing = disk.calls() + call;
        disk.set_fault(Some(fault(failing)));
        let put = Update::Put { cell, value: b"value" };
        let outcome = container.commit(&Transaction::new().require(Precondition::Absent(cell)).update(put));
        let is_reached = disk.calls() > failing;
        disk.set_fault(None);
        let found = pool.open_container(&label).unwrap().get_many(&[cell]).unwrap();
        (is_reached, outcome, found != [None])
    }

    #[test]
    fn a_commit_that_counts_never_fails_with_a_refusal() {
        for fault in [Fault::Broken, Fault::Refused, Fault::Full] {
            let mut uncertain = 0;
            for call in 0.. {
                let (is_reached, outcome, counts) = commit_with(fault, call);
                let case = format!("{:?}: {outcome:?}", fault(call));
                match &outcome {
                    Ok(_) => assert!(counts, "{case}"),
                    Err(error) if error.is_refusal() => assert!(!counts, "{case}"),
                    Err(_) => uncertain += u32::from(counts),
                }
                if !is_reached {
                    break;
                }
            }
            assert!(uncertain > 0 || fault(0) == Fault::Full(0), "{:?} after the append", fault(0));
        }
    }

    #[test]
    fn a_frame_with_a_missing_segment_is_not_judged_by_its_own_changes() {
        let fixture = Fixture::new("?segment=256");
        let (pool, label, path) = (&fixture.pool, &fixture.label, fixture.path());
        let slow = fixture.handle();
        let other = pool.open_container(label).unwrap();
        {
            // Gives the purge something to free.
            let passing = pool.open_container(label).unwrap();
            Array::new(&*passing, object(ObjectType::Array)).unwrap().write(0, &[1; 100_000]).unwrap();
            passing.update(&[Update::Destroy { object: object(ObjectType::Array) }]).unwrap();
            passing.flush().unwrap();
        }
        let in_segment = [50, 7];
        let absent = [Precondition::Absent(Cell::kv(object(ObjectType::KeyValue), &in_segment))];
        let judged = slow.judge(&absent, |writer| {
            commit_in_parts(&*other);
            let own = Transaction { preconditions: absent.to_vec(), updates: Vec::new() };
            let appended = writer.commit(&own, &[], &slow.storage.log);
            assert!(pool.purge(label, true).unwrap().freed > 0);
            fs::read_dir(path.join("data"))
                .unwrap()
                .for_each(|file| fs::remove_file(file.unwrap().path()).unwrap());
            appended
        });
        // The runs contain it, so its verdict is unknown.
        assert!(matches!(judged, Err(Error::Io { .. })), "{judged:?}");
        let value = slow.get_many(&[Cell::kv(object(ObjectType::KeyValue), &in_segment)]).unwrap();
        assert_eq!(value, [Some(b"value".to_vec())]);
    }
}
