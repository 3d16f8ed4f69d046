//! Flushing a writer: publishes its batch in the catalogue, and detects wipes and moves of the dataset.
//!
//! A flush reads the dataset's record before it sends anything and again after everything is visible. What must stay
//! true:
//! - Bytes are durable before an entry names them.
//! - A flush that returns without an error has found no move's mark: a later move lists its fields.
//! - If a wipe of collocations began or ended during the flush, entries that have disappeared are reported as wiped.
//! - No entry that the flush leaves names an array that a wipe or a purge may still destroy, or has destroyed. This is
//!   at risk only when a failed flush is repeated, because wipes and purges find arrays by the history. So fields that
//!   the history has are not sent again: they were published, and may have been replaced since. Other fields are sent
//!   if their arrays exist and no wipe is under way, for then nobody has found the arrays, nor will before the entries
//!   are sent.

use std::sync::Arc;

use isotach_object::{Cell, Container, Error as ObjectError, ObjectId, Update};

use crate::{
    Error, Location, Result,
    archive::{
        puts::{Load, Put},
        writer::DatasetWriter,
    },
    catalogue::{history::history_key, locks::Action, record::Record, root::Entry},
    sync::lock,
};

/// The number of cells in one lookup.
const CELLS_MAX: usize = 16_384;

impl DatasetWriter {
    /// Publishes the batch. Failed fields are kept, except with [`Error::Lost`] and [`Error::Wiped`].
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
                // Another thread closed the writer meanwhile, so no flush will publish these entries.
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

    /// Publishes a load. Fields that could not be published stay in it. False if the dataset was wiped.
    fn publish(&self, load: &mut Load) -> Result<bool> {
        let published = self.publish_alive(load);
        // A wiped container may refuse the entries, or accept entries that nobody will see.
        if published.is_err() && matches!(self.same_incarnation(), Ok(None)) {
            return Ok(false);
        }
        published
    }

    fn publish_alive(&self, load: &mut Load) -> Result<bool> {
        // Read this before the record: a wipe that begins later cannot have found entries that did not exist yet.
        let mut published = self.published(load)?;
        let Some(before) = self.same_incarnation()? else { return Ok(false) };
        refuse_while_moved(&before)?;
        self.drop_wiped(load, &mut published, &before.record)?;
        if !self.is_transaction && lock(&self.state).generation != before.record.generation {
            // A wipe has removed declarations, which must exist before the entries that need them.
            let Some(_) = self.declare(load)? else { return Ok(false) };
        }
        self.send(load, &published, before.record.generation)?;
        let after = if self.is_transaction { self.check_after_commit()? } else { self.declare(load)? };
        let Some(after) = after else { return Ok(false) };
        if after.record.generation != before.record.generation {
            let gone = self.wiped_during_flush(load)?;
            load.drop_fields(&gone);
        }
        Ok(true)
    }

    /// Flushes the bytes, then sends the entries. Published fields are made durable but not put again.
    fn send(&self, load: &mut Load, published: &[bool], generation: u32) -> Result<()> {
        if !self.dataset.is_one_container() {
            self.dataset.store.flush()?;
        }
        let rest = (load.sent > 0).then(|| load.unpublished(published));
        let sent = std::mem::replace(&mut load.sent, load.puts.fields().count());
        load.generation = generation;
        let puts = rest.as_ref().unwrap_or(&load.puts);
        let catalogue = &*self.dataset.catalogue;
        if !self.is_transaction {
            return puts.publish(catalogue);
        }
        if let Err(error) = puts.commit(catalogue) {
            if error.is_refusal() {
                // Nothing counts, so no entry names these arrays.
                load.sent = sent;
            }
            return Err(error.into());
        }
        Ok(catalogue.flush()?)
    }

    /// Which fields of an earlier flush are in the history. A flush has kept its promise for these, though some may
    /// have been replaced since.
    fn published(&self, load: &Load) -> Result<Vec<bool>> {
        let entries =
            load.puts.fields().take(load.sent).map(|(_, (history, id, _))| Some(Cell::kv(history, id)));
        let missing = self.are_missing(&*self.dataset.catalogue, entries)?;
        Ok(missing.into_iter().map(|is_missing| !is_missing).collect())
    }

    /// Reads the dataset's entry after a visible transaction. The transaction contained all declarations, so a wipe
    /// removed either nothing of it or a collocation with its fields. `None` if the dataset was wiped.
    fn check_after_commit(&self) -> Result<Option<Arc<Entry>>> {
        let Some(entry) = self.same_incarnation()? else { return Ok(None) };
        refuse_while_moved(&entry)?;
        Ok(Some(entry))
    }

    /// Puts again the collocations and axis values that a wipe may have removed, and returns the dataset's entry of a
    /// moment when all existed. `None` if the dataset was wiped.
    fn declare(&self, load: &Load) -> Result<Option<Arc<Entry>>> {
        let mut declared = None;
        loop {
            let Some(entry) = self.same_incarnation()? else { return Ok(None) };
            refuse_while_moved(&entry)?;
            let now = entry.record.generation;
            let mut state = lock(&self.state);
            // While a wipe is under way, it may remove declarations of earlier flushes.
            let stays = state.generation == now && entry.record.is_settled();
            if stays || declared == Some(now) {
                return Ok(Some(entry));
            }
            let again = state.batch.declare_again(&load.puts);
            drop(state);
            again.publish(&*self.dataset.catalogue)?;
            // Only published declarations count: after a failure the next flush declares again.
            lock(&self.state).generation = now;
            declared = Some(now);
        }
    }

    /// Drops the fields of an earlier flush that were not published and whose arrays were or may be wiped. If there was
    /// no wipe, fields without arrays were published, replaced and purged.
    fn drop_wiped(&self, load: &mut Load, published: &mut Vec<bool>, now: &Record) -> Result<()> {
        if load.sent == 0 {
            return Ok(());
        }
        let array = |((entry, _), published): ((Put<'_>, _), &bool)| match published {
            true => None,
            // An empty field has no bytes to lose, and the engine may not know its array.
            false => self.own_array(entry).filter(|(_, length)| *length > 0).map(|(array, _)| array),
        };
        let arrays: Vec<_> = load.puts.fields().zip(&*published).map(array).collect();
        let gone = if now.is_settled() || self.dataset.is_wiped_atomically() {
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

    /// Which fields of a load were removed by a wipe that began or ended while they were sent.
    fn wiped_during_flush(&self, load: &Load) -> Result<Vec<bool>> {
        let entries = load.puts.fields().map(|((index, element, _), _)| Some(Cell::kv(index, element)));
        self.are_missing(&*self.dataset.catalogue, entries)
    }

    /// Discards unpublished fields: destroys the arrays that no entry ever named.
    pub(crate) fn discard(&self) {
        let load = lock(&self.state).batch.take();
        let unsent = load.puts.fields().skip(load.sent);
        // A field that was only indexed has the array of another one.
        let archived = |(entry, (_, id, _)): (Put<'_>, Put<'_>)| {
            self.own_array(entry).map(|(array, _)| array).filter(|array| history_key(*array) == id)
        };
        let arrays: Vec<_> = unsent.filter_map(archived).collect();
        if arrays.is_empty() {
            return;
        }
        for some in arrays.chunks(CELLS_MAX) {
            let updates: Vec<_> = some.iter().map(|object| Update::Destroy { object: *object }).collect();
            // On failure the bytes stay until the dataset is wiped.
            let _ = self.dataset.store.update(&updates);
        }
        let _ = self.dataset.store.flush();
    }

    /// The array and length of a field in the dataset's own store. `None` for an adopted field.
    fn own_array(&self, (_, _, record): Put<'_>) -> Option<(ObjectId, u64)> {
        let location = Location::decode(record, &self.dataset.uri)?;
        Some((location.object_in(&self.dataset.uri)?, location.length))
    }

    /// Which of these cells are absent. `None` is never absent.
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

/// Refuses to publish into a dataset under a move, or to delete from it. The move may have listed the fields already.
pub(crate) fn refuse_while_moved(entry: &Entry) -> Result<()> {
    if entry.record.move_mark.is_on() { entry.locks.check(Action::Archive, &entry.key) } else { Ok(()) }
}
