//! Epochs as programs know them, which are times, and the states of containers that they stand for.
//!
//! An engine counts its states in numbers of its own. Of a snapshot the engine keeps which of these is meant; of a transaction that is known
//! in this process only, and for the last of them.
//!
//! Each container has a [`Timeline`] with a lock of its own, and no lock is held while an engine works. What must stay true: of two epochs of
//! a container that this process gives out, the later never stands for an earlier state.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_object::Epoch;

use crate::{
    abi::{constants::DAOS_EPOCH_MAX, errors::DER_NONEXIST},
    containers::Container,
    runtime::{
        error::{Result, refuse},
        log,
    },
    transactions::snapshots,
};

/// 2021-01-01 00:00 UTC, at which epochs begin, in seconds of Unix time.
pub(crate) const BEGIN: u64 = 1_609_459_200;
/// How many epochs of transactions are known of a container: the oldest goes.
const MAX_KNOWN: usize = 65_536;
/// How many epochs are reserved before that of a snapshot for the moments that are given while it is made: 65 microseconds.
const RESERVED: u64 = 1 << 20;

/// When something takes place in a container: as the program is told, and as the engine counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) epoch: u64,
    pub(crate) state: Epoch,
}

/// The epochs of one container that this process has given out.
#[derive(Debug, Default)]
struct Timeline {
    /// How many moments and snapshots were given.
    given: u64,
    /// The state of the last of them.
    state: Epoch,
    /// The snapshots that are being made, by their epochs.
    pending: BTreeMap<u64, Pending>,
    /// The states of the epochs that the program knows.
    known: BTreeMap<u64, Epoch>,
}

/// A snapshot that is being made: which state it shows is not known yet.
#[derive(Debug)]
struct Pending {
    /// The last epoch that was used of those that are reserved before it.
    used: u64,
    /// The latest state of an epoch before its own that was given since it began.
    state: Epoch,
}

/// By the label of the pool and the UUID of the container.
type Timelines = BTreeMap<(String, [u8; 16]), Arc<Mutex<Timeline>>>;

/// Locked only to look one up.
static TIMELINES: Mutex<Timelines> = Mutex::new(BTreeMap::new());
/// The last epoch that was given out.
static LAST: AtomicU64 = AtomicU64::new(0);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn timeline(container: &Container) -> Arc<Mutex<Timeline>> {
    let key = (container.pool.label.clone(), container.uuid);
    Arc::clone(lock(&TIMELINES).entry(key).or_default())
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

/// The present time as an epoch, and later than every one that was given away before.
pub(crate) fn next() -> u64 {
    take(1, 0)
}

impl Timeline {
    /// Gives a moment of a state that was seen since `given` of them were given. A later state that another thread was given meanwhile was
    /// present meanwhile, too, so it takes its place.
    fn moment(&mut self, given: u64, seen: Epoch) -> Moment {
        let state = if self.given == given { seen } else { seen.max(self.state) };
        let epoch = self.next();
        self.gave(state);
        Moment { epoch, state }
    }

    /// The next epoch: before that of a snapshot that is being made, where one of those is left that are reserved.
    fn next(&mut self) -> u64 {
        match self.pending.first_entry() {
            Some(mut first) if first.get().used + 1 < *first.key() => {
                first.get_mut().used += 1;
                first.get().used
            }
            _ => {
                // This one is behind them, so they are made anew.
                self.pending.clear();
                next()
            }
        }
    }

    /// An epoch with this state was given, which is before those of the snapshots that are being made.
    fn gave(&mut self, state: Epoch) {
        self.given += 1;
        self.state = state;
        self.pending.values_mut().for_each(|pending| pending.state = pending.state.max(state));
    }

    /// The epoch of a snapshot that will be made, which is later than `after`.
    fn begin_snapshot(&mut self, after: u64) -> u64 {
        let epoch = take(RESERVED, after);
        self.pending.insert(epoch, Pending { used: epoch - RESERVED, state: Epoch(0) });
        epoch
    }

    /// A snapshot with this epoch shows this state. False if an earlier epoch was given to a later state, or a later epoch to any.
    fn end_snapshot(&mut self, epoch: u64, state: Epoch) -> bool {
        let is_in_order = self.pending.remove(&epoch).is_some_and(|pending| pending.state <= state);
        if is_in_order {
            // Those before it are made anew: what is given from now on is behind this one.
            self.pending = self.pending.split_off(&epoch);
            self.gave(state);
            self.add(Moment { epoch, state });
        }
        is_in_order
    }

    fn add(&mut self, Moment { epoch, state }: Moment) {
        self.known.insert(epoch, state);
        if self.known.len() > MAX_KNOWN {
            self.known.pop_first();
        }
    }
}

/// The present moment of a container. Of two moments the later one has no earlier state.
pub(crate) fn moment(container: &Container) -> Result<Moment> {
    let timeline = timeline(container);
    let given = lock(&timeline).given;
    let state = container.inner.epoch()?;
    Ok(lock(&timeline).moment(given, state))
}

/// Makes a snapshot that is named by its epoch, which is later than `after`. Gives the epoch, and whether its state is in order with those
/// of other epochs that were given out meanwhile: if not, nothing is remembered of it, and it must go.
pub(crate) fn snapshot(
    container: &Container,
    after: u64,
    make: impl FnOnce(u64) -> isotach_object::Result<Epoch>,
) -> isotach_object::Result<(u64, bool)> {
    let timeline = timeline(container);
    let epoch = lock(&timeline).begin_snapshot(after);
    let made = make(epoch);
    let mut timeline = lock(&timeline);
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
    lock(&TIMELINES).remove(&(container.pool.label.clone(), container.uuid));
}

/// Remembers a moment of which the program is told.
pub(crate) fn tell(container: &Container, moment: Moment) {
    lock(&timeline(container)).add(moment);
}

/// The state of a container that an epoch stands for. Between two that are known it is the earlier one's; after the last it is the
/// present one, if there was no change since, or if the epoch is yet to come.
///
/// # Errors
/// `DER_NONEXIST` for one of which nothing is known.
pub(crate) fn state_at(container: &Container, epoch: u64) -> Result<Epoch> {
    let mut states: BTreeMap<u64, Epoch> =
        snapshots::list(container)?.into_iter().map(|snapshot| (snapshot.epoch, snapshot.state)).collect();
    states.extend(&lock(&timeline(container)).known);
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
                "nothing is known of epoch {epoch}: it is of no snapshot, nor of a transaction of this process"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

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
        hooked.before_epoch(gate.door());
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
        hooked.before_snapshot(gate.door());
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
