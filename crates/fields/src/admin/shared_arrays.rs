//! Arrays that several keys of a dataset name, because a field was indexed again at its location.
//!
//! What must stay true: a purge or a wipe destroys no array that an entry of the dataset still names. An entry that is put
//! meanwhile is not seen. An array that a purge has kept for another key may stay until the dataset is wiped.

use std::{collections::HashSet, sync::Arc};

use isotach_object::ObjectId;

use crate::{
    Location, Result,
    catalogue::{
        collocation::Collocation, dataset_reader::DatasetReader, history::parse_history, root::for_each,
    },
};

/// The arrays that a key indexes which did not archive them.
pub(crate) fn shared_arrays<'c>(
    reader: &DatasetReader,
    collocations: impl Iterator<Item = &'c Arc<Collocation>>,
) -> Result<HashSet<ObjectId>> {
    let mut shared = HashSet::new();
    for_arrays(reader, collocations, |entry, array| {
        if array != entry {
            shared.insert(array);
        }
    })?;
    Ok(shared)
}

/// Those of `shared` that these collocations name, in replaced fields, too.
pub(crate) fn named_by<'c>(
    reader: &DatasetReader,
    collocations: impl Iterator<Item = &'c Arc<Collocation>>,
    shared: &HashSet<ObjectId>,
) -> Result<HashSet<ObjectId>> {
    let mut named = HashSet::new();
    if !shared.is_empty() {
        for_arrays(reader, collocations, |_, array| named.extend(shared.get(&array)))?;
    }
    Ok(named)
}

/// Calls `each` with the id of each history entry, and the array of the dataset's own store that it names.
fn for_arrays<'c>(
    reader: &DatasetReader,
    collocations: impl Iterator<Item = &'c Arc<Collocation>>,
    mut each: impl FnMut(ObjectId, ObjectId),
) -> Result<()> {
    let own = &reader.dataset.uri;
    for collocation in collocations {
        for_each(&*reader.dataset.catalogue, collocation.objects.history, |key, value| {
            let entry = parse_history(key, value);
            let named = entry.and_then(|(id, record, _)| Some((id, Location::decode(record, own)?)));
            if let Some((id, array)) = named.and_then(|(id, location)| Some((id, location.object_in(own)?))) {
                each(id, array);
            }
            Ok(())
        })?;
    }
    Ok(())
}
