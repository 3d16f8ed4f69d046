//! DAOS's epochs, which are times, and the states of containers that they stand for.
//!
//! An engine numbers its states itself. It stores the state of each snapshot. The states of transactions are known only for the latest of them, and
//! only if a program was told the epoch: by this process, or by one that [shares](super::epoch_log) what it tells.
//!
//! Each container has a [`Timeline`] with its own lock, and no lock is held while an engine works. What must stay true: of two epochs of a
//! container that this process hands out, the later never stands for an earlier state.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_object::Epoch;

use crate::{
    abi::{constants::DAOS_EPOCH_MAX, errors::DER_NONEXIST},
    containers::{Container, uuid_text},
    runtime::{
        error::{Result, refuse},
        locked, log,
    },
    transactions::{
        epoch_log::{self, EpochLog},
        snapshots,
    },
};

/// 2021-01-01 00:00 UTC, at which epochs begin, in seconds of Unix time.
pub(crate) const BEGIN: u64 = 1_609_459_200;
/// The most epochs that are remembered of a container. The oldest is forgotten first.
const KNOWN_MAX: usize = 65_536;
/// The epochs that are reserved before that of a snapshot, for moments that are handed out while it is created: 65 microseconds.
const RESERVED: u64 = 1 << 20;

/// A moment of a container: the epoch for the program, and the state for the engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) epoch: u64,
    pub(crate) state: Epoch,
}

/// The epochs of one container that this process has handed out.
#[derive(Debug, Default)]
struct Timeline {
    /// The number of moments and snapshots that were handed out.
    given: u64,
    /// The state of the last of them.
    state: Epoch,
    /// The snapshots that are being created, by their epochs.
    pending: BTreeMap<u64, Pending>,
    /// The states of the epochs that the program knows.
    known: BTreeMap<u64, Epoch>,
    /// Where other processes find them.
    log: Arc<EpochLog>,
}

/// A snapshot that is being created. The state that it shows is not known yet.
#[derive(Debug)]
struct Pending {
    /// The last used epoch of those that are reserved before it.
    used: u64,
    /// The latest state of an earlier epoch that was handed out since its creation began.
    state: Epoch,
}

/// By the label of the pool and the UUID of the container.
type Timelines = BTreeMap<(String, [u8; 16]), Arc<Mutex<Timeline>>>;

/// Locked only to look one up.
static TIMELINES: Mutex<Timelines> = Mutex::new(BTreeMap::new());
/// The last epoch that was handed out.
static LAST: AtomicU64 = AtomicU64::new(0);

fn timeline(container: &Container) -> Arc<Mutex<Timeline>> {
    let key = (container.pool.label.clone(), container.uuid);
    Arc::clone(locked(&TIMELINES).entry(key).or_default())
}

/// The present time as an epoch: sixteenths of a nanosecond.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let nanoseconds = since.as_nanos().saturating_sub(u128::from(BEGIN) * 1_000_000_000);
    u64::try_from(nanoseconds * 16).unwrap_or(DAOS_EPOCH_MAX - 1)
}

/// Takes so many epochs from the present time on, all later than `after` and than every one that was given out. Gives the last.
fn take(count: u64, after: u64) -> u64 {
    let end = |last: u64| now().max(last.max(after).saturating_add(1)).saturating_add(count - 1);
    let mut last = LAST.load(Ordering::Relaxed);
    loop {
        let next = end(last);
        match LAST.compare_exchange_weak(last, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return next,
            Err(other) => last = other,
        }
    }
}

/// The present time as an epoch, later than every epoch handed out before.
pub(crate) fn next() -> u64 {
    take(1, 0)
}

impl Timeline {
    /// Hands out a moment of a state that was seen after `given` moments. If another thread got a later state since then, that state was
    /// present too, and the moment has it instead.
    fn moment(&mut self, given: u64, seen: Epoch) -> Moment {
        let state = if self.given == given { seen } else { seen.max(self.state) };
        let epoch = self.next();
        self.record(state);
        Moment { epoch, state }
    }

    /// The next epoch: before that of a snapshot that is being created, while one of its reserved epochs is left.
    fn next(&mut self) -> u64 {
        match self.pending.first_entry() {
            Some(mut first) if first.get().used + 1 < *first.key() => {
                first.get_mut().used += 1;
                first.get().used
            }
            _ => {
                // The new epoch is later than theirs, so these snapshots must be created again.
                self.pending.clear();
                next()
            }
        }
    }

    /// Records that an epoch with this state was handed out, earlier than those of the snapshots that are being created.
    fn record(&mut self, state: Epoch) {
        self.given += 1;
        self.state = state;
        self.pending.values_mut().for_each(|pending| pending.state = pending.state.max(state));
    }

    /// The epoch of a snapshot that will be created: later than `after`.
    fn begin_snapshot(&mut self, after: u64) -> u64 {
        let epoch = take(RESERVED, after);
        self.pending.insert(epoch, Pending { used: epoch - RESERVED, state: Epoch(0) });
        epoch
    }

    /// Records the state that a snapshot shows. False if an earlier epoch has a later state, or a later epoch was handed out.
    fn end_snapshot(&mut self, epoch: u64, state: Epoch) -> bool {
        let is_in_order = self.pending.remove(&epoch).is_some_and(|pending| pending.state <= state);
        if is_in_order {
            // Earlier pending snapshots must be created again: every epoch from now on is later than this one.
            self.pending = self.pending.split_off(&epoch);
            self.record(state);
            self.add(Moment { epoch, state });
        }
        is_in_order
    }

    /// Remembers a moment. True if it is new.
    fn add(&mut self, Moment { epoch, state }: Moment) -> bool {
        let is_new = self.known.insert(epoch, state).is_none();
        if self.known.len() > KNOWN_MAX {
            self.known.pop_first();
        }
        is_new
    }
}

/// The present moment of a container. A later moment never has an earlier state.
pub(crate) fn moment(container: &Container) -> Result<Moment> {
    let timeline = timeline(container);
    let given = locked(&timeline).given;
    let state = container.inner.epoch()?;
    Ok(locked(&timeline).moment(given, state))
}

/// Creates a snapshot that is named by its epoch, which is later than `after`. Returns the epoch, and whether its state is in order with
/// those of the epochs handed out since. If not, the snapshot is not remembered and must be destroyed.
pub(crate) fn snapshot(
    container: &Container,
    after: u64,
    make: impl FnOnce(u64) -> isotach_object::Result<Epoch>,
) -> isotach_object::Result<(u64, bool)> {
    let timeline = timeline(container);
    let epoch = locked(&timeline).begin_snapshot(after);
    let made = make(epoch);
    let mut timeline = locked(&timeline);
    match made {
        Ok(state) => Ok((epoch, timeline.end_snapshot(epoch, state))),
        Err(error) => {
            timeline.pending.remove(&epoch);
            Err(error)
        }
    }
}

/// Forgets the epochs of a container that was destroyed.
pub(crate) fn forget(container: &Container) {
    locked(&TIMELINES).remove(&(container.pool.label.clone(), container.uuid));
    if let Some(place) = log_of(container) {
        epoch_log::forget(&place);
    }
}

/// Where the log of a container's epochs is, if pools are folders.
fn log_of(container: &Container) -> Option<PathBuf> {
    Some(container.pool.epoch_logs()?.join(uuid_text(&container.uuid)))
}

/// Remembers a moment whose epoch the program knows.
pub(crate) fn remember(container: &Container, moment: Moment) {
    let timeline = timeline(container);
    let mut timeline = locked(&timeline);
    let new = timeline.add(moment).then(|| Arc::clone(&timeline.log));
    drop(timeline);
    if let (Some(log), Some(place)) = (new, log_of(container)) {
        log.add(&place, moment.epoch, moment.state);
    }
}

/// The state of a container that an epoch stands for. Between two known epochs it is that of the earlier one. After the last it is the
/// present state, if nothing has changed since, or if the epoch is in the future.
///
/// # Errors
/// `DER_NONEXIST` for an unknown epoch.
pub(crate) fn state_at(container: &Container, epoch: u64) -> Result<Epoch> {
    let mut states: BTreeMap<u64, Epoch> =
        snapshots::list(container)?.into_iter().map(|snapshot| (snapshot.epoch, snapshot.state)).collect();
    states.extend(&locked(&timeline(container)).known);
    if !states.contains_key(&epoch)
        && let Some(state) = log_of(container).and_then(|place| epoch_log::find(&place, epoch))
    {
        return Ok(state);
    }
    let present = container.inner.epoch()?;
    let at_or_before = states.range(..=epoch).next_back();
    let is_between = states.range(epoch..).next().is_some();
    match at_or_before {
        Some((known, state)) if *known == epoch => Ok(*state),
        Some((_, state)) if *state == present => Ok(present),
        Some((known, state)) if is_between => {
            log::line("INFO", &format!("nothing is known of epoch {epoch}: read is the state at {known}"));
            Ok(*state)
        }
        _ if epoch >= now() => Ok(present),
        _ => refuse(
            DER_NONEXIST,
            &format!(
                "nothing is known of epoch {epoch}: it is of no snapshot, nor one that a program was told lately"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, Call};

    #[test]
    fn epochs_rise_faster_than_the_clock_ticks() {
        let epochs: Vec<u64> = (0..1000).map(|_| next()).collect();
        assert!(epochs.windows(2).all(|two| two[0] < two[1]));
        // A snapshot that another test makes reserves epochs that are yet to come.
        assert!(now().abs_diff(epochs[0]) < 60 * 16_000_000_000, "they are about the present time");
    }

    #[test]
    fn a_container_has_moments_while_the_engine_of_another_works() {
        let ((slow, hooked, _), (other, _, _)) = (testing::container(), testing::container());
        let gate = testing::Gate::default();
        hooked.before(Call::Epoch, gate.door());
        let working = testing::within(move || moment(&slow).unwrap());
        gate.wait_until_reached();
        let free = testing::within(move || moment(&other).unwrap());
        free.recv_timeout(testing::PATIENCE).expect("the other container does not wait");
        gate.open();
        working.recv_timeout(testing::PATIENCE).unwrap();
    }

    #[test]
    fn threads_of_a_container_have_moments_while_a_snapshot_of_it_is_made() {
        let (container, hooked, _) = testing::container();
        let gate = testing::Gate::default();
        hooked.before(Call::Snapshot, gate.door());
        let of_snapshot = Arc::clone(&container);
        let snapshot = testing::within(move || {
            snapshot(&of_snapshot, 0, |epoch| {
                of_snapshot.inner.snapshots().unwrap().create(&format!("s{epoch}").parse()?)
            })
        });
        gate.wait_until_reached();
        let of_moments = Arc::clone(&container);
        let moments = testing::within(move || [(); 3].map(|()| moment(&of_moments).unwrap()));
        let moments = moments.recv_timeout(testing::PATIENCE).expect("moments do not wait for the snapshot");
        gate.open();
        let (epoch, is_in_order) = snapshot.recv_timeout(testing::PATIENCE).unwrap().unwrap();
        assert!(is_in_order && moments.iter().all(|moment| moment.epoch < epoch));
        assert!(moment(&container).unwrap().epoch > epoch);
        assert_eq!(state_at(&container, epoch), Ok(container.inner.epoch().unwrap()));
    }

    #[test]
    fn a_snapshot_is_out_of_order_if_a_moment_before_it_has_a_later_state() {
        let mut timeline = Timeline::default();
        let epoch = timeline.begin_snapshot(0);
        assert!(timeline.moment(0, Epoch(5)).epoch < epoch);
        assert!(!timeline.end_snapshot(epoch, Epoch(4)));
        assert!(timeline.known.is_empty());
    }

    #[test]
    fn of_two_snapshots_that_are_made_at_once_the_later_epoch_counts_if_it_ends_first() {
        let mut timeline = Timeline::default();
        let (early, late) = (timeline.begin_snapshot(0), timeline.begin_snapshot(0));
        assert!(timeline.end_snapshot(late, Epoch(4)));
        assert!(timeline.moment(0, Epoch(5)).epoch > late);
        assert!(!timeline.end_snapshot(early, Epoch(3)));
    }

    #[test]
    fn a_moment_has_the_state_of_one_that_another_thread_was_given_meanwhile() {
        let mut timeline = Timeline::default();
        let of_other = timeline.moment(0, Epoch(5));
        let own = timeline.moment(0, Epoch(4));
        assert!(own.epoch > of_other.epoch && own.state == of_other.state);
    }
}
