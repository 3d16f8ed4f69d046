//! Verifying a container: everything that FORMAT.md lets a reader check, looked at to its end.
//!
//! In three steps: the log and each run by itself; whether they agree; the bytes that they refer to. Nothing is changed,
//! and others may write meanwhile: what is appended after the beginning is not looked at.

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

pub(crate) use self::found::{Findings, Meter, Report, cell_of};
use self::unnamed::Named;
use crate::{
    index::{
        chain,
        run::{Run, Span},
        state::{NOBODY, State},
        system,
    },
    io::{flushed, log::HEADER, storage::Storage},
    purge::manifest::{self, Floor},
    verify::frames::Counts,
};

/// How often runs are listed again because others have merged some meanwhile.
const LIST_TRIES: usize = 20;

/// A container that cannot be opened: what keeps it from that is the only finding. Other errors are given back.
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

/// Looks at all of an open container.
pub(crate) fn verify(storage: &Storage, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
    let mut tries = LIST_TRIES;
    loop {
        let (spans, floor) = chain::spans(storage)?;
        let verified = look(storage, &spans, floor, how, progress)?;
        tries -= 1;
        // What a purge took away meanwhile is not damaged.
        if verified.is_sound() || tries == 0 || Floor::current(storage)? == floor {
            return Ok(verified);
        }
    }
}

fn look(
    storage: &Storage,
    spans: &[Span],
    floor: Option<Floor>,
    how: Verify,
    progress: VerifyProgress<'_>,
) -> Result<Verified> {
    let (found, named, meter) = (Findings::default(), Named::default(), Meter::new(progress));
    let told = flushed::read_in(&storage.directory, storage.uuid)?;
    // After the listing and the notes: the log only grows, and both speak of what is in it.
    let end = storage.log.length()?;
    check_notes(storage, &told, end, &found);
    let start = first_to_scan(storage, floor);
    if let Some(floor) = floor {
        let ends =
            floor.ends(storage).or_else(|error| found.take(Part::Derived, None, error).map(|()| None))?;
        named.ends(storage, ends)?;
    }
    meter.expect(2 * end.saturating_sub(start));
    let apart = Apart { storage, start, end, floor, found: &found, named: &named, meter: &meter };
    let (counts, runs) = apart.check(spans, how.threads)?;
    let sound: Vec<Arc<Run>> = runs.values().flatten().cloned().collect();
    let state = history::follow(storage, &sound, floor.as_ref(), end, &found, &meter)?;
    if how.data {
        meter.expect(storage.data.folder().size()?);
    }
    let prepared = prepared::check(storage, &state, how, &found, &named, &meter)?;
    let seen = Report { found: &found, named: &named, meter: &meter };
    let (extents, snapshots) = check_extents(storage, state, &sound, how, &seen)?;
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
        false => unnamed_for_sure(storage, &named, floor, counts.end)?,
    };
    Ok(Verified { checked, bytes: meter.done(), findings, unnamed, more_findings })
}

/// Looks whether the log, which ends at byte `end`, reaches as far as it was flushed.
fn check_notes(storage: &Storage, told: &flushed::Told, end: u64, found: &Findings) {
    if let Some((what, byte)) = told.damage {
        let place = storage.directory.path_of(flushed::FILE).display().to_string();
        found.add(Finding { part: Part::Derived, what: what.to_owned(), place, byte, cell: None });
    }
    let lost = told.epoch.saturating_sub(storage.log.epoch_at(end));
    if lost > 0 {
        let (what, log) = (flushed::what_is_lost(lost), storage.log.path().display().to_string());
        found.add(Finding { part: Part::End, what, place: log, byte: Some(end), cell: None });
    }
}

/// Looks at the extents of the present and of each snapshot. Gives how many of both there are.
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
            // What keeps the past from being read is damage of the log or of a run, and told already; or the snapshot was
            // removed and purged meanwhile.
            Err(Error::Corrupt { .. } | Error::NotFound { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    Ok((extents, snapshots.len() as u64))
}

/// Where the last frame ends that says something, looked at from byte `start` on.
pub(crate) fn end_of_history(storage: &Storage, start: u64) -> Result<u64> {
    Ok(scan(storage, start..storage.log.length()?, &Named::default())?.end)
}

/// Bytes that nothing names, though others may be at work: the log was read up to byte `end` so far.
fn unnamed_for_sure(
    storage: &Storage,
    named: &Named,
    floor: Option<Floor>,
    end: u64,
) -> Result<Vec<Unnamed>> {
    let tails = named.tails(storage, false)?;
    if tails.is_empty() {
        return Ok(Vec::new());
    }
    // The writers of these files have finished, so all that they named is in the log by now.
    scan(storage, end..storage.log.length()?.max(end), named)?;
    // What a purge copies is named when it is done; one that died left copies that nothing will name.
    let is_purged = Floor::current(storage)? != floor || manifest::has_begun(storage)?;
    Ok(if is_purged { Vec::new() } else { named.unnamed(storage, &tails) })
}

/// Bytes that neither these runs nor the log, which has lost its end, name.
pub(crate) fn unnamed(storage: &Storage, runs: &[Arc<Run>]) -> Result<Vec<Unnamed>> {
    let named = named_by(storage, runs)?;
    Ok(named.unnamed(storage, &named.tails(storage, true)?))
}

/// All that these runs name, what the log names, and what was named when it was purged.
pub(crate) fn named_by(storage: &Storage, runs: &[Arc<Run>]) -> Result<Named> {
    let floor = Floor::current(storage)?;
    let named = Named::default();
    // What cannot be read was not named: better too much is kept than too little.
    let ends = floor.and_then(|floor| floor.ends(storage).ok().flatten());
    named.ends(storage, Some(ends.unwrap_or_default()))?;
    name_log(storage, floor, &named)?;
    runs.iter().try_for_each(|run| extents::name(run, &named))?;
    Ok(named)
}

/// All that was ever named, but for what the runs of `floor` name.
pub(crate) fn named(storage: &Storage, floor: Option<Floor>) -> Result<Named> {
    let named = Named::default();
    if let Some(floor) = floor {
        match floor.ends(storage) {
            Err(Error::Corrupt { .. }) => named.ends(storage, None)?,
            ends => named.ends(storage, ends?)?,
        }
    }
    name_log(storage, floor, &named)?;
    Ok(named)
}

/// Notes what the log behind a floor names.
fn name_log(storage: &Storage, floor: Option<Floor>, named: &Named) -> Result<()> {
    let start = first_to_scan(storage, floor);
    scan(storage, start..storage.log.length()?.max(start), named).map(drop)
}

/// Where the log begins that was not purged. What was, is in the runs alone.
fn first_to_scan(storage: &Storage, floor: Option<Floor>) -> u64 {
    floor.and_then(|floor| storage.log.position_of(floor.epoch)).unwrap_or(0).max(HEADER as u64)
}

/// Notes what the frames in a range of the log name, and nothing else about them.
fn scan(storage: &Storage, range: Range<u64>, named: &Named) -> Result<Counts> {
    frames::scan(storage, range, &Findings::default(), named, &Meter::new(&|_, _| ()))
}

/// The runs that were looked at; those that are sound are open.
type Runs = BTreeMap<Span, Option<Arc<Run>>>;

/// The log and each run, each by itself.
struct Apart<'v> {
    storage: &'v Storage,
    start: u64,
    end: u64,
    floor: Option<Floor>,
    found: &'v Findings,
    named: &'v Named,
    meter: &'v Meter<'v>,
}

impl Apart<'_> {
    fn check(&self, spans: &[Span], threads: usize) -> Result<(Counts, Runs)> {
        let mut runs = Runs::new();
        let (mut counts, vanished) = self.check_listed(spans, true, threads, &mut runs)?;
        let mut again = vanished;
        for _ in 0..LIST_TRIES {
            if !again {
                break;
            }
            // Wider ones have taken the place of those that are gone.
            let new: Vec<Span> =
                chain::spans(self.storage)?.0.into_iter().filter(|span| !runs.contains_key(span)).collect();
            let (more, vanished) = self.check_listed(&new, false, threads, &mut runs)?;
            counts = if counts == Counts::default() { more } else { counts };
            again = vanished;
        }
        Ok((counts, runs))
    }

    /// Looks at these runs, and at the log if it is wanted. Gives whether a run was gone.
    fn check_listed(
        &self,
        spans: &[Span],
        log: bool,
        threads: usize,
        runs: &mut Runs,
    ) -> Result<(Counts, bool)> {
        let (next, counts) = (AtomicUsize::new(usize::from(!log)), Mutex::new(Counts::default()));
        let checked: Mutex<Vec<(Span, Looked)>> = Mutex::default();
        let work = || -> Result<()> {
            loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job == 0 {
                    let scanned =
                        frames::scan(self.storage, self.start..self.end, self.found, self.named, self.meter)?;
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
                Looked::Sound(run) => drop(runs.insert(span, Some(run))),
                Looked::Unsound => drop(runs.insert(span, None)),
                Looked::Gone => vanished = true,
            }
        }
        Ok((counts.into_inner().unwrap_or_else(PoisonError::into_inner), vanished))
    }

    fn check_run(&self, span: Span) -> Result<Looked> {
        // What a purge made says what the log does not any more.
        let part = if span.tag == 0 { Part::Derived } else { Part::History };
        let run = match Run::open(&self.storage.directory, self.storage.uuid, span) {
            Ok(run) => Arc::new(run),
            // Merged into a wider one by another process.
            Err(Error::NotFound { .. }) => return Ok(Looked::Gone),
            Err(error) => {
                self.found.take(part, None, error)?;
                return Ok(Looked::Unsound);
            }
        };
        self.meter.expect(run.index_position());
        let mut sound = run.check(self.found, self.meter)?;
        let length = self.storage.log.length()?;
        let lost = span.to.saturating_sub(self.storage.log.epoch_at(length));
        let wrong = if lost > 0 {
            if sound {
                // It is what a repair brings back.
                extents::name(&run, self.named)?;
            }
            Some((Part::End, format!("the log has lost its last {lost} bytes, of which this run knows")))
        } else if !chain::knows_log(self.storage, &run, self.floor.as_ref())? {
            let what = "the run is of another log, or the log has changed before the run's end";
            Some((part, what.to_owned()))
        } else {
            None
        };
        if let Some((part, what)) = wrong {
            let place = run.place().to_owned();
            self.found.add(Finding { part, what, place, byte: None, cell: None });
            sound = false;
        }
        Ok(if sound { Looked::Sound(run) } else { Looked::Unsound })
    }
}

/// What came of looking at a run.
enum Looked {
    Sound(Arc<Run>),
    Unsound,
    Gone,
}
