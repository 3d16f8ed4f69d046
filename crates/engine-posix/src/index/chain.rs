//! The choice among the runs of a container.
//!
//! A reader takes a chain of spans without gaps, the widest first. Runs inside a wider one are removed. A run only repeats the log, so an
//! unusable one is left out, unless it contains what was purged from the log.

use std::sync::Arc;

use isotach_object::{Error, Result};

use crate::{
    index::run::{Run, Span},
    io::{disk::if_there, flush_notes, storage::Storage},
    purge::manifest::PurgeManifest,
};

/// How often a listing is repeated when a run in it has vanished.
const LIST_TRIES: usize = 20;

/// The spans of all valid runs of a container, and the purge manifest that makes them valid.
pub(crate) fn spans(storage: &Storage) -> Result<(Vec<Span>, Option<PurgeManifest>)> {
    let (names, manifest) = PurgeManifest::list(storage)?;
    let mut spans: Vec<Span> = names.iter().filter_map(|name| Span::of_file_name(name)).collect();
    spans.retain(|span| PurgeManifest::validates(manifest.as_ref(), span));
    Ok((spans, manifest))
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

/// The runs of the [`chain`] of these spans from `start` on.
pub(crate) fn runs_from(runs: &[Arc<Run>], spans: &[Span], start: u64) -> Vec<Arc<Run>> {
    let run_of = |span: Span| runs.iter().find(|run| run.span() == span).cloned();
    chain(spans, start).into_iter().filter_map(run_of).collect()
}

/// Refuses sound runs that go only to `reach`, before the manifest's epoch: the log was purged up to there.
pub(crate) fn check_reach(storage: &Storage, reach: u64, manifest: Option<&PurgeManifest>) -> Result<()> {
    let Some(PurgeManifest { epoch, .. }) = manifest.filter(|manifest| reach < manifest.epoch) else {
        return Ok(());
    };
    let what = format!("the sound runs go to epoch {reach}, and the log was purged up to {epoch}");
    Err(Error::corrupt(what, storage.directory.path().display().to_string()))
}

/// Opens the runs that together reach furthest. Those of `known` are taken as they are. A run that is damaged, or that reaches past the
/// log, is left out, because the log contains all of it. Before the manifest's epoch the log contains nothing, so the runs must reach that
/// far.
pub(crate) fn open_runs(
    storage: &Storage,
    known: &[Arc<Run>],
) -> Result<(Vec<Arc<Run>>, Option<PurgeManifest>)> {
    let start = storage.log.epoch_at(0);
    let mut unusable: Vec<Span> = Vec::new();
    let (mut damage, mut reach) = (None, start);
    for _ in 0..LIST_TRIES {
        let (mut spans, manifest) = spans(storage)?;
        let lost = lost(storage, &spans)?;
        if lost > 0 {
            return Err(flush_notes::cut_short(&storage.log, lost));
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
                Ok(run) if knows_log(storage, &run, manifest.as_ref())? => runs.push(Arc::new(run)),
                // A purge has made a hole there meanwhile.
                Ok(_) if PurgeManifest::current(storage)? != manifest => break,
                // It may be of another copy of the container. Notes and runs show that the log is whole, so the log contains what such a
                // run should.
                Ok(_) if span.tag == 0 => unusable.push(span),
                Ok(run) => {
                    let what = "the log has changed before the end of this run; `isotach repair` says what can be done";
                    return Err(Error::corrupt(what, run.place()));
                }
                // Damaged, or merged away by another process between the listing and the opening.
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
            match manifest.filter(|manifest| reach < manifest.epoch.min(end)) {
                None => return Ok((runs, manifest)),
                // The past before the manifest can only be read at the end of a run.
                Some(manifest) if damage.is_some() || storage.log.past().is_some() => {
                    return Err(damage.unwrap_or_else(|| missing(storage, reach, &manifest)));
                }
                // The listing may have missed a run that replaces others.
                Some(_) => {}
            }
        }
    }
    match PurgeManifest::current(storage)? {
        None => Ok((Vec::new(), None)),
        Some(manifest) => Err(missing(storage, reach, &manifest)),
    }
}

/// How many bytes of the log are lost, as a sound run that reaches further proves: the log was durable before a run got its name.
pub(crate) fn lost(storage: &Storage, spans: &[Span]) -> Result<u64> {
    let end = storage.log.epoch_at(storage.log.whole_length()?);
    let mut lost = 0;
    for span in spans.iter().filter(|span| span.to > end) {
        match Run::open(&storage.directory, storage.uuid, *span) {
            Ok(_) => lost = lost.max(span.to - end),
            // A damaged run proves nothing. Another run may have been merged away meanwhile.
            Err(Error::Corrupt { .. } | Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(lost)
}

/// Whether a run was made of this log. What was purged from the log is not compared.
pub(crate) fn knows_log(storage: &Storage, run: &Run, manifest: Option<&PurgeManifest>) -> Result<bool> {
    let to = run.span().to;
    Ok(manifest.is_some_and(|manifest| to < manifest.epoch) || run.log_sum() == storage.log.sum_before(to)?)
}

fn missing(storage: &Storage, reach: u64, manifest: &PurgeManifest) -> Error {
    if let Some(epoch) = storage.log.past() {
        let container = storage.directory.path().display();
        let kept = "after a purge the present, and the epochs of snapshots";
        return Error::not_found(format!("epoch {epoch} of {container} (kept are {kept})"));
    }
    let what = format!("the runs go to epoch {reach}, and the log was purged up to {}", manifest.epoch);
    Error::corrupt(what, storage.directory.path().display().to_string())
}

/// How far the runs of a container reach, without opening them.
pub(crate) fn reach(storage: &Storage) -> Result<u64> {
    let start = storage.log.epoch_at(0);
    let (mut spans, _) = spans(storage)?;
    // The log is measured after the listing. It only grows, so a run that reaches past its end was never made of it.
    let end = storage.log.epoch_at(storage.log.length()?);
    spans.retain(|span| span.to <= end);
    Ok(chain(&spans, start).last().map_or(start, |span| span.to))
}

/// Removes runs inside one of `runs`: those just merged, and those that a dead process left.
///
/// Only an opened run replaces others: a damaged one has a wide name, too. A run does not replace one of another generation, because its
/// own generation may have been purged meanwhile.
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

/// Removes a run that lies inside a wider one. Readers that have it open are not affected.
pub(crate) fn remove(storage: &Storage, span: Span) -> Result<()> {
    let name = span.file_name();
    let removed = if_there(storage.directory.remove(&name)).map(drop);
    removed.map_err(|error| storage.directory.failed("remove", &name, error))
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
