//! Listing entries, keys and objects.

use std::sync::{Arc, Mutex, PoisonError};

use isotach_engine_kit::context::Context;
use isotach_object::{Anchor, Cell, ObjectId, ObjectType, Page, PageBuilder, Result};

use crate::{
    failure::{InStep, Step},
    ffi::{Keys, Tx},
    keys::{OWN, bare},
    read::{self, consistent_read},
    space::Space,
};

/// A page of the entries of a map, with their values.
pub(crate) fn entries(
    space: &Space,
    past: Option<&Tx>,
    object: ObjectId,
    (anchor, limit): (&Anchor, usize),
) -> Result<Page> {
    // The keys are of one state, but the values need another read.
    consistent_read(space, past, 2, |tx| {
        let found = find(space, tx, object, None, (anchor, limit))?;
        let cells: Vec<Cell<'_>> = found.keys.iter().map(|key| Cell::kv(object, key)).collect();
        let stored = read::values(space, tx, &cells)?;
        // An entry may have been removed since the listing, without a transaction.
        let there = found.keys.iter().zip(&stored).filter_map(|(key, value)| Some((key, value.as_ref()?)));
        let mut page = PageBuilder::new();
        there.for_each(|(key, value)| page.push(key, value));
        Ok(page.finish(found.next.map(Anchor::from_bytes)))
    })
}

/// A page of the keys of a map, of the distribution keys of a general object, or of the attribute keys under one of these.
pub(crate) fn keys(
    space: &Space,
    past: Option<&Tx>,
    object: ObjectId,
    dkey: Option<&[u8]>,
    (anchor, limit): (&Anchor, usize),
) -> Result<Page> {
    consistent_read(space, past, 1, |tx| {
        let found = find(space, tx, object, dkey, (anchor, limit))?;
        let own = |key| if dkey.is_some() { bare(key) } else { Some(key) };
        let mut page = PageBuilder::new();
        found.keys.iter().filter_map(|key| own(key)).for_each(|key| page.push(key, b""));
        Ok(page.finish(found.next.map(Anchor::from_bytes)))
    })
}

fn find(
    space: &Space,
    tx: Option<&Tx>,
    object: ObjectId,
    dkey: Option<&[u8]>,
    (anchor, limit): (&Anchor, usize),
) -> Step<Keys> {
    let result =
        space.object(space.id(object)).and_then(|open| open.keys(tx, dkey, anchor.as_bytes(), limit));
    result.in_step(|| format!("list keys of object {object} of container {}", space.label))
}

/// The objects of a container, cached from the first page of a listing on.
#[derive(Debug, Default)]
pub(crate) struct Objects(Mutex<Option<Arc<Vec<ObjectId>>>>);

impl Objects {
    /// A page of the objects with content.
    pub(crate) fn page(
        &self,
        space: &Space,
        past: Option<(&Tx, u64)>,
        anchor: &Anchor,
        limit: usize,
    ) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        let last = anchor.object()?;
        let all = match past {
            Some((_, epoch)) => self.all(|| at(space, epoch), false)?,
            None => self.all(|| at_present(space), last.is_none())?,
        };
        let from = last.map_or(0, |last| all.partition_point(|object| *object <= last));
        let (mut listed, mut next) = (Vec::new(), None);
        for object in &all[from..] {
            if listed.len() == limit {
                next = listed.last().copied().map(Anchor::of_object);
                break;
            }
            if consistent_read(space, past.map(|(tx, _)| tx), 1, |tx| holds_something(space, tx, *object))? {
                listed.push(*object);
            }
        }
        Ok((listed, next))
    }

    /// Caches the present objects.
    pub(crate) fn take_present(&self, space: &Space) -> Result<()> {
        self.all(|| at_present(space), true).map(drop)
    }

    fn all(&self, list: impl FnOnce() -> Result<Vec<ObjectId>>, anew: bool) -> Result<Arc<Vec<ObjectId>>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = kept.as_ref().filter(|_| !anew) {
            return Ok(Arc::clone(all));
        }
        let mut all = list()?;
        all.sort_unstable();
        all.dedup();
        Ok(Arc::clone(kept.insert(Arc::new(all))))
    }
}

/// The present objects of callers, from a snapshot created for this.
fn at_present(space: &Space) -> Result<Vec<ObjectId>> {
    let what = || listing_of(space);
    let epoch = space.cont.create_snapshot().context(what)?;
    let listed = at(space, epoch);
    space.cont.destroy_snapshot(epoch).context(what)?;
    listed
}

/// The objects of callers at an epoch.
fn at(space: &Space, epoch: u64) -> Result<Vec<ObjectId>> {
    let listed = space.cont.objects_at(epoch).context(|| listing_of(space))?;
    Ok(listed.into_iter().filter(|id| *id != OWN).filter_map(|id| space.object_of(id)).collect())
}

fn holds_something(space: &Space, tx: Option<&Tx>, object: ObjectId) -> Step<bool> {
    if object.otype() == ObjectType::Array {
        return Ok(read::size(space, tx, &Cell::array(object))?.is_some());
    }
    let mut anchor = Anchor::start();
    loop {
        let found = find(space, tx, object, None, (&anchor, 1))?;
        match found.next {
            _ if !found.keys.is_empty() => return Ok(true),
            None => return Ok(false),
            Some(next) => anchor = Anchor::from_bytes(next),
        }
    }
}

/// DAOS has an object table only for snapshots.
fn listing_of(space: &Space) -> String {
    format!(
        "list the objects of container {}, for which DAOS makes a snapshot, so that it takes the permission w",
        space.label
    )
}
