//! Epochs as programs know them, which are times, and the states of containers that they stand for.
//!
//! An engine counts its states in numbers of its own. Of a snapshot the engine keeps which of these is meant; of a transaction that is known
//! in this process only, and for the last of them.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_object::Epoch;

use crate::{
    abi::{constants::DAOS_EPOCH_MAX, errors::DER_NONEXIST},
    containers::Container,
    error::{Result, refuse},
    log, snapshots,
};

/// 2021-01-01 00:00 UTC, at which epochs begin, in seconds of Unix time.
pub(crate) const BEGIN: u64 = 1_609_459_200;
/// How many epochs of transactions are known: the oldest goes.
const MOST: usize = 65_536;

/// When something takes place in a container: as the program is told, and as the engine counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) epoch: u64,
    pub(crate) state: Epoch,
}

/// What was told of transactions.
#[derive(Debug)]
struct Told {
    /// The last epoch that was given away.
    last: u64,
    /// The UUID of the container, and the state.
    states: BTreeMap<u64, ([u8; 16], Epoch)>,
}

static TOLD: Mutex<Told> = Mutex::new(Told { last: 0, states: BTreeMap::new() });

fn told() -> MutexGuard<'static, Told> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The present time as an epoch: sixteenths of a nanosecond.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let nanoseconds = since.as_nanos().saturating_sub(u128::from(BEGIN) * 1_000_000_000);
    u64::try_from(nanoseconds * 16).unwrap_or(DAOS_EPOCH_MAX - 1)
}

impl Told {
    /// The present time, and later than every epoch that was given away.
    fn next(&mut self) -> u64 {
        self.last = now().max(self.last.saturating_add(1));
        self.last
    }

    fn add(&mut self, container: &Container, Moment { epoch, state }: Moment) {
        self.states.insert(epoch, (container.uuid, state));
        if self.states.len() > MOST {
            self.states.pop_first();
        }
    }
}

/// The present time as an epoch, and later than every one that was given away before.
pub(crate) fn next() -> u64 {
    told().next()
}

/// The present moment of a container. Epoch and state are taken under one lock, so that of two moments the later one has no earlier state.
pub(crate) fn moment(container: &Container) -> Result<Moment> {
    let mut told = told();
    let state = container.inner.epoch()?;
    Ok(Moment { epoch: told.next(), state })
}

/// As [`moment`], for a state that `make` names by the epoch, which is later than `after`. The program is told of it.
pub(crate) fn named(
    container: &Container,
    after: u64,
    make: impl FnOnce(u64) -> isotach_object::Result<Epoch>,
) -> isotach_object::Result<u64> {
    let mut told = told();
    told.last = told.last.max(after);
    let epoch = told.next();
    let state = make(epoch)?;
    told.add(container, Moment { epoch, state });
    Ok(epoch)
}

/// Remembers a moment of which the program is told.
pub(crate) fn tell(container: &Container, moment: Moment) {
    told().add(container, moment);
}

/// The state of a container that an epoch stands for. Between two that are known it is the earlier one's; after the last it is the
/// present one, if there was no change since, or if the epoch is yet to come.
///
/// # Errors
/// `DER_NONEXIST` for one of which nothing is known.
pub(crate) fn state_at(container: &Container, epoch: u64) -> Result<Epoch> {
    let mut states: BTreeMap<u64, Epoch> =
        snapshots::list(container)?.into_iter().map(|snapshot| (snapshot.epoch, snapshot.state)).collect();
    let is_its = |told: &(&u64, &([u8; 16], Epoch))| told.1.0 == container.uuid;
    states.extend(told().states.iter().filter(is_its).map(|(epoch, (_, state))| (*epoch, *state)));
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

    #[test]
    fn epochs_rise_faster_than_the_clock_ticks() {
        let epochs: Vec<u64> = (0..1000).map(|_| next()).collect();
        assert!(epochs.windows(2).all(|two| two[0] < two[1]));
        assert!(now() - epochs[0] < 60 * 16_000_000_000, "they are about the present time");
    }
}
