//! Moving an entry, and exchanging two.

use isotach_object::{Epoch, ObjectId, Update};

use super::{
    error::{Errno, Result},
    inode::{self, Inode, Time},
    mount::FileSystem,
    nodes::name_of,
    store::{Mark, Place, Store, destroy, until_done},
};

/// An entry with all that it has, to be put elsewhere.
struct Moved {
    inode: Inode,
    bytes: [u8; inode::SIZE],
    /// Where a link leads, and extended attributes: attribute keys and values.
    values: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Moved {
    fn read(store: &Store, place: &Place, now: Time) -> Result<Option<Self>> {
        let Some(mut inode) = store.inode(place)? else { return Ok(None) };
        inode.changed = now;
        let mut values = Vec::new();
        for akey in store.akeys(place)? {
            // What is removed meanwhile is found by the condition on the entry.
            if let Some(value) = store.value(place, &akey)? {
                values.push((akey, value));
            }
        }
        Ok(Some(Self { inode, bytes: inode.bytes(), values }))
    }

    fn put_at<'m>(&'m self, place: &'m Place, updates: &mut Vec<Update<'m>>) {
        updates.push(place.put_inode(&self.bytes));
        updates.extend(self.values.iter().map(|(akey, value)| place.put(akey, value)));
    }
}

/// See `dfs_move`; gives the id of what was there under the new name. An entry that is moved to where it is stays there.
pub(crate) fn rename(
    system: &FileSystem,
    (parent, name): (u64, &[u8]),
    (new_parent, new_name): (u64, &[u8]),
) -> Result<Option<ObjectId>> {
    system.check_writable()?;
    let (parent, new_parent) = (system.directory(parent)?, system.directory(new_parent)?);
    let (from, to) = (Place::new(parent.id, name_of(name)?), Place::new(new_parent.id, name_of(new_name)?));
    let store = &system.store;
    until_done(|| {
        let epoch = store.epoch()?;
        let now = Time::now();
        let moved = Moved::read(store, &from, now)?.ok_or(Errno(libc::ENOENT))?;
        if from == to {
            return Ok(Some(None));
        }
        if moved.inode.id == to.directory {
            return Err(Errno(libc::EINVAL));
        }
        let replaced = store.inode(&to)?;
        let (done, gone) = move_once(store, epoch, (&from, &to), &moved, replaced.as_ref())?;
        if !done && store.mark(to.directory)?.is_none() {
            return Err(Errno(libc::ENOENT));
        }
        Ok(done.then_some(gone))
    })
}

/// Moves an entry over what is there or not; whether nobody was faster, and the id of what is gone.
fn move_once(
    store: &Store,
    epoch: Epoch,
    (from, to): (&Place, &Place),
    moved: &Moved,
    replaced: Option<&Inode>,
) -> Result<(bool, Option<ObjectId>)> {
    let now = moved.inode.changed;
    let (of_old, of_new) = (Mark::new(from.directory, now)?, Mark::new(to.directory, now)?);
    let of_gone = replaced.map(|gone| Mark::new(gone.id, now)).transpose()?;
    let mut conditions = vec![from.is_as_at(epoch), to.is_as_at(epoch), of_new.is_there()];
    let mut updates = Vec::new();
    if let (Some(gone), Some(mark)) = (replaced, &of_gone) {
        match (moved.inode.is_directory(), gone.is_directory()) {
            (false, true) => return Err(Errno(libc::EINVAL)),
            (true, false) => return Err(Errno(libc::ENOTDIR)),
            (true, true) if !store.is_empty(gone.id)? => return Err(Errno(libc::ENOTEMPTY)),
            (true, true) => {
                conditions.push(mark.is_as_at(epoch));
                updates.push(mark.remove());
            }
            (false, false) => {}
        }
        updates.push(to.remove());
    }
    moved.put_at(to, &mut updates);
    updates.push(from.remove());
    updates.extend(replaced.filter(|gone| gone.is_file()).map(|gone| destroy(gone.id)));
    updates.push(of_old.set());
    if to.directory != from.directory {
        updates.push(of_new.set());
    }
    Ok((store.commit(&conditions, &updates)?, replaced.map(|gone| gone.id)))
}

/// See `dfs_exchange`: each of two entries is under the other's name afterwards.
pub(crate) fn exchange(
    system: &FileSystem,
    (parent, name): (u64, &[u8]),
    (other_parent, other_name): (u64, &[u8]),
) -> Result<()> {
    system.check_writable()?;
    let (parent, other_parent) = (system.directory(parent)?, system.directory(other_parent)?);
    let one = Place::new(parent.id, name_of(name)?);
    let other = Place::new(other_parent.id, name_of(other_name)?);
    let store = &system.store;
    until_done(|| {
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
        if of_one.inode.id == other.directory || of_other.inode.id == one.directory {
            return Err(Errno(libc::EINVAL));
        }
        let marks = (Mark::new(one.directory, now)?, Mark::new(other.directory, now)?);
        let mut updates = vec![one.remove(), other.remove()];
        of_one.put_at(&other, &mut updates);
        of_other.put_at(&one, &mut updates);
        updates.push(marks.0.set());
        if one.directory != other.directory {
            updates.push(marks.1.set());
        }
        let conditions = [one.is_as_at(epoch), other.is_as_at(epoch)];
        Ok(store.commit(&conditions, &updates)?.then_some(()))
    })
}
