//! Updates that own their keys and bytes.

use crate::{Cell, Update};

/// An update with a copy of its keys and bytes.
///
/// ```
/// # use isotach_object::{Cell, ObjectClass, ObjectId, ObjectType, OwnedUpdate, Update};
/// let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
/// let kept = {
///     let key = b"step".to_vec();
///     OwnedUpdate::of(&Update::Put { cell: Cell::kv(object, &key), value: b"6" })
/// };
/// assert_eq!(kept.update(), Update::Put { cell: Cell::kv(object, b"step"), value: b"6" });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedUpdate {
    /// With empty keys and data.
    bare: Update<'static>,
    dkey: Vec<u8>,
    akey: Vec<u8>,
    data: Vec<u8>,
}

impl OwnedUpdate {
    /// Copies an update.
    pub fn of(update: &Update<'_>) -> Self {
        let Cell { dkey, akey, .. } = update.scope();
        let data: &[u8] = match update {
            Update::Put { value: data, .. } | Update::Write { data, .. } => data,
            _ => &[],
        };
        let bare = with(update, &[], &[], &[]);
        Self { bare, dkey: dkey.to_vec(), akey: akey.to_vec(), data: data.to_vec() }
    }

    /// The update.
    pub fn update(&self) -> Update<'_> {
        with(&self.bare, &self.dkey, &self.akey, &self.data)
    }
}

/// The update with other keys and data in it.
fn with<'a>(update: &Update<'_>, dkey: &'a [u8], akey: &'a [u8], data: &'a [u8]) -> Update<'a> {
    let object = update.object();
    let cell = Cell { object, dkey, akey };
    match *update {
        Update::Put { .. } => Update::Put { cell, value: data },
        Update::Remove { .. } => Update::Remove { cell },
        Update::Write { offset, .. } => Update::Write { cell, offset, data },
        Update::SetSize { size, .. } => Update::SetSize { cell, size },
        Update::Punch { offset, length, .. } => Update::Punch { cell, offset, length },
        Update::RemoveDkey { .. } => Update::RemoveDkey { object, dkey },
        Update::Destroy { .. } => Update::Destroy { object },
    }
}
