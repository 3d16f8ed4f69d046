//! Moving and exchanging entries.

use isotach_object::{Epoch, ObjectId, Update};

use super::{
    error::{Errno, Result, refuse},
    inode::{self, Inode, Time},
    mount::FileSystem,
    store::{About, EntryKey, Store, destroy, retry},
    superblock::id_of_root,
};

/// An entry with all its values, to be stored under another key.
struct Moved {
    inode: Inode,
    bytes: [u8; inode::SIZE],
    /// The target of a link, and extended attributes: attribute keys and values.
    values: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Moved {
    fn read(store: &Store, place: &EntryKey, now: Time) -> Result<Option<Self>> {
        let Some(mut inode) = store.inode(place)? else { return Ok(None) };
        inode.changed = now;
        // A concurrent removal is detected by the condition on the entry.
        Ok(Some(Self { inode, bytes: inode.bytes(), values: store.values(place)? }))
    }

    /// The ancestors of the new parent of a directory, which must not include the directory itself; empty for any other entry.
    fn way_to(&self, store: &Store, from: &EntryKey, to: &EntryKey) -> Result<Vec<(ObjectId, About)>> {
        if !self.inode.is_directory() || from.directory == to.directory {
            return Ok(Vec::new());
        }
        let way = store.way_up(to.directory)?;
        if way.iter().any(|(id, _)| *id == self.inode.id) {
            return refuse(libc::EINVAL, "a directory would be below itself");
        }
        let root = id_of_root()?;
        match way.last() {
            // A concurrent removal is detected by the conditions.
            Some((last, _)) if *last != root && store.mark(*last)?.is_some() => {
                refuse(libc::EIO, "a directory of which it is not said in which one it is")
            }
            _ => Ok(way),
        }
    }

    fn put_at<'m>(&'m self, place: &'m EntryKey, updates: &mut Vec<Update<'m>>) {
        updates.push(place.put_inode(&self.bytes));
        updates.extend(self.values.iter().map(|(akey, value)| place.put(akey, value)));
    }
}

/// See `dfs_move`: returns the id of the object that had the new name. Moving an entry to its own place succeeds.
pub(crate) fn rename(
    system: &FileSystem,
    (parent, name): (u64, &[u8]),
    (new_parent, new_name): (u64, &[u8]),
) -> Result<Option<ObjectId>> {
    system.check_writable()?;
    let (from, to) = (system.place(parent, name)?, system.place(new_parent, new_name)?);
    let store = &system.store;
    retry(|| {
        let epoch = store.epoch()?;
        let now = Time::now();
        let moved = Moved::read(store, &from, now)?.ok_or(Errno(libc::ENOENT))?;
        if from == to {
            return Ok(Some(None));
        }
        let way = moved.way_to(store, &from, &to)?;
        let replaced = store.inode(&to)?;
        let (done, gone) = move_once(store, epoch, (&from, &to), &moved, replaced.as_ref(), &way)?;
        if !done && store.mark(to.directory)?.is_none() {
            return Err(Errno(libc::ENOENT));
        }
        Ok(done.then_some(gone))
    })
}

/// Moves an entry, and replaces `replaced`. Returns whether there was no conflict, and the id of the replaced object.
fn move_once(
    store: &Store,
    epoch: Epoch,
    (from, to): (&EntryKey, &EntryKey),
    moved: &Moved,
    replaced: Option<&Inode>,
    way: &[(ObjectId, About)],
) -> Result<(bool, Option<ObjectId>)> {
    let now = moved.inode.changed;
    let above = About::parent(moved.inode.id, to.directory)?;
    let above_gone = replaced.map(|gone| About::parent(gone.id, to.directory)).transpose()?;
    let (of_old, of_new) = (About::mark(from.directory, now)?, About::mark(to.directory, now)?);
    let of_gone = replaced.map(|gone| About::mark(gone.id, now)).transpose()?;
    let mut conditions = vec![from.is_as_at(epoch), to.is_as_at(epoch), of_new.exists()];
    conditions.extend(way.iter().map(|(_, above)| above.is_as_at(epoch)));
    let mut updates = Vec::new();
    if let (Some(gone), Some(mark), Some(above)) = (replaced, &of_gone, &above_gone) {
        match (moved.inode.is_directory(), gone.is_directory()) {
            (false, true) => return Err(Errno(libc::EINVAL)),
            (true, false) => return Err(Errno(libc::ENOTDIR)),
            (true, true) if !store.is_empty(gone.id)? => return Err(Errno(libc::ENOTEMPTY)),
            (true, true) => {
                conditions.push(mark.is_as_at(epoch));
                updates.extend([mark.remove(), above.remove()]);
            }
            (false, false) => {}
        }
        updates.push(to.remove());
    }
    moved.put_at(to, &mut updates);
    updates.push(from.remove());
    if !way.is_empty() {
        updates.push(above.set());
    }
    updates.extend(replaced.filter(|gone| gone.is_file()).map(|gone| destroy(gone.id)));
    updates.push(of_old.set());
    if to.directory != from.directory {
        updates.push(of_new.set());
    }
    Ok((store.commit(&conditions, &updates)?, replaced.map(|gone| gone.id)))
}

/// See `dfs_exchange`: two entries swap their names.
pub(crate) fn exchange(
    system: &FileSystem,
    (parent, name): (u64, &[u8]),
    (other_parent, other_name): (u64, &[u8]),
) -> Result<()> {
    system.check_writable()?;
    let (one, other) = (system.place(parent, name)?, system.place(other_parent, other_name)?);
    let store = &system.store;
    retry(|| {
        let epoch = store.epoch()?;
        let now = Time::now();
        let (Some(of_one), Some(of_other)) =
            (Moved::read(store, &one, now)?, Moved::read(store, &other, now)?)
        else {
            return Err(Errno(libc::EINVAL));
        };
        if one == other {
            return Ok(Some(()));
        }
        let ways = (of_one.way_to(store, &one, &other)?, of_other.way_to(store, &other, &one)?);
        let above = (
            About::parent(of_one.inode.id, other.directory)?,
            About::parent(of_other.inode.id, one.directory)?,
        );
        let marks = (About::mark(one.directory, now)?, About::mark(other.directory, now)?);
        let mut updates = vec![one.remove(), other.remove()];
        of_one.put_at(&other, &mut updates);
        of_other.put_at(&one, &mut updates);
        updates.push(marks.0.set());
        if one.directory != other.directory {
            updates.push(marks.1.set());
        }
        let mut conditions = vec![one.is_as_at(epoch), other.is_as_at(epoch)];
        for (way, above) in [(&ways.0, &above.0), (&ways.1, &above.1)] {
            conditions.extend(way.iter().map(|(_, above)| above.is_as_at(epoch)));
            updates.extend((!way.is_empty()).then(|| above.set()));
        }
        Ok(store.commit(&conditions, &updates)?.then_some(()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        abi::properties::{DAOS_PROP_CO_LAYOUT_POSIX, DAOS_PROP_CO_LAYOUT_TYPE},
        containers::properties::{self, Properties, Value},
        dfs::{Attributes, Owned, Wanted, mount, open, superblock},
        testing::container,
    };

    #[test]
    fn no_directory_is_moved_to_where_the_way_up_does_not_lead_to_the_root() {
        let (container, _, _) = container();
        let layout = Value::Number(DAOS_PROP_CO_LAYOUT_POSIX);
        properties::keep(&container, &Properties::from([(DAOS_PROP_CO_LAYOUT_TYPE, layout)])).unwrap();
        let handle = container.add();
        superblock::create(&Store::open(handle).unwrap(), &Attributes::default()).unwrap();
        let mounted = mount(0, handle, libc::O_RDWR, Owned::Nothing).unwrap();
        let system = FileSystem::get(mounted).unwrap();
        let flags = libc::O_RDWR | libc::O_CREAT;
        let wanted = Wanted { mode: libc::S_IFDIR | 0o755, flags, ..Wanted::default() };
        let directory = |parent, name: &[u8]| open(&system, parent, name, &wanted).unwrap();
        let (one, of_one) = directory(0, b"one");
        let (two, of_two) = directory(one, b"two");
        let (three, _) = directory(two, b"three");
        directory(0, b"other");
        let moved = |name: &[u8]| rename(&system, (0, name), (three, b"moved")).map(drop);
        assert_eq!(moved(b"one"), Err(Errno(libc::EINVAL)), "below itself");
        let above = About::parent(of_two.id, of_one.id).unwrap();
        container.update(&[above.remove()]).unwrap();
        assert_eq!((moved(b"one"), moved(b"other")), (Err(Errno(libc::EIO)), Err(Errno(libc::EIO))));
        container.update(&[above.set()]).unwrap();
        assert_eq!(moved(b"other"), Ok(()));
    }
}
