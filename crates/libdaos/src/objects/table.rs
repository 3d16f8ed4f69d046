//! Tables of the objects that a snapshot holds (`daos_oit_*`).

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use isotach_object::{Anchor, ObjectId};

use crate::{
    abi::{acl::DAOS_ACL_PERM_READ, constants::DAOS_HTYPE_OBJ, errors::DER_NONEXIST},
    containers::{Container, own},
    objects::{
        array_keys::array_of,
        is_programs,
        pages::{PER_PAGE, all_keys},
    },
    runtime::{
        error::{Der, Result},
        handles, locked,
    },
    transactions::snapshots,
};

/// The ids of the objects of a snapshot.
#[derive(Debug)]
pub(crate) struct ObjectTable {
    /// Sorted.
    ids: Vec<ObjectId>,
    /// The ids that the program marked. The content of a mark cannot be read, so it is not stored.
    marked: Mutex<BTreeSet<ObjectId>>,
}

/// See `daos_oit_open`.
pub(crate) fn open(container: u64, epoch: u64) -> Result<u64> {
    let container = Container::get(container)?;
    container.check(DAOS_ACL_PERM_READ)?;
    let past = snapshots::open(&container, epoch)?;
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
    // The value under the distribution key 0 of an array is an entry of the container's own object.
    let keys = all_keys(|from, limit| past.list_entries(own, from, limit, false))?;
    ids.extend(keys.iter().filter_map(|key| array_of(key)));
    let table = ObjectTable { ids: ids.into_iter().collect(), marked: Mutex::default() };
    Ok(handles::add(DAOS_HTYPE_OBJ, Arc::new(table), None))
}

/// See `daos_oit_close`.
pub(crate) fn close(handle: u64) -> Result<()> {
    ObjectTable::get(handle)?;
    handles::remove(handle)
}

impl ObjectTable {
    /// The table behind a handle.
    pub(crate) fn get(handle: u64) -> Result<Arc<Self>> {
        handles::get(handle, DAOS_HTYPE_OBJ)
    }

    /// At most `most` ids from an index on, or only unmarked ones, and the index at which the next page begins.
    pub(crate) fn page(&self, from: usize, most: usize, is_unmarked: bool) -> (Vec<ObjectId>, Option<usize>) {
        let marked = locked(&self.marked);
        let is_listed = |(_, id): &(usize, &ObjectId)| !is_unmarked || !marked.contains(id);
        let mut rest = self.ids.iter().enumerate().skip(from).filter(is_listed);
        let page = rest.by_ref().take(most).map(|(_, id)| *id).collect();
        (page, rest.next().map(|(at, _)| at))
    }

    /// See `daos_oit_mark`: marks an id of the table, or removes its mark.
    pub(crate) fn mark(&self, id: (u64, u64), is_marked: bool) -> Result<()> {
        let id = ObjectId::from_halves(id.0, id.1)?;
        if self.ids.binary_search(&id).is_err() {
            return Err(Der(DER_NONEXIST));
        }
        let mut marked = locked(&self.marked);
        let _ = if is_marked { marked.insert(id) } else { marked.remove(&id) };
        Ok(())
    }
}
