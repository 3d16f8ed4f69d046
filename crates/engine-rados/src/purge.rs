//! Purging: removes objects with bytes that no table names.
//!
//! A writer leaves such objects when it dies between storing bytes and naming them, and so does a value that replaces records. A
//! living writer names its bytes within the time-out, so much older objects belong to no writer.

use std::{
    collections::HashSet,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use isotach_object::{ObjectId, ObjectType, Purged, Result};

use crate::{
    arrays::Slot,
    entry::Entry,
    keys::{self, Name},
    listing,
    options::Options,
    space::Space,
    table::Table,
};

/// Arrays whose tables are read together.
const AT_ONCE: usize = 1000;

/// See [`isotach_object::Maintenance::purge`].
pub(crate) fn container(space: &Space, carry_out: bool) -> Result<Purged> {
    let before = listing::size(space)?;
    // Bytes first and tables then: what is named later than it was listed is found in a table.
    let names = listing::all_names(space)?;
    let pieces: Vec<(u64, u64)> = names.iter().filter_map(Name::piece).collect();
    let piece_names: Vec<_> = pieces.iter().map(|piece| keys::piece_name(piece.0, piece.1)).collect();
    let sizes = listing::stat(&space.data, &piece_names, space)?;
    let named = named(space, &listing::all_names(space)?)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let newest = now.saturating_sub(grace(&space.options)).as_secs() as i64;
    let (mut freed, mut held, mut unused) = (0, 0, Vec::new());
    for (piece, found) in pieces.into_iter().zip(sizes) {
        let Some(found) = found.filter(|_| !named.contains(&piece)) else { continue };
        if found.changed > newest {
            held += found.size;
            continue;
        }
        freed += found.size;
        unused.push(piece);
    }
    if carry_out {
        space.remove_pieces(unused);
    }
    Ok(Purged { before, freed, held, history_stays: false })
}

/// How old bytes must be. A writer may wait for the time-out before it stores bytes, and again before it names them.
fn grace(options: &Options) -> Duration {
    match options.grace {
        Duration::ZERO => Duration::ZERO,
        grace => grace.max(2 * options.timeout),
    }
}

/// All objects with bytes, or tables, that some table or attribute names.
fn named(space: &Space, names: &[Name]) -> Result<HashSet<(u64, u64)>> {
    let mut named = HashSet::new();
    let mut add = |table: &Table| {
        named.extend(table.named());
    };
    let arrays: Vec<ObjectId> = names.iter().filter_map(Name::array).collect();
    for some in arrays.chunks(AT_ONCE) {
        let slots: Vec<Slot> = some.iter().map(|object| Slot::Array(*object)).collect();
        space.load_slots(&slots)?.iter().filter_map(|held| held.table()).for_each(&mut add);
    }
    for name in names {
        if let Name::Entries(object, 0) = name
            && object.otype() == ObjectType::General
        {
            space.omaps.each_page(*object, |entries| {
                for (key, stored) in entries {
                    // What a damaged table named is not known, so nothing may be taken for unused then.
                    if let Entry::Records(table) = Entry::decode(*object, key, stored)? {
                        add(&table);
                    }
                }
                Ok(())
            })?;
        }
    }
    Ok(named)
}
