//! The updates of a transaction that wait for its commit, and their effect on cells and distribution keys. Conditions of later updates depend
//! on it.

use std::{
    collections::{BTreeSet, HashMap},
    hash::BuildHasher,
};

use isotach_object::{Cell, ObjectId, OwnedUpdate, Update};

/// The effect of updates on a distribution key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnDkey {
    /// Whether it holds something, where the updates alone decide.
    pub(crate) exists: Option<bool>,
    /// Otherwise the attribute keys that are removed.
    pub(crate) removed: BTreeSet<Vec<u8>>,
}

/// The content of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Nothing,
    Value,
    Records,
}

/// The key by which an update is found.
#[derive(Debug, Hash)]
enum Name<'k> {
    /// The cell that it changes.
    Cell(Cell<'k>),
    /// The distribution key of that cell.
    Under(ObjectId, &'k [u8]),
    /// The distribution key that it removes.
    Dkey(ObjectId, &'k [u8]),
    /// The object that it destroys.
    Object(ObjectId),
}

/// Updates, in their order.
#[derive(Debug, Default)]
pub(crate) struct OwnUpdates {
    all: Vec<OwnedUpdate>,
    /// The positions of updates by hashes of their names. Two names may have the same hash, so a found update must be compared.
    places: HashMap<u64, Vec<usize>>,
}

impl OwnUpdates {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = Update<'_>> {
        self.all.iter().map(OwnedUpdate::update)
    }

    /// Appends an update.
    pub(crate) fn add(&mut self, update: &Update<'_>) {
        match *update {
            Update::Put { cell, .. }
            | Update::Write { cell, .. }
            | Update::SetSize { cell, .. }
            | Update::Punch { cell, .. }
            | Update::Remove { cell } => {
                self.name(&Name::Cell(cell));
                self.name(&Name::Under(cell.object, cell.dkey));
            }
            Update::RemoveDkey { object, dkey } => self.name(&Name::Dkey(object, dkey)),
            Update::Destroy { object } => self.name(&Name::Object(object)),
        }
        self.all.push(OwnedUpdate::of(update));
    }

    /// Adds a name for the update that is appended next.
    fn name(&mut self, name: &Name<'_>) {
        let hash = self.places.hasher().hash_one(name);
        self.places.entry(hash).or_default().push(self.all.len());
    }

    /// The updates with a name, and possibly others, with their positions; the last comes first.
    fn named<'s>(&'s self, name: &Name<'_>) -> impl Iterator<Item = (usize, Update<'s>)> + use<'s> {
        let places = self.places.get(&self.places.hasher().hash_one(name)).map_or(&[][..], Vec::as_slice);
        places.iter().rev().map(|place| (*place, self.all[*place].update()))
    }

    /// The position at which a distribution key was last removed, by itself or with its object.
    fn removal(&self, object: ObjectId, dkey: &[u8]) -> Option<usize> {
        let last = |name: Name<'_>, removal: Update<'_>| {
            self.named(&name).find(|(_, update)| *update == removal).map(|(place, _)| place)
        };
        let of_dkey = last(Name::Dkey(object, dkey), Update::RemoveDkey { object, dkey });
        of_dkey.max(last(Name::Object(object), Update::Destroy { object }))
    }

    /// What `says` returns for the last update of a cell for which it returns something. If the cell was removed since, with its distribution
    /// key or object, it is `removed`.
    fn last<T>(&self, cell: &Cell<'_>, removed: T, says: impl Fn(Update<'_>) -> Option<T>) -> Option<T> {
        let removal = self.removal(cell.object, cell.dkey);
        let since = self.named(&Name::Cell(*cell)).take_while(|(place, _)| Some(*place) > removal);
        let said =
            since.filter(|(_, update)| cell_of(update) == Some(*cell)).find_map(|(_, update)| says(update));
        said.or_else(|| removal.map(|_| removed))
    }

    /// Whether a cell holds something, where the updates alone decide.
    pub(crate) fn exists(&self, cell: &Cell<'_>) -> Option<bool> {
        self.last(cell, false, |update| match update {
            Update::Put { .. } | Update::Write { .. } | Update::SetSize { .. } => Some(true),
            Update::Remove { .. } => Some(false),
            _ => None,
        })
    }

    /// The content of a cell, where the updates alone decide.
    pub(crate) fn content(&self, cell: &Cell<'_>) -> Option<Content> {
        self.last(cell, Content::Nothing, |update| match update {
            Update::Put { .. } => Some(Content::Value),
            Update::Write { .. } | Update::SetSize { .. } => Some(Content::Records),
            Update::Remove { .. } => Some(Content::Nothing),
            _ => None,
        })
    }

    /// Whether a byte of an array is written, where the updates decide.
    pub(crate) fn is_written(&self, array: &Cell<'_>, byte: u64) -> Option<bool> {
        let meets = |offset, length| offset <= byte && byte - offset < length;
        self.last(array, false, |update| match update {
            Update::Write { offset, data, .. } => meets(offset, data.len() as u64).then_some(true),
            Update::Punch { offset, length, .. } => meets(offset, length).then_some(false),
            Update::SetSize { size, .. } => (size <= byte).then_some(false),
            _ => None,
        })
    }

    /// The single value of a cell, or none, where the updates decide.
    pub(crate) fn value(&self, cell: &Cell<'_>) -> Option<Option<Vec<u8>>> {
        self.last(cell, None, |update| match update {
            Update::Put { value, .. } => Some(Some(value.to_vec())),
            Update::Remove { .. } => Some(None),
            _ => None,
        })
    }

    /// The effect of the updates on a distribution key.
    pub(crate) fn dkey(&self, object: ObjectId, dkey: &[u8]) -> OwnDkey {
        let removal = self.removal(object, dkey);
        let mut removed = BTreeSet::new();
        for (_, update) in
            self.named(&Name::Under(object, dkey)).take_while(|(place, _)| Some(*place) > removal)
        {
            let Some(cell) = cell_of(&update).filter(|cell| (cell.object, cell.dkey) == (object, dkey))
            else {
                continue;
            };
            match update {
                Update::Remove { .. } => drop(removed.insert(cell.akey.to_vec())),
                Update::Punch { .. } => {}
                _ if removed.contains(cell.akey) => {}
                _ => return OwnDkey { exists: Some(true), ..OwnDkey::default() },
            }
        }
        match removal {
            Some(_) => OwnDkey { exists: Some(false), ..OwnDkey::default() },
            None => OwnDkey { exists: None, removed },
        }
    }
}

/// The cell that an update changes.
fn cell_of<'u>(update: &Update<'u>) -> Option<Cell<'u>> {
    match *update {
        Update::Put { cell, .. }
        | Update::Write { cell, .. }
        | Update::SetSize { cell, .. }
        | Update::Punch { cell, .. }
        | Update::Remove { cell } => Some(cell),
        Update::RemoveDkey { .. } | Update::Destroy { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use isotach_object::{ObjectClass, ObjectType};

    use super::*;

    const OBJECT: ObjectId = ObjectId::new(ObjectType::General, ObjectClass::S1, 0, 1);

    fn put(akey: &[u8]) -> Update<'_> {
        Update::Put { cell: Cell::general(OBJECT, b"d", akey), value: b"" }
    }

    fn remove(akey: &[u8]) -> Update<'_> {
        Update::Remove { cell: Cell::general(OBJECT, b"d", akey) }
    }

    fn all(updates: &[Update<'_>]) -> OwnUpdates {
        let mut own = OwnUpdates::default();
        updates.iter().for_each(|update| own.add(update));
        own
    }

    #[test]
    fn the_last_update_of_a_cell_says_whether_it_is_there() {
        let cell = Cell::general(OBJECT, b"d", b"a");
        let exists = |updates: &[Update<'_>]| all(updates).exists(&cell);
        assert_eq!(exists(&[put(b"b"), remove(b"b")]), None);
        assert_eq!(exists(&[remove(b"a"), put(b"a"), remove(b"b")]), Some(true));
        let object = Update::Destroy { object: OBJECT };
        assert_eq!(exists(&[put(b"a"), object]), Some(false));
        let dkey = Update::RemoveDkey { object: OBJECT, dkey: b"d" };
        assert_eq!(exists(&[put(b"a"), dkey]), Some(false));
        assert_eq!(exists(&[dkey, put(b"a"), object, put(b"a")]), Some(true));
    }

    #[test]
    fn the_last_update_of_a_cell_says_what_its_value_is() {
        let value = |updates: &[Update<'_>]| all(updates).value(&Cell::general(OBJECT, b"d", b"a"));
        assert_eq!(value(&[put(b"b")]), None);
        assert_eq!(value(&[remove(b"a"), put(b"a")]), Some(Some(Vec::new())));
        assert_eq!(value(&[put(b"a"), Update::RemoveDkey { object: OBJECT, dkey: b"d" }]), Some(None));
    }

    #[test]
    fn a_byte_is_written_or_not_by_the_last_update_that_meets_it() {
        let array = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 1);
        let cell = Cell::array(array);
        let write = Update::Write { cell, offset: 4, data: b"four" };
        let punch = Update::Punch { cell, offset: 6, length: 1 };
        let shrink = Update::SetSize { cell, size: 7 };
        let found = |updates: &[Update<'_>], byte| all(updates).is_written(&cell, byte);
        assert_eq!([3, 4, 7, 8].map(|byte| found(&[write], byte)), [None, Some(true), Some(true), None]);
        assert_eq!(
            [5, 6, 7, 9].map(|byte| found(&[write, punch, shrink], byte)),
            [Some(true), Some(false), Some(false), Some(false)]
        );
        assert_eq!(found(&[write, Update::Destroy { object: array }], 5), Some(false));
    }

    #[test]
    fn a_distribution_key_is_there_by_what_was_put_and_not_removed() {
        let found = |updates: &[Update<'_>]| all(updates).dkey(OBJECT, b"d");
        assert_eq!(found(&[put(b"a"), put(b"b"), remove(b"b")]).exists, Some(true));
        let removed = BTreeSet::from([b"a".to_vec()]);
        assert_eq!(found(&[put(b"a"), remove(b"a")]), OwnDkey { exists: None, removed });
        let gone = Update::RemoveDkey { object: OBJECT, dkey: b"d" };
        assert_eq!(found(&[gone, remove(b"a")]).exists, Some(false));
        assert_eq!(found(&[gone, put(b"a")]).exists, Some(true));
        assert_eq!(found(&[]), OwnDkey::default());
    }
}
