//! Verifying a container: everything that FORMAT.md lets a reader check.
//!
//! There are three steps: the log and each run by itself; whether they agree; the bytes that they refer to. Nothing is changed. Others may
//! write meanwhile, and what they append is not checked.

mod extents;
mod found;
mod frames;
mod history;
mod prepared;
pub(crate) mod quarantine;
pub(crate) mod restore;
pub(crate) mod unnamed;

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use isotach_object::{Error, Finding, Part, Result, Unnamed, Verified, Verify, VerifyProgress};

pub(crate) use self::found::{Report, cell_of};
use self::{
    found::{Findings, Meter},
    unnamed::Named,
};
use crate::{
    index::{
        chain,
        run::{Run, Span},
        state::{NOBODY, State},
        system,
    },
    io::{flush_notes, log::HEADER, storage::Storage},
    purge::manifest::{self, PurgeManifest},
    verify::frames::Counts,
};

/// How often runs are listed again because others have merged some meanwhile.
const LIST_TRIES: usize = 20;

/// The result for a container that cannot be opened: the reason is the only finding. Other errors are returned.
pub(crate) fn of_unopened(error: Error, part: Part) -> Result<Verified> {
    let (what, place) = match error {
        Error::Corrupt { what, place } => (what, place),
        Error::InvalidInput { what, expected } => (format!("expected {expected}"), what),
        Error::NotFound { what } => ("it is missing".to_owned(), what),
        other => return Err(other),
    };
    let finding = Finding { part, what, place, byte: None, cell: None };
    Ok(Verified { findings: vec![finding], ..Verified::default() })
}

/// Verifies an open container.
pub(crate) fn verify(storage: &Storage, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
    let mut tries = LIST_TRIES;
    loop {
        let (spans, manifest) = chain::spans(storage)?;
        let verified = verify_once(storage, &spans, manifest, how, progress)?;
        tries -= 1;
        // Files that a purge removed meanwhile are not damaged.
        if verified.is_sound() || tries == 0 || PurgeManifest::current(storage)? == manifest {
            return Ok(verified);
        }
    }
}

fn verify_once(
    storage: &Storage,
    spans: &[Span],
    manifest: Option<PurgeManifest>,
    how: Verify,
    progress: VerifyProgress<'_>,
) -> Result<Verified> {
    let (found, named, meter) = (Findings::default(), Named::default(), Meter::new(progress));
    let notes = flush_notes::read_in(&storage.directory, storage.uuid)?;
    // After the listing and the notes: the log only grows, and contains what both refer to.
    let end = storage.log.length()?;
    check_notes(storage, &notes, end, &found);
    let start = first_to_scan(storage, manifest);
    let seen = &Report { found: &found, named: &named, meter: &meter };
    if let Some(manifest) = manifest {
        let ends =
            manifest.ends(storage).or_else(|error| found.take(Part::Derived, None, error).map(|()| None))?;
        named.ends(storage, ends)?;
    }
    meter.expect(2 * end.saturating_sub(start));
    let checks = FileChecks { storage, start, end, manifest, seen };
    let (counts, runs) = checks.check(spans, how.threads)?;
    let sound: Vec<Arc<Run>> = runs.values().flatten().cloned().collect();
    let state = history::follow(storage, &sound, manifest.as_ref(), end, seen)?;
    if how.data {
        meter.expect(storage.data.folder().size()?);
    }
    let prepared = prepared::check(storage, &state, how, seen)?;
    let (extents, snapshots) = check_extents(storage, state, &sound, how, seen)?;
    let entries = sound.iter().map(|run| run.entries()).sum();
    let (findings, more_findings) = found.finish();
    let checked = vec![
        ("frames", counts.frames),
        ("torn frames", counts.torn),
        ("runs", runs.len() as u64),
        ("entries of runs", entries),
        ("extents", extents),
        ("snapshots", snapshots),
        ("prepared transactions", prepared),
    ];
    let is_cut = findings.iter().any(|finding| finding.part == Part::End);
    let unnamed = match is_cut {
        true => named.unnamed(storage, &named.tails(storage, true)?),
        false => unnamed_for_sure(storage, &named, manifest, counts.end)?,
    };
    Ok(Verified { checked, bytes: meter.done(), findings, unnamed, more_findings })
}

/// Checks whether the log, which ends at byte `end`, contains everything that was flushed.
fn check_notes(storage: &Storage, notes: &flush_notes::FlushNotes, end: u64, found: &Findings) {
    if let Some((what, byte)) = notes.damage {
        let place = storage.directory.path_of(flush_notes::FILE).display().to_string();
        found.add(Part::Derived, what, place, byte, None);
    }
    let lost = notes.epoch.saturating_sub(storage.log.epoch_at(end));
    if lost > 0 {
        let log = storage.log.path().display().to_string();
        found.add(Part::End, flush_notes::what_is_lost(lost), log, Some(end), None);
    }
}

/// Checks the extents of the present and of each snapshot. Returns the numbers of extents and snapshots.
fn check_extents(
    storage: &Storage,
    mut newer: State,
    sound: &[Arc<Run>],
    how: Verify,
    seen: &Report<'_>,
) -> Result<(u64, u64)> {
    let snapshots = system::snapshots(&newer)?;
    let mut extents = extents::check(storage, &newer, None, how, seen)?;
    for snapshot in snapshots.iter().rev() {
        let past = storage.at(snapshot.epoch.0)?;
        let state =
            State::open(&past, NOBODY, sound).and_then(|mut state| state.replay(&past).map(|()| state));
        match state {
            Ok(state) => {
                extents += extents::check(storage, &state, Some(&newer), how, seen)?;
                newer = state;
            }
            // Damage of the log or of a run that hides the past was reported already. Or the snapshot was removed and purged meanwhile.
            Err(Error::Corrupt { .. } | Error::NotFound { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    Ok((extents, snapshots.len() as u64))
}

/// The end of the last frame with a meaning, from byte `start` on.
pub(crate) fn end_of_history(storage: &Storage, start: u64) -> Result<u64> {
    Ok(scan(storage, start..storage.log.length()?, &Named::default())?.end)
}

/// Bytes that nothing names, while others may be writing. The log was read up to byte `end` so far.
fn unnamed_for_sure(
    storage: &Storage,
    named: &Named,
    manifest: Option<PurgeManifest>,
    end: u64,
) -> Result<Vec<Unnamed>> {
    let tails = named.tails(storage, false)?;
    if tails.is_empty() {
        return Ok(Vec::new());
    }
    // The writers of these files have finished, so all frames that name them are in the log by now.
    scan(storage, end..storage.log.length()?.max(end), named)?;
    // A purge names its copies when it ends. A purge that died leaves copies that nothing will name.
    let is_purged = PurgeManifest::current(storage)? != manifest || manifest::has_begun(storage)?;
    Ok(if is_purged { Vec::new() } else { named.unnamed(storage, &tails) })
}

/// Bytes that neither these runs nor the log name. The log has lost its end.
pub(crate) fn unnamed(storage: &Storage, runs: &[Arc<Run>]) -> Result<Vec<Unnamed>> {
    let named = named_by(storage, runs)?;
    Ok(named.unnamed(storage, &named.tails(storage, true)?))
}

/// The extents that these runs and the log name, or named before a purge.
pub(crate) fn named_by(storage: &Storage, runs: &[Arc<Run>]) -> Result<Named> {
    let manifest = PurgeManifest::current(storage)?;
    let named = Named::default();
    // An unreadable list counts as empty: it is better to keep too much than too little.
    let ends = manifest.and_then(|manifest| manifest.ends(storage).ok().flatten());
    named.ends(storage, Some(ends.unwrap_or_default()))?;
    name_log(storage, manifest, &named)?;
    runs.iter().try_for_each(|run| extents::name(run, &named))?;
    Ok(named)
}

/// All extents that were ever named, except those in the runs of `manifest`.
pub(crate) fn named(storage: &Storage, manifest: Option<PurgeManifest>) -> Result<Named> {
    let named = Named::default();
    if let Some(manifest) = manifest {
        match manifest.ends(storage) {
            Err(Error::Corrupt { .. }) => named.ends(storage, None)?,
            ends => named.ends(storage, ends?)?,
        }
    }
    name_log(storage, manifest, &named)?;
    Ok(named)
}

/// Notes the extents that the log behind a manifest's epoch names.
fn name_log(storage: &Storage, manifest: Option<PurgeManifest>, named: &Named) -> Result<()> {
    let start = first_to_scan(storage, manifest);
    scan(storage, start..storage.log.length()?.max(start), named).map(drop)
}

/// The start of the log that was not purged. The runs contain the purged part.
pub(crate) fn first_to_scan(storage: &Storage, manifest: Option<PurgeManifest>) -> u64 {
    manifest.and_then(|manifest| storage.log.position_of(manifest.epoch)).unwrap_or(0).max(HEADER as u64)
}

/// Notes the extents in a range of the log, without checking anything else.
fn scan(storage: &Storage, range: Range<u64>, named: &Named) -> Result<Counts> {
    let (found, meter) = (&Findings::default(), &Meter::new(&|_, _| ()));
    frames::scan(storage, range, &Report { found, named, meter })
}

/// The runs that were checked. Sound ones are open.
type Runs = BTreeMap<Span, Option<Arc<Run>>>;

/// Checks the log and each run by itself.
struct FileChecks<'v> {
    storage: &'v Storage,
    start: u64,
    end: u64,
    manifest: Option<PurgeManifest>,
    seen: &'v Report<'v>,
}

impl FileChecks<'_> {
    fn check(&self, spans: &[Span], threads: usize) -> Result<(Counts, Runs)> {
        let mut runs = Runs::new();
        let (mut counts, vanished) = self.check_listed(spans, true, threads, &mut runs)?;
        let mut again = vanished;
        for _ in 0..LIST_TRIES {
            if !again {
                break;
            }
            // Wider ones have replaced those that are gone.
            let (mut new, _) = chain::spans(self.storage)?;
            new.retain(|span| !runs.contains_key(span));
            let (more, vanished) = self.check_listed(&new, false, threads, &mut runs)?;
            counts = if counts == Counts::default() { more } else { counts };
            again = vanished;
        }
        Ok((counts, runs))
    }

    /// Checks these runs, and the log if `log` is set. Returns whether a run was gone.
    fn check_listed(
        &self,
        spans: &[Span],
        log: bool,
        threads: usize,
        runs: &mut Runs,
    ) -> Result<(Counts, bool)> {
        let (next, counts) = (AtomicUsize::new(usize::from(!log)), Mutex::new(Counts::default()));
        let checked: Mutex<Vec<(Span, RunCheck)>> = Mutex::default();
        let work = || -> Result<()> {
            loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job == 0 {
                    let scanned = frames::scan(self.storage, self.start..self.end, self.seen)?;
                    *counts.lock().unwrap_or_else(PoisonError::into_inner) = scanned;
                    continue;
                }
                let Some(span) = spans.get(job - 1) else { return Ok(()) };
                let looked = self.check_run(*span)?;
                checked.lock().unwrap_or_else(PoisonError::into_inner).push((*span, looked));
            }
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(spans.len() + 1)).map(|_| scope.spawn(work)).collect();
            let own = work();
            for other in others {
                other.join().map_err(|_| Error::corrupt("a thread that reads has failed", "memory"))??;
            }
            own
        })?;
        let mut vanished = false;
        for (span, looked) in checked.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match looked {
                RunCheck::Sound(run) => drop(runs.insert(span, Some(run))),
                RunCheck::Unsound => drop(runs.insert(span, None)),
                RunCheck::Gone => vanished = true,
            }
        }
        Ok((counts.into_inner().unwrap_or_else(PoisonError::into_inner), vanished))
    }

    fn check_run(&self, span: Span) -> Result<RunCheck> {
        // The log does not contain the entries of a purge's runs any more.
        let part = if span.tag == 0 { Part::Derived } else { Part::History };
        let run = match Run::open(&self.storage.directory, self.storage.uuid, span) {
            Ok(run) => Arc::new(run),
            // Merged into a wider one by another process.
            Err(Error::NotFound { .. }) => return Ok(RunCheck::Gone),
            Err(error) => {
                self.seen.found.take(part, None, error)?;
                return Ok(RunCheck::Unsound);
            }
        };
        self.seen.meter.expect(run.index_position());
        let mut sound = run.check(self.seen)?;
        let length = self.storage.log.length()?;
        let lost = span.to.saturating_sub(self.storage.log.epoch_at(length));
        let wrong = if lost > 0 {
            if sound {
                // A repair restores its entries.
                extents::name(&run, self.seen.named)?;
            }
            Some((Part::End, format!("the log has lost its last {lost} bytes, which this run contains")))
        } else if !chain::knows_log(self.storage, &run, self.manifest.as_ref())? {
            let what = "the run is of another log, or the log has changed before the run's end";
            Some((part, what.to_owned()))
        } else {
            None
        };
        if let Some((part, what)) = wrong {
            self.seen.found.add(part, what, run.place(), None, None);
            sound = false;
        }
        Ok(if sound { RunCheck::Sound(run) } else { RunCheck::Unsound })
    }
}

/// The result of checking a run.
enum RunCheck {
    Sound(Arc<Run>),
    Unsound,
    Gone,
}
