//! Choosing among the runs of a container.
//!
//! A reader takes a chain of spans without gaps, the widest first; runs inside a wider one are removed. Runs say only
//! what the log says, so any that cannot be used is left out.

use std::{io, sync::Arc};

use isotach_object::{Error, Result};

use crate::{
    run::{Run, Span},
    state::Place,
};

/// How often a listing is tried again when a run vanishes under it.
const LIST_TRIES: usize = 20;

/// The spans of all runs of a container.
pub(crate) fn spans(place: &Place) -> Result<Vec<Span>> {
    Ok(place.directory.names()?.iter().filter_map(|name| Span::of_file_name(name)).collect())
}

/// The chain from `start` on that takes the widest span at each step.
pub(crate) fn chain(spans: &[Span], start: u64) -> Vec<Span> {
    let mut chain: Vec<Span> = Vec::new();
    loop {
        let at = chain.last().map_or(start, |span| span.to);
        match spans.iter().filter(|span| span.from == at).max_by_key(|span| span.to) {
            Some(widest) => chain.push(*widest),
            None => return chain,
        }
    }
}

/// Opens the runs that together reach furthest; those of `known` are taken as they are. A run that is damaged, or that
/// speaks of more than the log holds, is left out: the log says all that it says.
pub(crate) fn open_runs(place: &Place, known: &[Arc<Run>]) -> Result<Vec<Arc<Run>>> {
    let start = place.log.epoch_at(0);
    let mut unusable: Vec<Span> = Vec::new();
    for _ in 0..LIST_TRIES {
        let mut spans = spans(place)?;
        let end = place.log.epoch_at(place.log.length()?);
        spans.retain(|span| span.to <= end && !unusable.contains(span));
        let mut runs = Vec::new();
        for span in chain(&spans, start) {
            if let Some(run) = known.iter().find(|run| run.span() == span) {
                runs.push(Arc::clone(run));
                continue;
            }
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

/// Removes runs that lie inside one of `runs`: those just merged, and what a process that died left. One that reaches past
/// the log was never of it, and goes before the log grows over its end.
///
/// Runs that nobody has opened take nothing's place, however wide their names are: they may be damaged.
pub(crate) fn remove_narrow(place: &Place, runs: &[Arc<Run>]) -> Result<()> {
    let spans = spans(place)?;
    let end = place.log.epoch_at(place.log.length()?);
    let is_inside = |inner: &Span| {
        let mut outer = runs.iter().map(|run| run.span());
        outer.any(|outer| *inner != outer && outer.from <= inner.from && inner.to <= outer.to)
    };
    let useless = spans.iter().filter(|span| span.to > end || is_inside(span));
    useless.copied().try_for_each(|span| remove(place, span))
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
