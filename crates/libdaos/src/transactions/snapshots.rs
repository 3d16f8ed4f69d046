//! Snapshots, and the tables of the objects that were there.
//!
//! To DAOS a snapshot is an epoch, which is a time; to an engine it is a name. So the name of one of ours says its epoch.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use isotach_object::{Anchor, Container as Handle, Epoch, Error, Label, ObjectId};

use crate::{
    abi::{acl::DAOS_ACL_PERM_READ, constants::DAOS_EPOCH_MAX, errors::*},
    containers::{Container, flush_committed, own},
    objects::{array_keys::array_of, is_programs},
    runtime::{
        error::{Der, Result, invalid, refuse},
        handles::{self, Open},
    },
    transactions::{epochs, uncertain_unless_refused},
};

/// What a snapshot's name begins with; then comes the epoch, in 20 digits, and the program's own name of it, if it has one.
const PREFIX: &str = "daos.";
/// How often a snapshot is tried whose name another took in the same moment.
const MOST_ATTEMPTS: u64 = 100;
/// Ids of objects that are asked for at once.
const PER_PAGE: usize = 1000;

/// A snapshot, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) epoch: u64,
    pub(crate) label: Label,
    /// The engine's number of what it shows.
    pub(crate) state: Epoch,
}

/// The ids of the objects that there were at an epoch.
#[derive(Debug)]
pub(crate) struct ObjectTable {
    /// Sorted.
    ids: Vec<ObjectId>,
    /// Which of them the program marked. What a mark says nobody can ask for, so it is not kept.
    marked: Mutex<BTreeSet<ObjectId>>,
}

/// All snapshots of a container that this library made, oldest first.
pub(crate) fn list(container: &Container) -> Result<Vec<Snapshot>> {
    let mut all = Vec::new();
    for snapshot in container.inner.snapshots()?.list()? {
        let digits = snapshot.name.as_str().strip_prefix(PREFIX).and_then(|rest| rest.get(..20));
        if let Some(epoch) = digits.and_then(|digits| digits.parse().ok()) {
            all.push(Snapshot { epoch, label: snapshot.name, state: snapshot.epoch });
        }
    }
    all.sort_by_key(|snapshot| snapshot.epoch);
    Ok(all)
}

/// See `daos_cont_create_snap`: gives the epoch, which is later than that of every snapshot before.
pub(crate) fn create(container: u64, name: Option<&str>) -> Result<u64> {
    let container = handles::container(container)?;
    container.check_writable()?;
    let name = name.map(|name| format!(".{name}")).unwrap_or_default();
    for attempt in 0..MOST_ATTEMPTS {
        let last = list(&container)?.last().map_or(0, |last| last.epoch);
        let make =
            |epoch| container.inner.snapshots()?.create(&format!("{PREFIX}{epoch:020}{name}").parse()?);
        // Known also when the snapshot is gone. It is flushed when that is settled, so that fewer epochs are given out meanwhile.
        let made = epochs::snapshot(&container, last.saturating_add(attempt), make)
            .and_then(|made| flush_committed(&*container.inner).map(|()| made));
        match made {
            Ok((epoch, true)) if is_in_order(&list(&container)?, epoch) => return Ok(epoch),
            // Nobody was told of it.
            Ok((epoch, _)) => destroy_labelled(&container, &format!("{PREFIX}{epoch:020}{name}").parse()?)?,
            Err(Error::AlreadyExists { .. }) => {}
            Err(error) => return Err(uncertain_unless_refused(error)),
        }
    }
    refuse(DER_AGAIN, "others always were faster")
}

/// Whether no snapshot with a later epoch shows an earlier state than the one with this epoch: another process may have taken its epoch
/// after this one and have made its snapshot before. Of two that met so the one that came second finds the other.
fn is_in_order(all: &[Snapshot], epoch: u64) -> bool {
    let state = all.iter().find(|snapshot| snapshot.epoch == epoch).map(|snapshot| snapshot.state);
    all.iter().filter(|other| other.epoch > epoch).all(|other| state.is_none_or(|state| state <= other.state))
}

/// Destroys a snapshot of the engine's.
fn destroy_labelled(container: &Container, label: &Label) -> Result<()> {
    match container.inner.snapshots()?.destroy(label) {
        // Another was faster.
        Err(Error::NotFound { .. }) => Ok(()),
        destroyed => {
            let flushed = destroyed.and_then(|()| flush_committed(&*container.inner));
            flushed.map_err(uncertain_unless_refused)
        }
    }
}

/// See `daos_cont_destroy_snap`.
pub(crate) fn destroy(container: u64, low: u64, high: u64) -> Result<()> {
    let container = handles::container(container)?;
    container.check_writable()?;
    if low > high || (low != high && low != 0 && high != DAOS_EPOCH_MAX) {
        return invalid("a range of snapshots: one epoch, from 0 on, or up to the highest is expected");
    }
    let found: Vec<Snapshot> =
        list(&container)?.into_iter().filter(|snapshot| (low..=high).contains(&snapshot.epoch)).collect();
    if found.is_empty() && low == high {
        return Err(Der(DER_NONEXIST));
    }
    found.iter().try_for_each(|snapshot| destroy_labelled(&container, &snapshot.label))
}

/// The state that the snapshot with this epoch shows.
fn open(container: &Container, epoch: u64) -> Result<Arc<dyn Handle>> {
    let found = list(container)?.into_iter().find(|snapshot| snapshot.epoch == epoch);
    Ok(container.inner.snapshots()?.open(&found.ok_or(Der(DER_NONEXIST))?.label)?)
}

/// See `daos_oit_open`.
pub(crate) fn open_table(container: u64, epoch: u64) -> Result<u64> {
    let container = handles::container(container)?;
    container.check(DAOS_ACL_PERM_READ)?;
    let past = open(&container, epoch)?;
    let own = own()?;
    let (mut ids, mut anchor) = (BTreeSet::new(), Some(Anchor::start()));
    while let Some(from) = anchor {
        let (page, next) = past.list_objects(&from, PER_PAGE)?;
        for id in page {
            if is_programs(id)? {
                ids.insert(id);
            }
        }
        anchor = next;
    }
    // What is under the distribution key 0 of an array is an entry of the container's own object.
    let mut anchor = Some(Anchor::start());
    while let Some(from) = anchor {
        let page = past.list_entries(own, &from, PER_PAGE, false)?;
        ids.extend(page.keys().filter_map(array_of));
        anchor = page.next().cloned();
    }
    let table = ObjectTable { ids: ids.into_iter().collect(), marked: Mutex::default() };
    Ok(handles::add(Open::Table(Arc::new(table))))
}

/// See `daos_oit_close`.
pub(crate) fn close_table(handle: u64) -> Result<()> {
    handles::object_table(handle)?;
    handles::remove(handle).map(drop)
}

impl ObjectTable {
    /// So many ids from a place on, or only those without a mark, and where the next page begins if there are more.
    pub(crate) fn page(&self, from: usize, most: usize, is_unmarked: bool) -> (Vec<ObjectId>, Option<usize>) {
        let marked = self.marked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_listed = |(_, id): &(usize, &ObjectId)| !is_unmarked || !marked.contains(id);
        let mut rest = self.ids.iter().enumerate().skip(from).filter(is_listed);
        let page = rest.by_ref().take(most).map(|(_, id)| *id).collect();
        (page, rest.next().map(|(at, _)| at))
    }

    /// See `daos_oit_mark`: marks an id that is in the table, or takes its mark away.
    pub(crate) fn mark(&self, id: (u64, u64), is_marked: bool) -> Result<()> {
        let id = ObjectId::from_halves(id.0, id.1)?;
        if self.ids.binary_search(&id).is_err() {
            return Err(Der(DER_NONEXIST));
        }
        let mut marked = self.marked.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = if is_marked { marked.insert(id) } else { marked.remove(&id) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_with_an_earlier_epoch_than_one_that_was_made_before_it_is_out_of_order() {
        let all: Vec<Snapshot> = [(10, 1), (20, 5), (30, 3), (40, 5)]
            .map(|(epoch, state)| Snapshot { epoch, label: "s".parse().unwrap(), state: Epoch(state) })
            .into();
        assert_eq!([10, 20, 30, 40].map(|epoch| is_in_order(&all, epoch)), [true, false, true, true]);
    }
}
