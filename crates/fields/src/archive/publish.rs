//! Flushing a writer: its batch to the catalogue, and what became of it if others wiped or moved the dataset meanwhile.
//!
//! A flush looks at the dataset's record before it sends anything and after all of it can be seen. What must stay true:
//! - Bytes are durable before anything names them.
//! - A flush that returns without an error has found no move's mark: a move that comes later lists what was put.
//! - If a wipe of collocations began or ended meanwhile, entries that are not there any more are reported as wiped.
//! - An array that a wipe or a purge may still destroy, or has destroyed, is named by no entry that the flush leaves behind.
//!   That is at stake only where an earlier flush failed and its entries are sent again, since they find arrays by the
//!   history. So what the history has is not sent again: it was published, and may have been replaced since. What it has not
//!   is sent if its array is there and no wipe is under way, for then nobody has found the array, nor will before it is sent.
//!   Where a wipe removes the index and the bytes in one transaction, it is sent also while one is under way.

use std::sync::Arc;

use isotach_object::{Cell, Container, Error as ObjectError, ObjectId, Update};

use crate::{
    Error, Location, Place, Result,
    admin::locks::Action,
    archive::{
        puts::{Load, Put},
        writer::DatasetWriter,
    },
    catalogue::{record::Record, root::Entry},
    sync::lock,
};

/// How many cells are asked about in one call.
const CELLS_MAX: usize = 16_384;

impl DatasetWriter {
    /// Publishes what was archived. What fails is kept, except with [`Error::Lost`] and [`Error::Wiped`].
    pub(crate) fn flush(&self) -> Result<()> {
        let _one_at_a_time = lock(&self.flushing);
        let mut load = match self.is_transaction {
            true => lock(&self.state).batch.take_whole(),
            false => lock(&self.state).batch.take(),
        };
        if load.is_empty() {
            return Ok(());
        }
        match self.publish(&mut load) {
            Ok(true) if load.wiped == 0 => Ok(()),
            Ok(true) => Err(self.wiped(load.wiped)),
            Ok(false) => Err(self.wiped(load.fields() + self.give_up())),
            Err(Error::Object(source @ ObjectError::Poisoned { .. })) => {
                Err(self.lost(load.fields() + self.give_up(), source))
            }
            Err(error) => {
                let mut state = lock(&self.state);
                if !state.is_closed {
                    state.batch.put_back(load);
                    return Err(error);
                }
                // Another thread gave the writer up meanwhile: no flush will come to these entries again.
                let fields = load.fields() + state.batch.take().fields();
                drop(state);
                Err(self.lost(
                    fields,
                    match error {
                        Error::Object(source) => source,
                        other => ObjectError::Conflict { what: other.to_string() },
                    },
                ))
            }
        }
    }

    /// Publishes a load, and leaves in it what it could not. False when the dataset was wiped.
    fn publish(&self, load: &mut Load) -> Result<bool> {
        let published = self.publish_alive(load);
        // A container that was wiped meanwhile may refuse, or take what nobody will see.
        if published.is_err() && matches!(self.same_life(), Ok(None)) {
            return Ok(false);
        }
        published
    }

    fn publish_alive(&self, load: &mut Load) -> Result<bool> {
        // Before the look at the record: a wipe that begins after that cannot have found what was not there before.
        let mut published = self.published(load)?;
        let Some(before) = self.same_life()? else { return Ok(false) };
        refuse_while_moved(&before)?;
        self.drop_wiped(load, &mut published, &before.record)?;
        if !self.is_transaction && lock(&self.state).generation != before.record.generation {
            // A wipe has taken what was declared, which must be there before what needs it.
            let Some(_) = self.declare(load)? else { return Ok(false) };
        }
        self.send(load, &published, before.record.generation)?;
        let after = if self.is_transaction { self.look_again()? } else { self.declare(load)? };
        let Some(after) = after else { return Ok(false) };
        if after.record.generation != before.record.generation {
            let gone = self.gone_meanwhile(load)?;
            load.drop_fields(&gone);
        }
        Ok(true)
    }

    /// The bytes first, then what names them. What was published is made durable, but not put again.
    fn send(&self, load: &mut Load, published: &[bool], generation: u32) -> Result<()> {
        if !self.dataset.is_one_container() {
            self.dataset.store.flush()?;
        }
        let rest = (load.sent > 0).then(|| load.unpublished(published));
        load.sent = load.puts.fields().count();
        load.generation = generation;
        let puts = rest.as_ref().unwrap_or(&load.puts);
        match self.is_transaction {
            true => puts.commit(&*self.dataset.catalogue),
            false => puts.publish(&*self.dataset.catalogue),
        }
    }

    /// Which fields that an earlier flush has sent are in the history: what came of them is what a flush promises. Some may
    /// have been replaced since.
    fn published(&self, load: &Load) -> Result<Vec<bool>> {
        let entries =
            load.puts.fields().take(load.sent).map(|(_, (history, id, _))| Some(Cell::kv(history, id)));
        let missing = self.are_missing(&*self.dataset.catalogue, entries)?;
        Ok(missing.into_iter().map(|is_missing| !is_missing).collect())
    }

    /// The dataset's entry, after a transaction that can be seen. It brought along all that its fields need, so a wipe took
    /// either nothing of it or, with a collocation, its fields. None when the dataset was wiped.
    fn look_again(&self) -> Result<Option<Arc<Entry>>> {
        let Some(entry) = self.same_life()? else { return Ok(None) };
        refuse_while_moved(&entry)?;
        Ok(Some(entry))
    }

    /// Puts the collocations and axis values again that a wipe may have removed, and returns the dataset's entry as it
    /// was when all were there. None when the dataset was wiped.
    fn declare(&self, load: &Load) -> Result<Option<Arc<Entry>>> {
        let mut declared = None;
        loop {
            let Some(entry) = self.same_life()? else { return Ok(None) };
            refuse_while_moved(&entry)?;
            let now = entry.record.generation;
            let mut state = lock(&self.state);
            // As long as a wipe is under way, what was declared by an earlier flush may go.
            let stays = state.generation == now && entry.record.is_settled();
            if stays || declared == Some(now) {
                return Ok(Some(entry));
            }
            let again = state.batch.declare_again(&load.puts);
            drop(state);
            again.publish(&*self.dataset.catalogue)?;
            // Only what is published is declared: after a failure the next flush declares again.
            lock(&self.state).generation = now;
            declared = Some(now);
        }
    }

    /// Drops the fields that an earlier flush has sent, that were not published, and whose arrays have been wiped since or
    /// may still be. If there was no wipe, those whose arrays are gone were published, replaced and purged.
    fn drop_wiped(&self, load: &mut Load, published: &mut Vec<bool>, now: &Record) -> Result<()> {
        if load.sent == 0 {
            return Ok(());
        }
        let array = |((entry, _), published): ((Put<'_>, _), &bool)| match published {
            true => None,
            // One without bytes can lose none, and an engine may know nothing of it.
            false => self.own_array(entry).filter(|(_, length)| *length > 0).map(|(array, _)| array),
        };
        let arrays: Vec<_> = load.puts.fields().zip(&*published).map(array).collect();
        let gone = if now.is_settled() || self.dataset.is_wiped_at_once() {
            self.are_missing(&*self.dataset.store, arrays.iter().map(|array| array.map(Cell::array)))?
        } else {
            arrays.iter().map(Option::is_some).collect()
        };
        if now.is_settled() && load.generation == now.generation {
            published.iter_mut().zip(gone).for_each(|(published, is_gone)| *published |= is_gone);
        } else {
            load.drop_fields(&gone);
            let mut gone = gone.into_iter();
            published.retain(|_| gone.next() != Some(true));
        }
        Ok(())
    }

    /// Which fields of a load are gone with a wipe that began or ended while they were sent.
    fn gone_meanwhile(&self, load: &Load) -> Result<Vec<bool>> {
        let entries = load.puts.fields().map(|((index, element, _), _)| Some(Cell::kv(index, element)));
        self.are_missing(&*self.dataset.catalogue, entries)
    }

    /// Gives up fields that nobody will publish: the arrays that no entry ever named are destroyed, with the next flush of
    /// the store's handle.
    pub(crate) fn give_back(&self) {
        let load = lock(&self.state).batch.take();
        let unsent = load.puts.fields().skip(load.sent);
        let arrays: Vec<_> = unsent.filter_map(|(entry, _)| Some(self.own_array(entry)?.0)).collect();
        for some in arrays.chunks(CELLS_MAX) {
            let updates: Vec<_> = some.iter().map(|object| Update::Destroy { object: *object }).collect();
            // Where it fails, the bytes stay until the dataset goes.
            let _ = self.dataset.store.update(&updates);
        }
    }

    /// The array of a field whose bytes are in the dataset's own store, and its length; an adopted field has none.
    fn own_array(&self, (_, _, record): Put<'_>) -> Option<(ObjectId, u64)> {
        let location = Location::decode(record, &self.dataset.uri)?;
        match location.place {
            Place::Object { container, object } if container == self.dataset.uri => {
                Some((object, location.length))
            }
            _ => None,
        }
    }

    /// Which of these cells hold nothing. Where there is no cell, nothing is missing.
    fn are_missing<'a>(
        &self,
        container: &dyn Container,
        cells: impl Iterator<Item = Option<Cell<'a>>>,
    ) -> Result<Vec<bool>> {
        let cells: Vec<_> = cells.collect();
        let asked: Vec<_> = cells.iter().copied().flatten().collect();
        let mut sizes = Vec::with_capacity(asked.len());
        for some in asked.chunks(CELLS_MAX) {
            sizes.extend(container.size_many(some)?);
        }
        let mut sizes = sizes.into_iter();
        Ok(cells.iter().map(|cell| cell.is_some() && sizes.next().flatten().is_none()).collect())
    }

    pub(crate) fn wiped(&self, fields: u64) -> Error {
        Error::Wiped { dataset: self.dataset.entry.key.to_string(), fields }
    }

    fn lost(&self, fields: u64, source: ObjectError) -> Error {
        Error::Lost { dataset: self.dataset.entry.key.to_string(), fields, source }
    }
}

/// Refuses to publish into a dataset that a move has: it may have listed the fields already.
fn refuse_while_moved(entry: &Entry) -> Result<()> {
    if entry.record.move_mark.is_on() { entry.locks.check(Action::Archive, &entry.key) } else { Ok(()) }
}
