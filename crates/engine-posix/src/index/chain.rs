//! Choosing among the runs of a container.
//!
//! A reader takes a chain of spans without gaps, the widest first; runs inside a wider one are removed. Runs say only
//! what the log says, so any that cannot be used is left out, but for those that say what was purged from it.

use std::{io, sync::Arc};

use isotach_object::{Error, Result};

use crate::{
    index::run::{Run, Span},
    io::{flushed, storage::Storage},
    purge::manifest::Floor,
};

/// How often a listing is tried again when a run vanishes under it.
const LIST_TRIES: usize = 20;

/// The spans of all runs of a container that count, and the floor that says so.
pub(crate) fn spans(storage: &Storage) -> Result<(Vec<Span>, Option<Floor>)> {
    let (names, floor) = Floor::list(storage)?;
    let mut spans: Vec<Span> = names.iter().filter_map(|name| Span::of_file_name(name)).collect();
    spans.retain(|span| Floor::admits(floor.as_ref(), span));
    Ok((spans, floor))
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
/// speaks of more than the log holds, is left out: the log says all that it says. Below the floor the log says nothing, so
/// the runs must reach that far.
pub(crate) fn open_runs(storage: &Storage, known: &[Arc<Run>]) -> Result<(Vec<Arc<Run>>, Option<Floor>)> {
    let start = storage.log.epoch_at(0);
    let mut unusable: Vec<Span> = Vec::new();
    let (mut damage, mut reach) = (None, start);
    for _ in 0..LIST_TRIES {
        let (mut spans, floor) = spans(storage)?;
        let lost = lost(storage, &spans)?;
        if lost > 0 {
            return Err(flushed::cut_short(&storage.log, lost));
        }
        let end = storage.log.epoch_at(storage.log.length()?);
        spans.retain(|span| span.to <= end && !unusable.contains(span));
        let mut runs = Vec::new();
        for span in chain(&spans, start) {
            if let Some(run) = known.iter().find(|run| run.span() == span) {
                runs.push(Arc::clone(run));
                continue;
            }
            match Run::open(&storage.directory, storage.uuid, span) {
                Ok(run) if knows_log(storage, &run, floor.as_ref())? => runs.push(Arc::new(run)),
                // A purge made a hole there meanwhile.
                Ok(_) if Floor::current(storage)? != floor => break,
                // Of another copy of the container, say. Notes and runs were asked whether the log is whole, and it says all that
                // such a run should say.
                Ok(_) if span.tag == 0 => unusable.push(span),
                Ok(run) => {
                    let what = "the log has changed before the end of this run; `isotach repair` says what can be done";
                    return Err(Error::corrupt(what, run.place()));
                }
                // Damaged; or merged away by another process between the listing and the opening.
                Err(error @ Error::Corrupt { .. }) => {
                    unusable.push(span);
                    damage = Some(error);
                }
                Err(Error::NotFound { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        if runs.len() == chain(&spans, start).len() {
            reach = runs.last().map_or(start, |run| run.span().to);
            match floor.filter(|floor| reach < floor.epoch.min(end)) {
                None => return Ok((runs, floor)),
                // The past before the floor can only be read where runs end.
                Some(floor) if damage.is_some() || storage.log.past().is_some() => {
                    return Err(damage.unwrap_or_else(|| missing(storage, reach, &floor)));
                }
                // The listing may have missed a run that takes the place of others.
                Some(_) => {}
            }
        }
    }
    match Floor::current(storage)? {
        None => Ok((Vec::new(), None)),
        Some(floor) => Err(missing(storage, reach, &floor)),
    }
}

/// How many bytes of the log are known to be lost because a sound run goes further: what a run tells of was durable before it
/// had its name.
pub(crate) fn lost(storage: &Storage, spans: &[Span]) -> Result<u64> {
    let end = storage.log.epoch_at(storage.log.whole_length()?);
    let mut lost = 0;
    for span in spans.iter().filter(|span| span.to > end) {
        match Run::open(&storage.directory, storage.uuid, *span) {
            Ok(_) => lost = lost.max(span.to - end),
            // A damaged one proves nothing, whatever its name is; another may have been merged away meanwhile.
            Err(Error::Corrupt { .. } | Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(lost)
}

/// Whether the log is the one that a run speaks of. Of what was purged from it nothing can be said.
pub(crate) fn knows_log(storage: &Storage, run: &Run, floor: Option<&Floor>) -> Result<bool> {
    let to = run.span().to;
    Ok(floor.is_some_and(|floor| to < floor.epoch) || run.log_sum() == storage.log.sum_before(to)?)
}

fn missing(storage: &Storage, reach: u64, floor: &Floor) -> Error {
    if let Some(epoch) = storage.log.past() {
        let container = storage.directory.path().display();
        let kept = "after a purge the present, and the epochs of snapshots";
        return Error::not_found(format!("epoch {epoch} of {container} (kept are {kept})"));
    }
    let what = format!("the runs go to epoch {reach}, and the log was purged up to {}", floor.epoch);
    Error::corrupt(what, storage.directory.path().display().to_string())
}

/// How far the runs of a container reach, without opening them.
pub(crate) fn reach(storage: &Storage) -> Result<u64> {
    let start = storage.log.epoch_at(0);
    let (mut spans, _) = spans(storage)?;
    // The log is measured after the listing: it only grows, so what reaches past it then never was of it.
    let end = storage.log.epoch_at(storage.log.length()?);
    spans.retain(|span| span.to <= end);
    Ok(chain(&spans, start).last().map_or(start, |span| span.to))
}

/// Removes runs that lie inside one of `runs`: those just merged, and what a process that died left.
///
/// Runs that nobody has opened take nothing's place, however wide their names are: they may be damaged. Nor does a run take
/// the place of one of another generation: it may be of one that was purged meanwhile.
pub(crate) fn remove_narrow(storage: &Storage, runs: &[Arc<Run>]) -> Result<()> {
    let (spans, _) = spans(storage)?;
    let is_inside = |inner: &Span| {
        let mut outer = runs.iter().map(|run| run.span());
        outer.any(|outer| {
            let replaces = inner.tag == 0 || inner.tag == outer.tag;
            replaces && *inner != outer && outer.from <= inner.from && inner.to <= outer.to
        })
    };
    let useless = spans.iter().filter(|span| is_inside(span));
    useless.copied().try_for_each(|span| remove(storage, span))
}

/// Removes a run that lies inside a wider one. Whoever has it open reads on.
pub(crate) fn remove(storage: &Storage, span: Span) -> Result<()> {
    let name = span.file_name();
    match storage.directory.remove(&name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(storage.directory.failed("remove", &name, error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_takes_the_widest_span_at_each_step_and_stops_at_a_gap() {
        let span = |from, to| Span { from, to, tag: 0 };
        let spans = [span(0, 5), span(0, 10), span(5, 20), span(10, 12), span(12, 15), span(16, 30)];
        assert_eq!(chain(&spans, 0), [span(0, 10), span(10, 12), span(12, 15)]);
        assert_eq!(chain(&[], 0), []);
    }
}
