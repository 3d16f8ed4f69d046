//! Pages of entries, keys and objects, from a merged walk over the state.

use isotach_object::{Anchor, ObjectId, ObjectType, Page, PageBuilder, Result};

use crate::{
    format::path,
    index::{
        entry::{Entry, tag},
        merge::Merge,
        raw::{LazyEntry, Raw},
        state::State,
    },
    io::data::DataReader,
};

/// A page ends at this many bytes, however few entries it has.
const PAGE_BYTES: usize = 8 << 20;

/// Where a page under `prefix` begins: at the prefix, or just after the anchor's path.
fn start(prefix: &[u8], anchor: &Anchor) -> Vec<u8> {
    let mut start = prefix.to_vec();
    if !anchor.as_bytes().is_empty() {
        start.extend_from_slice(anchor.as_bytes());
        start.push(0);
    }
    start
}

/// A page of the live paths under `prefix`: of a KV object's keys, or of a distribution key's attribute keys.
pub(crate) fn page(
    state: &State,
    data: &DataReader,
    prefix: &[u8],
    anchor: &Anchor,
    limit: usize,
    values: bool,
) -> Result<Page> {
    let mut page = PageBuilder::new();
    let mut merge = Merge::of_state(state, &start(prefix, anchor))?;
    while let Some((path, entry)) = merge.next()? {
        let Some(key) = path.strip_prefix(prefix) else { break };
        if !entry.is_live()? {
            continue;
        }
        match entry {
            _ if !values => page.push(key, &[]),
            LazyEntry::Encoded(Raw { tag: tag::VALUE, payload, .. }) => page.push(key, payload),
            entry => match entry.into_versioned()?.entry {
                Entry::Value(value) => page.push(key, &value),
                Entry::ValueExtent(extent, _) => page.push(key, &data.read_extent(&extent)?),
                _ => page.push(key, &[]),
            },
        }
        if page.len() >= limit || page.bytes() >= PAGE_BYTES {
            let next = Anchor::from_bytes(key.to_vec());
            return Ok(page.finish(Some(next)));
        }
    }
    Ok(page.finish(None))
}

/// A page of the distribution keys of an object that hold something. The anchor is the whole path of a key.
pub(crate) fn dkeys(state: &State, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
    let prefix = path::of_object(object);
    let mut page = PageBuilder::new();
    let mut next = match anchor.as_bytes() {
        [] => Some(prefix.to_vec()),
        last => path::after(last),
    };
    let group = |path: &[u8]| path::split_dkey(path).map_or(path::ID, |(end, _)| end);
    while let Some(found) = first_group(state, next, &prefix, group)? {
        let key = path::split_dkey(&found).map(|(_, key)| key).unwrap_or_default();
        page.push(&key, &[]);
        if page.len() >= limit {
            return Ok(page.finish(Some(Anchor::from_bytes(found))));
        }
        next = path::after(&found);
    }
    Ok(page.finish(None))
}

/// A page of the objects that hold something.
pub(crate) fn objects(
    state: &State,
    anchor: &Anchor,
    limit: usize,
) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
    let mut objects = Vec::new();
    let mut next = match anchor.as_bytes() {
        [] => Some(Vec::new()),
        last => path::after(last),
    };
    while let Some(found) = first_group(state, next, &[], |_| path::ID)? {
        let object = path::object_of(&found);
        if object.is_some_and(|object| object.otype() == ObjectType::System) {
            // System objects come last and are not shown.
            break;
        }
        objects.extend(object);
        if objects.len() >= limit {
            return Ok((objects, Some(Anchor::from_bytes(found))));
        }
        next = path::after(&found);
    }
    Ok((objects, None))
}

/// The first group of paths from `start` and under `prefix` with something live in it. `group` returns the length of the part of a path
/// that names its group.
fn first_group(
    state: &State,
    start: Option<Vec<u8>>,
    prefix: &[u8],
    group: impl Fn(&[u8]) -> usize,
) -> Result<Option<Vec<u8>>> {
    let Some(start) = start else { return Ok(None) };
    let mut merge = Merge::of_state(state, &start)?;
    while let Some((path, entry)) = merge.next()? {
        if !path.starts_with(prefix) {
            return Ok(None);
        }
        if entry.is_live()? {
            return Ok(Some(path[..group(path)].to_vec()));
        }
    }
    Ok(None)
}
