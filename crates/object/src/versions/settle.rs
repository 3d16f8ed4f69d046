//! Settles numbers in order: commits those whose participants have all finished, and skips those that were aborted.
//!
//! Anybody may do it at any time, and several at once: each step is one frame on the condition that nobody has made it before.

use super::{
    AGAIN, Versions,
    books::{Counter, Pending, Settled, VERSION, open_key, settled_key},
};
use crate::{Epoch, Error, Label, Precondition, Result, Transaction, Update, retry};

impl Versions<'_> {
    /// Settles every number that is due. Returns the last settled one.
    pub(super) fn settle(&self) -> Result<Counter> {
        loop {
            if let Some(counter) = retry(AGAIN, || self.settle_next())? {
                return Ok(counter);
            }
        }
    }

    /// Settles the next number if it is due. Otherwise returns the last settled one.
    fn settle_next(&self) -> Result<Option<Counter>> {
        // At this epoch the version is the one that is read below, or the frame meets a conflict.
        let seen = self.container.epoch()?;
        let counter = self.counter()?;
        let next = counter.settled + 1;
        match self.look(next)?.0 {
            None => return Ok(Some(counter)),
            Some(Pending::Aborted) => self.skip(next, counter, seen)?,
            Some(open @ Pending::Open { participants }) => {
                let mut parts = self.parts(next)?;
                parts.retain(|(participant, _)| *participant < participants);
                if parts.len() < participants as usize {
                    return Ok(Some(counter));
                }
                let names: Vec<_> = parts.into_iter().map(|(_, name)| name).collect();
                self.commit(next, counter, seen, open, &names)?;
            }
        }
        Ok(None)
    }

    fn commit(
        &self,
        number: u64,
        counter: Counter,
        seen: Epoch,
        open: Pending,
        parts: &[Label],
    ) -> Result<()> {
        let keys = [open_key(number), settled_key(number), settled_key(counter.version)];
        let [open_key, settled, before] = keys.each_ref().map(|key| self.cell(key));
        let (open, committed) = (open.encode(), Settled::Committed(None).encode());
        let until = Settled::Committed(Some(seen)).encode();
        let now = Counter { settled: number, version: number }.encode();
        let version = self.cell(VERSION);
        let transaction = Transaction::new()
            .require(Precondition::Unchanged(version, seen))
            .require(Precondition::Equals(open_key, &open))
            .update(Update::Remove { cell: open_key })
            .update(Update::Put { cell: before, value: &until })
            .update(Update::Put { cell: settled, value: &committed })
            .update(Update::Put { cell: version, value: &now });
        match self.container.prepared_transactions()?.commit_prepared(parts, &transaction) {
            Ok(_) => Ok(()),
            // Another process has committed them: check again. Otherwise the container is destroyed.
            Err(Error::NotFound { what }) if self.parts(number)?.len() < parts.len() => {
                Err(Error::Conflict { what })
            }
            Err(error) => Err(error),
        }
    }

    fn skip(&self, number: u64, counter: Counter, seen: Epoch) -> Result<()> {
        // No participant can prepare another part of an aborted number.
        self.discard_parts(number)?;
        let keys = [open_key(number), settled_key(number)];
        let [open_key, settled] = keys.each_ref().map(|key| self.cell(key));
        let (open, aborted) = (Pending::Aborted.encode(), Settled::Aborted.encode());
        let now = Counter { settled: number, ..counter }.encode();
        let version = self.cell(VERSION);
        let transaction = Transaction::new()
            .require(Precondition::Unchanged(version, seen))
            .require(Precondition::Equals(open_key, &open))
            .update(Update::Remove { cell: open_key })
            .update(Update::Put { cell: settled, value: &aborted })
            .update(Update::Put { cell: version, value: &now });
        self.container.commit(&transaction).map(drop)
    }

    /// Gives up the parts of a number that was aborted.
    pub(super) fn discard_parts(&self, number: u64) -> Result<()> {
        for (_, name) in self.parts(number)? {
            match self.container.prepared_transactions()?.abort_prepared(&name) {
                Ok(()) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{ContainerOptions, Engine, ObjectClass, ObjectId, ObjectType, memory::Memory};

    use super::*;

    #[test]
    fn a_version_is_not_noted_for_an_epoch_at_which_it_was_not_there_yet() {
        let (engine, uri) = (Memory::new(), "memory:pool".parse().unwrap());
        engine.create_pool(&uri).unwrap();
        let (pool, label) = (engine.open_pool(&uri).unwrap(), "c".parse().unwrap());
        pool.create_container(&label, &ContainerOptions::default()).unwrap();
        let container = pool.open_container(&label).unwrap();
        let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
        let versions = Versions::new(&*container, object).unwrap();
        for number in [1, 2] {
            versions.start(number, 0, 1).unwrap().prepare().unwrap();
        }
        let before = container.epoch().unwrap();
        assert_eq!(versions.settle_next().unwrap(), None);
        let (counter, open) = (versions.counter().unwrap(), Pending::Open { participants: 1 });
        assert_eq!((counter, versions.look(2).unwrap().0), (Counter { settled: 1, version: 1 }, Some(open)));
        let names: Vec<_> = versions.parts(2).unwrap().into_iter().map(|(_, name)| name).collect();
        let late = versions.commit(2, counter, before, open, &names);
        assert_eq!(late.unwrap_err().code(), "conflict");
        assert_eq!(versions.version().unwrap(), 2, "it is tried again");
    }
}
