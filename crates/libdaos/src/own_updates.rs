//! What updates that wait for a commit make of cells and distribution keys: conditions of later ones are on this.

use isotach_object::{Cell, ObjectId, OwnedUpdate, Update};

/// What updates make of a distribution key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnDkey {
    /// Whether something is under it, where the updates alone say so.
    pub(crate) is_there: Option<bool>,
    /// Else: the attribute keys that are removed.
    pub(crate) removed: Vec<Vec<u8>>,
}

/// Whether a cell holds something, where updates alone say so.
pub(crate) fn is_there(updates: &[OwnedUpdate], cell: &Cell<'_>) -> Option<bool> {
    updates.iter().rev().find_map(|update| match update.update() {
        Update::Put { cell: changed, .. }
        | Update::Write { cell: changed, .. }
        | Update::SetSize { cell: changed, .. } => (changed == *cell).then_some(true),
        Update::Remove { cell: removed } => (removed == *cell).then_some(false),
        Update::RemoveDkey { object, dkey } => (object == cell.object && dkey == cell.dkey).then_some(false),
        Update::Destroy { object } => (object == cell.object).then_some(false),
        Update::Punch { .. } => None,
    })
}

/// Whether a byte of an array is written, where updates say so.
pub(crate) fn is_written(updates: &[OwnedUpdate], array: &Cell<'_>, byte: u64) -> Option<bool> {
    updates.iter().rev().find_map(|update| match update.update() {
        Update::Write { cell, offset, data } if cell == *array => {
            (offset <= byte && byte - offset < data.len() as u64).then_some(true)
        }
        Update::Punch { cell, offset, length } if cell == *array => {
            (offset <= byte && byte - offset < length).then_some(false)
        }
        Update::SetSize { cell, size } if cell == *array => (size <= byte).then_some(false),
        Update::Destroy { object } if object == array.object => Some(false),
        _ => None,
    })
}

/// The value of a map's entry, or that there is none, where updates say so.
pub(crate) fn entry(updates: &[OwnedUpdate], entry: &Cell<'_>) -> Option<Option<Vec<u8>>> {
    updates.iter().rev().find_map(|update| match update.update() {
        Update::Put { cell, value } if cell == *entry => Some(Some(value.to_vec())),
        Update::Remove { cell } if cell == *entry => Some(None),
        Update::Destroy { object } if object == entry.object => Some(None),
        _ => None,
    })
}

/// What updates make of a distribution key.
pub(crate) fn dkey(updates: &[OwnedUpdate], object: ObjectId, dkey: &[u8]) -> OwnDkey {
    let is_under = |cell: &Cell<'_>| cell.object == object && cell.dkey == dkey;
    let mut removed: Vec<Vec<u8>> = Vec::new();
    for update in updates.iter().rev() {
        match update.update() {
            Update::Put { cell, .. } | Update::Write { cell, .. } | Update::SetSize { cell, .. }
                if is_under(&cell) && !removed.iter().any(|akey| akey == cell.akey) =>
            {
                return OwnDkey { is_there: Some(true), removed: Vec::new() };
            }
            Update::Remove { cell } if is_under(&cell) => removed.push(cell.akey.to_vec()),
            Update::RemoveDkey { object: of, dkey: key } if (of, key) == (object, dkey) => {
                return OwnDkey { is_there: Some(false), removed: Vec::new() };
            }
            Update::Destroy { object: of } if of == object => {
                return OwnDkey { is_there: Some(false), removed: Vec::new() };
            }
            _ => {}
        }
    }
    OwnDkey { is_there: None, removed }
}

#[cfg(test)]
mod tests {
    use isotach_object::{ObjectClass, ObjectType};

    use super::*;

    const OBJECT: ObjectId = ObjectId::new(ObjectType::General, ObjectClass::S1, 0, 1);

    fn put(akey: &[u8]) -> OwnedUpdate {
        OwnedUpdate::of(&Update::Put { cell: Cell::general(OBJECT, b"d", akey), value: b"" })
    }

    fn remove(akey: &[u8]) -> OwnedUpdate {
        OwnedUpdate::of(&Update::Remove { cell: Cell::general(OBJECT, b"d", akey) })
    }

    #[test]
    fn the_last_update_of_a_cell_says_whether_it_is_there() {
        let cell = Cell::general(OBJECT, b"d", b"a");
        assert_eq!(is_there(&[put(b"b"), remove(b"b")], &cell), None);
        assert_eq!(is_there(&[remove(b"a"), put(b"a"), remove(b"b")], &cell), Some(true));
        let all = OwnedUpdate::of(&Update::Destroy { object: OBJECT });
        assert_eq!(is_there(&[put(b"a"), all], &cell), Some(false));
        let dkey = OwnedUpdate::of(&Update::RemoveDkey { object: OBJECT, dkey: b"d" });
        assert_eq!(is_there(&[put(b"a"), dkey], &cell), Some(false));
    }

    #[test]
    fn a_byte_is_written_or_not_by_the_last_update_that_meets_it() {
        let array = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 1);
        let cell = Cell::array(array);
        let write = OwnedUpdate::of(&Update::Write { cell, offset: 4, data: b"four" });
        let punch = OwnedUpdate::of(&Update::Punch { cell, offset: 6, length: 1 });
        let shrink = OwnedUpdate::of(&Update::SetSize { cell, size: 7 });
        let found = |updates: &[OwnedUpdate], byte| is_written(updates, &cell, byte);
        assert_eq!(
            [3, 4, 7, 8].map(|byte| found(std::slice::from_ref(&write), byte)),
            [None, Some(true), Some(true), None]
        );
        let updates = [write.clone(), punch, shrink];
        assert_eq!(
            [5, 6, 7, 9].map(|byte| found(&updates, byte)),
            [Some(true), Some(false), Some(false), Some(false)]
        );
        let destroy = OwnedUpdate::of(&Update::Destroy { object: array });
        assert_eq!(found(&[write, destroy], 5), Some(false));
    }

    #[test]
    fn a_distribution_key_is_there_by_what_was_put_and_not_removed() {
        let found = |updates: &[OwnedUpdate]| dkey(updates, OBJECT, b"d");
        assert_eq!(found(&[put(b"a"), put(b"b"), remove(b"b")]).is_there, Some(true));
        assert_eq!(
            found(&[put(b"a"), remove(b"a")]),
            OwnDkey { is_there: None, removed: vec![b"a".to_vec()] }
        );
        let gone = OwnedUpdate::of(&Update::RemoveDkey { object: OBJECT, dkey: b"d" });
        assert_eq!(found(&[gone.clone(), remove(b"a")]).is_there, Some(false));
        assert_eq!(found(&[gone, put(b"a")]).is_there, Some(true));
        assert_eq!(found(&[]), OwnDkey::default());
    }
}
