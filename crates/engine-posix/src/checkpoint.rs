//! Checkpoints: writing runs, and choosing among those there are.
//!
//! Any process may write one at any time, and nothing waits for it. A run says only what the log says, so
//! two processes that write runs of overlapping spans do no harm; readers choose a chain of spans without
//! gaps, the widest first, and runs inside a wider one are removed.

use std::{io, sync::Arc};

use isotach_object::{Error, Result};

use crate::{
    entry::{Entry, Versioned},
    merge::Merge,
    run::{Run, RunWriter, Span},
    state::{Place, READ_SET_WINDOW, State},
    table::Table,
};

/// A run is merged with the one before it unless that one has this many times its entries.
const TIER_RATIO: u64 = 4;
/// How often a listing is tried again when a run vanishes under it.
const LIST_TRIES: usize = 20;

/// The spans of all runs of a container.
fn spans(place: &Place) -> Result<Vec<Span>> {
    Ok(place.directory.names()?.iter().filter_map(|name| Span::of_file_name(name)).collect())
}

/// The chain from `start` on that takes the widest span at each step.
fn chain(spans: &[Span], start: u64) -> Vec<Span> {
    let mut chain: Vec<Span> = Vec::new();
    loop {
        let at = chain.last().map_or(start, |span| span.to);
        match spans.iter().filter(|span| span.from == at).max_by_key(|span| span.to) {
            Some(widest) => chain.push(*widest),
            None => return chain,
        }
    }
}

/// Opens the runs that together reach furthest. A run that is damaged, or that speaks of more than the log
/// holds, is left out: the log says all that it says.
pub(crate) fn open_runs(place: &Place) -> Result<Vec<Arc<Run>>> {
    let start = place.log.epoch_at(0);
    let mut unusable: Vec<Span> = Vec::new();
    for _ in 0..LIST_TRIES {
        let mut spans = spans(place)?;
        let end = place.log.epoch_at(place.log.length()?);
        spans.retain(|span| span.to <= end && !unusable.contains(span));
        let mut runs = Vec::new();
        for span in chain(&spans, start) {
            match Run::open(&place.directory, place.uuid, span) {
                Ok(run) if run.log_sum() == place.log.sum_before(span.to)? => runs.push(Arc::new(run)),
                // The log is not the one that this run speaks of: it was cut, and has grown again.
                Ok(_) => unusable.push(span),
                // Damaged; or merged away by another process between the listing and the opening.
                Err(Error::Corrupt { .. }) => unusable.push(span),
                Err(Error::NotFound { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        if runs.len() == chain(&spans, start).len() {
            return Ok(runs);
        }
    }
    Ok(Vec::new())
}

/// How far the runs of a container reach, without opening them.
pub(crate) fn reach(place: &Place) -> Result<u64> {
    let start = place.log.epoch_at(0);
    let mut spans = spans(place)?;
    // The log is measured after the listing: it only grows, so what reaches past it then never was of it.
    let end = place.log.epoch_at(place.log.length()?);
    spans.retain(|span| span.to <= end);
    Ok(chain(&spans, start).last().map_or(start, |span| span.to))
}

/// Writes what `state` has replayed as a run and merges small runs. A failure leaves the state as it was, or
/// with fewer runs merged: a checkpoint is a help, never a need.
pub(crate) fn make(state: &mut State, place: &Place) {
    state.checkpoint_due = state.position + place.options.checkpoint;
    if place.log.is_writable() {
        let _ = try_make(state, place);
    }
}

fn try_make(state: &mut State, place: &Place) -> Result<()> {
    let covered = state.covered(place);
    // If another process was first, what it wrote takes the place of most of the table.
    if reach(place)? > covered + place.options.checkpoint / 2 && adopt(state, place)? {
        return Ok(());
    }
    if write(state, place)? {
        merge_small(state, place)?;
        remove_narrow(place)?;
    }
    Ok(())
}

/// Replaces the state's runs by those on disk, unless they reach past what the state has replayed. Tells whether there
/// is nothing left to write: damaged runs reach nowhere, whatever their names say.
fn adopt(state: &mut State, place: &Place) -> Result<bool> {
    let runs = open_runs(place)?;
    let Some(to) = runs.last().map(|run| run.span().to) else { return Ok(false) };
    if to <= state.covered(place) {
        return Ok(false);
    }
    if let Some(position) = place.log.position_of(to).filter(|position| *position <= state.position) {
        // The rest of the tail is replayed again on the new ground.
        state.restart(place, runs, position);
    }
    Ok(true)
}

fn write(state: &mut State, place: &Place) -> Result<bool> {
    let span = Span { from: state.covered(place), to: place.log.epoch_at(state.position) };
    let Some(writer) = RunWriter::create(&place.directory, place.uuid, span)? else {
        return Ok(false);
    };
    // A run must never speak of a part of the log that a power failure can take away.
    place.log.sync()?;
    copy(Merge::of_table(&state.table), writer, state.runs.is_empty(), span, place)?;
    state.runs.push(Arc::new(Run::open(&place.directory, place.uuid, span)?));
    state.table = Table::new(false);
    Ok(true)
}

fn copy(mut from: Merge<'_>, mut to: RunWriter, bottom: bool, span: Span, place: &Place) -> Result<()> {
    while let Some((path, versioned)) = from.next()? {
        let versioned = if bottom { settle(versioned) } else { versioned };
        if !bottom || versioned.entry.is_live() || versioned.epoch + READ_SET_WINDOW > span.to {
            to.push(path, &versioned)?;
        }
    }
    to.finish(place.log.sum_before(span.to)?)
}

/// An entry with nothing under it, in its shortest form.
fn settle(versioned: Versioned) -> Versioned {
    let mut entry = versioned.entry.at_bottom();
    if let Entry::Bytes(bytes) = &mut entry {
        bytes.fold();
    }
    Versioned { epoch: versioned.epoch, entry }
}

fn merge_small(state: &mut State, place: &Place) -> Result<()> {
    while let [.., older, newer] = &state.runs[..] {
        if older.entries() >= TIER_RATIO * newer.entries() {
            return Ok(());
        }
        let (older, newer) = (Arc::clone(older), Arc::clone(newer));
        let span = Span { from: older.span().from, to: newer.span().to };
        let Some(writer) = RunWriter::create(&place.directory, place.uuid, span)? else {
            return Ok(());
        };
        copy(Merge::of_runs(&[&newer, &older])?, writer, state.runs.len() == 2, span, place)?;
        let merged = Arc::new(Run::open(&place.directory, place.uuid, span)?);
        state.runs.truncate(state.runs.len() - 2);
        state.runs.push(merged);
    }
    Ok(())
}

/// Removes runs that lie inside a wider one: those just merged, and what a process that died left. One that reaches past
/// the log was never of it, and goes before the log grows over its end.
fn remove_narrow(place: &Place) -> Result<()> {
    let spans = spans(place)?;
    let end = place.log.epoch_at(place.log.length()?);
    let (sound, outside): (Vec<Span>, Vec<Span>) = spans.into_iter().partition(|span| span.to <= end);
    let is_inside =
        |inner: &Span, outer: &Span| inner != outer && outer.from <= inner.from && inner.to <= outer.to;
    let inside = sound.iter().filter(|inner| sound.iter().any(|outer| is_inside(inner, outer)));
    inside.chain(&outside).try_for_each(|span| remove(place, *span))
}

/// Removes a run that lies inside a wider one. Whoever has it open reads on.
fn remove(place: &Place, span: Span) -> Result<()> {
    let name = span.file_name();
    match place.directory.remove(&name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(place.directory.failed("remove", &name, error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_takes_the_widest_span_at_each_step_and_stops_at_a_gap() {
        let span = |from, to| Span { from, to };
        let spans = [span(0, 5), span(0, 10), span(5, 20), span(10, 12), span(12, 15), span(16, 30)];
        assert_eq!(chain(&spans, 0), [span(0, 10), span(10, 12), span(12, 15)]);
        assert_eq!(chain(&[], 0), []);
    }
}
