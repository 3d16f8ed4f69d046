//! The size of a container: its objects, and the keys and values of its entries.

use isotach_engine_kit::context::Context;
use isotach_object::Result;

use crate::{
    ffi::{Answer, Errno, IfFound, Io, ReadOp},
    keys::{self, Name},
    listing,
    space::Space,
};

/// The size of a container.
pub(crate) fn of(space: &Space) -> Result<u64> {
    let names = listing::all_names(space)?;
    let mut objects = Vec::new();
    let mut entries = 0;
    for name in names {
        match name {
            Name::Array(object) => objects.push(keys::array_name(object)),
            Name::Piece(writer, number) => objects.push(keys::piece_name(writer, number)),
            Name::Entries(object, 0) => space.omaps.each_page(object, |page| {
                entries += of_entries(page);
                Ok(())
            })?,
            Name::Entries(..) | Name::Header => {}
        }
    }
    let found = stat(&space.data, &objects, space)?;
    Ok(entries + found.into_iter().flatten().map(|answer| answer.size).sum::<u64>())
}

/// The bytes of entries.
pub(crate) fn of_entries(entries: &[(Vec<u8>, Vec<u8>)]) -> u64 {
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
