//! Listing: entries and keys in pages, and the objects of a container, with their sizes.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use isotach_engine_kit::context::Context;
use isotach_object::{Anchor, Error, ObjectId, ObjectType, Page, PageBuilder, Result};

use crate::{
    entry::Entry,
    ffi::{Answer, Errno, IfFound, Io, Names, ReadOp},
    keys::{self, LAST, Name},
    omaps::{Omaps, PER_OPERATION},
    space::Space,
};

/// How many listings of objects a handle remembers.
const LISTINGS_MAX: usize = 4;

/// The stored key behind which a page begins.
fn after(anchor: &Anchor) -> Result<Vec<u8>> {
    match anchor.as_bytes() {
        [] => Ok(keys::FIRST.to_vec()),
        key if keys::hash_of(key).is_some() && !key.contains(&0) => Ok(key.to_vec()),
        _ => Err(Error::invalid("anchor of a listing", "one that this listing returned")),
    }
}

/// See [`isotach_object::Container::list_entries`].
pub(crate) fn entries(
    omaps: &Omaps,
    object: ObjectId,
    anchor: &Anchor,
    limit: usize,
    values: bool,
) -> Result<Page> {
    let most = limit.min(PER_OPERATION);
    let mut page = PageBuilder::new();
    let mut next = Some(after(anchor)?);
    // The omaps of an object that has many small ones are gone through until the page is full.
    while let Some(from) = next.take_if(|_| page.len() < most) {
        let found = omaps.page(object, &from, LAST, most - page.len(), values)?;
        for (key, stored) in &found.entries {
            let (dkey, _) = keys::cell_keys(object, key)?;
            match Entry::decode_if(values, object, key, stored)? {
                Entry::Value(value) => page.push(&dkey, &value),
                Entry::Records(_) => page.push(&dkey, &[]),
            }
        }
        next = found.next;
    }
    Ok(page.finish(next.map(Anchor::from_bytes)))
}

/// See [`isotach_object::Container::list_dkeys`].
pub(crate) fn dkeys(omaps: &Omaps, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
    let mut page = PageBuilder::new();
    let mut next = Some(after(anchor)?);
    while let Some(from) = next.take() {
        // One entry says that a distribution key is there; the next one is sought behind all of its entries.
        let found = omaps.page(object, &from, LAST, 1, false)?;
        next = found.next;
        if let Some((key, _)) = found.entries.first() {
            let (dkey, _) = keys::cell_keys(object, key)?;
            page.push(&dkey, &[]);
            let (_, end) = keys::dkey_range(&dkey);
            next = next.map(|next| next.max(end));
            if page.len() >= limit.min(PER_OPERATION) {
                break;
            }
        }
    }
    Ok(page.finish(next.map(Anchor::from_bytes)))
}

/// See [`isotach_object::Container::list_akeys`].
pub(crate) fn akeys(
    omaps: &Omaps,
    object: ObjectId,
    dkey: &[u8],
    anchor: &Anchor,
    limit: usize,
) -> Result<Page> {
    let (begin, end) = keys::dkey_range(dkey);
    let from = if anchor.as_bytes().is_empty() { begin } else { after(anchor)? };
    let found = omaps.page(object, &from, &end, limit, false)?;
    let mut page = PageBuilder::new();
    for (key, _) in &found.entries {
        page.push(&keys::cell_keys(object, key)?.1, &[]);
    }
    Ok(page.finish(found.next.map(Anchor::from_bytes)))
}

/// The objects that a handle has listed, so that a listing in pages asks Ceph once.
#[derive(Debug, Default)]
pub(crate) struct Objects(Mutex<HashMap<ObjectId, Arc<BTreeSet<ObjectId>>>>);

impl Objects {
    /// See [`isotach_object::Container::list_objects`]. An anchor is the last object of the page before.
    pub(crate) fn page(
        &self,
        space: &Space,
        anchor: &Anchor,
        limit: usize,
    ) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        let last = anchor.object()?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = match last.and_then(|last| kept.remove(&last)) {
            Some(all) => all,
            None => Arc::new(objects(space)?),
        };
        let mut rest = match last {
            None => all.range(..),
            Some(last) => all.range((std::ops::Bound::Excluded(last), std::ops::Bound::Unbounded)),
        };
        let page: Vec<ObjectId> = rest.by_ref().take(limit).copied().collect();
        let next = rest.next().and(page.last()).copied();
        if let Some(next) = next {
            if kept.len() >= LISTINGS_MAX {
                kept.clear();
            }
            kept.insert(next, Arc::clone(&all));
        }
        Ok((page, next.map(Anchor::of_object)))
    }
}

/// All objects that hold something.
fn objects(space: &Space) -> Result<BTreeSet<ObjectId>> {
    let mut objects = BTreeSet::new();
    let mut with_entries = BTreeSet::new();
    for name in all_names(space)? {
        match name {
            Name::Array(object) => drop(objects.insert(object)),
            Name::Entries(object, _) => drop(with_entries.insert(object)),
            Name::Piece(..) | Name::Header => {}
        }
    }
    for object in with_entries {
        // An omap stays when its last entry is removed.
        if object.otype() != ObjectType::Array && space.omaps.holds_something(object)? {
            objects.insert(object);
        }
    }
    Ok(objects)
}

/// The names of all objects of a container in Ceph's pools.
pub(crate) fn all_names(space: &Space) -> Result<Vec<Name>> {
    let mut names = Vec::new();
    let ios = [Some(&space.io), (!Arc::ptr_eq(&space.io, &space.data)).then_some(&space.data)];
    for io in ios.into_iter().flatten() {
        let what = || format!("list the RADOS objects of container {}", space.label);
        for name in Names::of(io).context(what)? {
            names.extend(Name::of(&name.context(what)?));
        }
    }
    Ok(names)
}

/// The size of a container.
pub(crate) fn size(space: &Space) -> Result<u64> {
    let names = all_names(space)?;
    let mut objects = Vec::new();
    let mut entries = 0;
    for name in names {
        match name {
            Name::Array(object) => objects.push(keys::array_name(object)),
            Name::Piece(writer, number) => objects.push(keys::piece_name(writer, number)),
            Name::Entries(object, 0) => space.omaps.each_page(object, |page| {
                entries += bytes_of(page);
                Ok(())
            })?,
            Name::Entries(..) | Name::Header => {}
        }
    }
    let found = stat(&space.data, &objects, space)?;
    Ok(entries + found.into_iter().flatten().map(|answer| answer.size).sum::<u64>())
}

/// The bytes of entries.
pub(crate) fn bytes_of(entries: &[(Vec<u8>, Vec<u8>)]) -> u64 {
    entries.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum()
}

/// Size, time and attributes of objects; `None` for one that does not exist.
pub(crate) fn stat(io: &Io, names: &[String], space: &Space) -> Result<Vec<Option<Answer<'static>>>> {
    let mut found = Vec::with_capacity(names.len());
    let reads = names.iter().map(|name| (name.clone(), ReadOp::new().stat().attributes()));
    let seen: Result<(), Errno> = io.read_together(reads, |_, outcome| {
        found.push(outcome.if_found()?);
        Ok(())
    });
    seen.context(|| format!("read the RADOS objects of container {}", space.label))?;
    Ok(found)
}
