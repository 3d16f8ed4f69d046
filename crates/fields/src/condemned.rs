//! Arrays of wiped collocations that are still to be destroyed.
//!
//! The transaction that removes a collocation writes down the arrays that its history named. So whoever comes next can
//! destroy what a wipe left that was killed. What must stay true:
//! - No entry names a condemned array, and none ever will: a flush that is repeated takes it for wiped (see `publish`).
//! - An array stays written down until it is destroyed, durably. So who finds it neither written down nor gone knows that no
//!   wipe has it.

use std::collections::HashSet;

use isotach_object::{Anchor, Cell, Container, ObjectId, Update};

use crate::{
    Result,
    layout::{CONDEMNED, new_incarnation},
    root::for_each,
};

/// How many arrays stand in one entry, and are destroyed in one call.
const ARRAYS: usize = 4096;
/// How many entries are read together.
const ENTRIES: usize = 16;

/// Entries that condemn arrays: keys that nobody else has, and values.
pub(crate) fn entries(arrays: &[ObjectId]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let wipe = new_incarnation();
    let entry = |(at, some): (usize, &[ObjectId])| {
        let key = [wipe.to_le_bytes(), (at as u64).to_le_bytes()].concat();
        let halves = some.iter().flat_map(|array| [array.hi(), array.lo()]);
        (key, halves.flat_map(u64::to_le_bytes).collect())
    };
    arrays.chunks(ARRAYS).enumerate().map(entry).collect()
}

/// Reads a value of [`entries`] back.
fn arrays_of(value: &[u8]) -> impl Iterator<Item = ObjectId> {
    value.as_chunks::<16>().0.iter().filter_map(|halves| {
        let (hi, lo) = (halves.first_chunk::<8>()?, halves.last_chunk::<8>()?);
        ObjectId::from_halves(u64::from_le_bytes(*hi), u64::from_le_bytes(*lo)).ok()
    })
}

/// All arrays that are condemned.
pub(crate) fn all(catalogue: &dyn Container) -> Result<HashSet<ObjectId>> {
    let mut all = HashSet::new();
    for_each(catalogue, CONDEMNED, |_, value| {
        all.extend(arrays_of(value));
        Ok(())
    })?;
    Ok(all)
}

/// Whether no array is condemned.
pub(crate) fn is_empty(catalogue: &dyn Container) -> Result<bool> {
    let mut next = Some(Anchor::start());
    while let Some(anchor) = next {
        let page = catalogue.list_entries(CONDEMNED, &anchor, 1, false)?;
        if page.iter().next().is_some() {
            return Ok(false);
        }
        next = page.next().cloned();
    }
    Ok(true)
}

/// Destroys all arrays that are condemned. Several may do so at once.
pub(crate) fn destroy(catalogue: &dyn Container, store: &dyn Container) -> Result<()> {
    let mut next = Some(Anchor::start());
    while let Some(anchor) = next {
        let page = catalogue.list_entries(CONDEMNED, &anchor, ENTRIES, true)?;
        next = page.next().cloned();
        let mut destroyed = Vec::new();
        for (key, value) in page.iter() {
            let updates: Vec<_> = arrays_of(value).map(|object| Update::Destroy { object }).collect();
            store.update(&updates)?;
            destroyed.push(Update::Remove { cell: Cell::kv(CONDEMNED, key) });
        }
        if !destroyed.is_empty() {
            store.flush()?;
            catalogue.update(&destroyed)?;
            catalogue.flush()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::array_of;

    #[test]
    fn condemned_arrays_read_back_from_as_many_entries_as_they_need() {
        let arrays: Vec<_> = (0..=ARRAYS as u64).map(|id| array_of(7, id)).collect();
        let entries = entries(&arrays);
        assert_eq!(entries.len(), 2);
        assert_ne!(entries[0].0, entries[1].0);
        let back: Vec<_> = entries.iter().flat_map(|(_, value)| arrays_of(value)).collect();
        assert_eq!(back, arrays);
    }
}
