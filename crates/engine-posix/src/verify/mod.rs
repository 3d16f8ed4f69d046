//! Verifying a container: everything that FORMAT.md lets a reader check, looked at to its end.
//!
//! In three steps: the log and each run by itself; whether they agree; the bytes that they refer to. Nothing is changed,
//! and others may write meanwhile: what is appended after the beginning is not looked at.

mod extents;
mod found;
mod frames;
mod history;
mod parked;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use isotach_object::{Error, Finding, Part, Result, Verified, Verify, VerifyProgress};

pub(crate) use self::found::{Findings, Meter, cell_of};
use crate::{
    chain,
    floor::Floor,
    log::HEADER,
    run::{Run, Span},
    snapshot,
    state::{Place, State},
    verify::frames::Counts,
};

/// No handle's writer number.
const NOBODY: u64 = 0;
/// How often runs are listed again because others have merged some meanwhile.
const LIST_TRIES: usize = 20;

/// A container that cannot be opened: what keeps it from that is the only finding. Other errors are given back.
pub(crate) fn of_unopened(error: Error) -> Result<Verified> {
    let (what, place) = match error {
        Error::Corrupt { what, place } => (what, place),
        Error::InvalidInput { what, expected } => (format!("expected {expected}"), what),
        Error::NotFound { what } => ("it is missing".to_owned(), what),
        other => return Err(other),
    };
    let finding = Finding { part: Part::Description, what, place, byte: None, cell: None };
    Ok(Verified { findings: vec![finding], ..Verified::default() })
}

/// Looks at all of an open container.
pub(crate) fn verify(place: &Place, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
    let mut tries = LIST_TRIES;
    loop {
        let (spans, floor) = chain::spans(place)?;
        let verified = look(place, &spans, floor, how, progress)?;
        tries -= 1;
        // What a purge took away meanwhile is not damaged.
        if verified.is_sound() || tries == 0 || Floor::current(place)? == floor {
            return Ok(verified);
        }
    }
}

fn look(
    place: &Place,
    spans: &[Span],
    floor: Option<Floor>,
    how: Verify,
    progress: VerifyProgress<'_>,
) -> Result<Verified> {
    let (found, meter) = (Findings::default(), Meter::new(progress));
    // After the listing: the log only grows, and runs speak of what is in it.
    let end = place.log.length()?;
    // What was purged of the log is in the runs alone.
    let start = floor.and_then(|floor| place.log.position_of(floor.epoch)).unwrap_or(HEADER as u64);
    meter.expect(2 * end.saturating_sub(start));
    let apart = Apart { place, start, end, floor, found: &found, meter: &meter };
    let (counts, runs) = apart.check(spans, how.threads)?;
    let sound: Vec<Arc<Run>> = runs.values().flatten().cloned().collect();
    let state = history::follow(place, &sound, floor.as_ref(), end, &found, &meter)?;
    if how.data {
        meter.expect(place.data.folder().size()?);
    }
    let parked = parked::check(place, &state, how, &found, &meter)?;
    let (extents, snapshots) = check_extents(place, state, &sound, how, &found, &meter)?;
    let entries = sound.iter().map(|run| run.entries()).sum();
    let (findings, more_findings) = found.finish();
    let checked = vec![
        ("frames", counts.frames),
        ("torn frames", counts.torn),
        ("runs", runs.len() as u64),
        ("entries of runs", entries),
        ("extents", extents),
        ("snapshots", snapshots),
        ("parked stages", parked),
    ];
    Ok(Verified { checked, bytes: meter.done(), findings, more_findings })
}

/// Looks at the extents of the present and of each snapshot. Gives how many of both there are.
fn check_extents(
    place: &Place,
    mut newer: State,
    sound: &[Arc<Run>],
    how: Verify,
    found: &Findings,
    meter: &Meter<'_>,
) -> Result<(u64, u64)> {
    let snapshots = snapshot::all(&newer)?;
    let mut extents = extents::check(place, &newer, None, how, found, meter)?;
    for snapshot in snapshots.iter().rev() {
        let past = place.at(snapshot.epoch.0)?;
        let state =
            State::open(&past, NOBODY, sound).and_then(|mut state| state.replay(&past).map(|()| state));
        match state {
            Ok(state) => {
                extents += extents::check(place, &state, Some(&newer), how, found, meter)?;
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

/// The runs that were looked at; those that are sound are open.
type Runs = BTreeMap<Span, Option<Arc<Run>>>;

/// The log and each run, each by itself.
struct Apart<'v> {
    place: &'v Place,
    start: u64,
    end: u64,
    floor: Option<Floor>,
    found: &'v Findings,
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
                chain::spans(self.place)?.0.into_iter().filter(|span| !runs.contains_key(span)).collect();
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
                    let scanned = frames::scan(self.place, self.start..self.end, self.found, self.meter)?;
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
        let run = match Run::open(&self.place.directory, self.place.uuid, span) {
            Ok(run) => run,
            // Merged into a wider one by another process.
            Err(Error::NotFound { .. }) => return Ok(Looked::Gone),
            Err(error) => {
                self.found.take(part, None, error)?;
                return Ok(Looked::Unsound);
            }
        };
        self.meter.expect(run.index_position());
        let mut sound = run.check(self.found, self.meter)?;
        let length = self.place.log.length()?;
        let wrong = if span.to > self.place.log.epoch_at(length) {
            Some(format!("the log has only {length} bytes: it has lost some that were durable"))
        } else if !chain::knows_log(self.place, &run, self.floor.as_ref())? {
            Some("the run is of another log, or the log has changed before the run's end".to_owned())
        } else {
            None
        };
        if let Some(what) = wrong {
            let place = run.place().to_owned();
            self.found.add(Finding { part, what, place, byte: None, cell: None });
            sound = false;
        }
        Ok(if sound { Looked::Sound(Arc::new(run)) } else { Looked::Unsound })
    }
}

/// What came of looking at a run.
enum Looked {
    Sound(Arc<Run>),
    Unsound,
    Gone,
}
