//! Snapshots, and the tables of the objects that were there.
//!
//! To DAOS a snapshot is an epoch, which is a time; to an engine it is a name. So the name of one of ours says its epoch.

use std::{collections::BTreeSet, sync::Arc};

use isotach_object::{Anchor, Container as Handle, Epoch, Error, Label, ObjectId};

use crate::{
    abi::{acl::DAOS_ACL_PERM_READ, constants::DAOS_EPOCH_MAX, errors::*},
    array_keys::array_of,
    containers::{Container, own},
    epochs,
    error::{Der, Result, invalid, refuse},
    handles::{self, Open},
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
    ids: Vec<ObjectId>,
}

/// All snapshots of a container that this library made, oldest first.
pub(crate) fn list(container: &Container) -> Result<Vec<Snapshot>> {
    let mut all = Vec::new();
    for snapshot in container.inner.list_snapshots()? {
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
        let epoch = epochs::next().max(last.saturating_add(1)).saturating_add(attempt);
        match container.inner.create_snapshot(&format!("{PREFIX}{epoch:020}{name}").parse()?) {
            Ok(state) => {
                // Known also when the snapshot is gone.
                epochs::tell(&container, epoch, state);
                return Ok(epoch);
            }
            Err(Error::AlreadyExists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    refuse(DER_AGAIN, "others always were faster")
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
    for snapshot in found {
        match container.inner.destroy_snapshot(&snapshot.label) {
            // Another was faster.
            Ok(()) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The state that the snapshot with this epoch shows.
fn open(container: &Container, epoch: u64) -> Result<Arc<dyn Handle>> {
    let found = list(container)?.into_iter().find(|snapshot| snapshot.epoch == epoch);
    Ok(container.inner.open_snapshot(&found.ok_or(Der(DER_NONEXIST))?.label)?)
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
        ids.extend(page.into_iter().filter(|id| *id != own));
        anchor = next;
    }
    // What is under the distribution key 0 of an array is an entry of the container's own object.
    let mut anchor = Some(Anchor::start());
    while let Some(from) = anchor {
        let page = past.list_entries(own, &from, PER_PAGE, false)?;
        ids.extend(page.keys().filter_map(array_of));
        anchor = page.next().cloned();
    }
    let ids = ids.into_iter().collect();
    Ok(handles::add(Open::Table(Arc::new(ObjectTable { ids }))))
}

/// See `daos_oit_close`.
pub(crate) fn close_table(handle: u64) -> Result<()> {
    handles::object_table(handle)?;
    handles::remove(handle).map(drop)
}

impl ObjectTable {
    /// So many ids from a place on, and whether there are more.
    pub(crate) fn page(&self, from: usize, most: usize) -> (&[ObjectId], bool) {
        let rest = self.ids.get(from..).unwrap_or_default();
        (&rest[..most.min(rest.len())], rest.len() > most)
    }
}
