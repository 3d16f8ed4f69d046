//! The stored form of the file system. Only this module knows how entries lie in objects.
//!
//! Each directory has a mark in the container's own object: the time of the last change of its entries. The mark exists as long as the
//! directory. Creating an entry requires the mark and changes it. Removing the directory removes the mark, if it has not changed since the
//! directory was found empty. So the two exclude each other. Beside the mark is the parent of the directory, so that no directory is moved
//! below itself.

use std::sync::Arc;

use isotach_object::{
    Anchor, ArrayRead, Cell, Epoch, Error, ObjectId, Page, Precondition, Transaction, Update,
};

use super::{
    error::{Errno, Result, refuse},
    inode::{self, Inode, Time},
};
use crate::{
    abi::stored::files::{INODE, directory_key, mark_key},
    containers::{self, Container, own},
    objects::{self, pages::all_keys},
};

/// The attribute key of the target of a symbolic link.
const LINK: &[u8] = b"DFS_SLINK";
/// The prefix of the attribute key of an extended attribute.
pub(crate) const EXTENDED: &[u8] = b"x:";

/// DAOS's numbers of the types of objects.
const DIRECTORY: u8 = 0;
const FILE: u8 = 13;

/// How many times a change is tried.
const ATTEMPTS_MAX: usize = 1_000;

/// The container of a file system.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) container: Arc<Container>,
    pub(crate) handle: u64,
}

/// The key of an entry: the directory, and the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryKey {
    pub(crate) directory: ObjectId,
    pub(crate) name: Box<[u8]>,
}

impl EntryKey {
    pub(crate) fn new(directory: ObjectId, name: &[u8]) -> Self {
        Self { directory, name: name.into() }
    }

    fn cell<'k>(&'k self, akey: &'k [u8]) -> Cell<'k> {
        Cell::general(self.directory, &self.name, akey)
    }

    /// The precondition that there is no entry.
    pub(crate) fn is_free(&self) -> Precondition<'_> {
        Precondition::Absent(self.cell(INODE))
    }

    /// The precondition that there is an entry.
    pub(crate) fn exists(&self) -> Precondition<'_> {
        Precondition::Present(self.cell(INODE))
    }

    /// The precondition that neither the entry nor an extended attribute has changed since an epoch: a change of these changes the inode, too.
    pub(crate) fn is_as_at(&self, epoch: Epoch) -> Precondition<'_> {
        Precondition::Unchanged(self.cell(INODE), epoch)
    }

    /// The precondition that an attribute key has a value, or has none.
    pub(crate) fn has<'k>(&'k self, akey: &'k [u8], has: bool) -> Precondition<'k> {
        if has { Precondition::Present(self.cell(akey)) } else { Precondition::Absent(self.cell(akey)) }
    }

    pub(crate) fn put_inode<'k>(&'k self, inode: &'k [u8; inode::SIZE]) -> Update<'k> {
        Update::Write { cell: self.cell(INODE), offset: 0, data: inode }
    }

    pub(crate) fn put_link<'k>(&'k self, target: &'k [u8]) -> Update<'k> {
        self.put(LINK, target)
    }

    pub(crate) fn put<'k>(&'k self, akey: &'k [u8], value: &'k [u8]) -> Update<'k> {
        Update::Put { cell: self.cell(akey), value }
    }

    pub(crate) fn remove_value<'k>(&'k self, akey: &'k [u8]) -> Update<'k> {
        Update::Remove { cell: self.cell(akey) }
    }

    pub(crate) fn remove(&self) -> Update<'_> {
        Update::RemoveDkey { object: self.directory, dkey: &self.name }
    }
}

/// What the container's own object says of a directory: its mark, or its parent.
#[derive(Debug)]
pub(crate) struct About {
    own: ObjectId,
    key: [u8; 17],
    value: Vec<u8>,
}

impl About {
    /// The mark of a directory, with a new stamp.
    pub(crate) fn mark(directory: ObjectId, now: Time) -> Result<Self> {
        let key = mark_key((directory.hi(), directory.lo()));
        Ok(Self { own: own()?, key, value: now.stamp().to_le_bytes().into() })
    }

    /// The parent of a directory. The root has none.
    pub(crate) fn parent(directory: ObjectId, above: ObjectId) -> Result<Self> {
        let key = directory_key(b'u', (directory.hi(), directory.lo()));
        Ok(Self { own: own()?, key, value: [above.hi(), above.lo()].map(u64::to_le_bytes).concat() })
    }

    fn cell(&self) -> Cell<'_> {
        Cell::kv(self.own, &self.key)
    }

    /// The precondition that the directory exists.
    pub(crate) fn exists(&self) -> Precondition<'_> {
        Precondition::Present(self.cell())
    }

    /// The precondition that the directory's entries have not changed since an epoch, or that it has not been moved.
    pub(crate) fn is_as_at(&self, epoch: Epoch) -> Precondition<'_> {
        Precondition::Unchanged(self.cell(), epoch)
    }

    pub(crate) fn set(&self) -> Update<'_> {
        Update::Put { cell: self.cell(), value: &self.value }
    }

    pub(crate) fn remove(&self) -> Update<'_> {
        Update::Remove { cell: self.cell() }
    }
}

impl Store {
    /// The container behind a handle.
    pub(crate) fn open(handle: u64) -> Result<Self> {
        Ok(Self { container: Container::get(handle)?, handle })
    }

    fn has_transactions(&self) -> bool {
        self.container.inner.capabilities().transactions
    }

    /// The newest epoch. Values that are read afterwards and have not changed since are those of that epoch.
    pub(crate) fn epoch(&self) -> Result<Epoch> {
        if self.has_transactions() { Ok(self.container.inner.epoch()?) } else { Ok(Epoch::default()) }
    }

    /// Applies updates atomically if all conditions hold, and returns whether they did. On an engine without transactions the updates are applied
    /// in order, each under the conditions on its own cell.
    pub(crate) fn commit(&self, conditions: &[Precondition<'_>], updates: &[Update<'_>]) -> Result<bool> {
        self.container.check_writable()?;
        if self.has_transactions() {
            let all = Transaction { preconditions: conditions.to_vec(), updates: updates.to_vec() };
            return self.decided(&all);
        }
        for update in updates {
            let mut one = Transaction::new().update(*update);
            if let Update::Put { cell, .. } | Update::Write { cell, .. } | Update::Remove { cell } = update {
                let is_of_it = |condition: &&Precondition<'_>| {
                    condition.cell() == *cell && !matches!(condition, Precondition::Unchanged(..))
                };
                one.preconditions.extend(conditions.iter().filter(is_of_it));
            }
            match one.preconditions.is_empty() {
                true => self.container.update(&one.updates)?,
                false if self.decided(&one)? => {}
                false => return Ok(false),
            }
        }
        Ok(true)
    }

    fn decided(&self, transaction: &Transaction<'_>) -> Result<bool> {
        match containers::commit(&*self.container.inner, transaction) {
            Ok(_) => Ok(true),
            Err(Error::Conflict { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The inode of an entry.
    pub(crate) fn inode(&self, place: &EntryKey) -> Result<Option<Inode>> {
        let mut buffer = [0; inode::SIZE];
        let mut reads = [ArrayRead { cell: place.cell(INODE), offset: 0, buffer: &mut buffer, filled: 0 }];
        self.container.inner.read_many(&mut reads)?;
        match reads[0].filled {
            0 => Ok(None),
            filled => Inode::of_bytes(&buffer[..filled]).map(Some),
        }
    }

    /// The inode of an entry that must exist.
    pub(crate) fn present(&self, place: &EntryKey) -> Result<Inode> {
        self.inode(place)?.ok_or(Errno(libc::ENOENT))
    }

    /// Changes the inode of an entry, and returns it.
    pub(crate) fn change_inode(
        &self,
        place: &EntryKey,
        mut change: impl FnMut(&mut Inode) -> Result<()>,
    ) -> Result<Inode> {
        retry(|| {
            let epoch = self.epoch()?;
            let mut inode = self.present(place)?;
            change(&mut inode)?;
            let conditions = [place.is_as_at(epoch), place.exists()];
            Ok(self.commit(&conditions, &[place.put_inode(&inode.bytes())])?.then_some(inode))
        })
    }

    fn get(&self, cell: Cell<'_>) -> Result<Option<Vec<u8>>> {
        Ok(self.container.inner.get_many(&[cell])?.pop().flatten())
    }

    /// The value under an attribute key of an entry.
    pub(crate) fn value(&self, place: &EntryKey, akey: &[u8]) -> Result<Option<Vec<u8>>> {
        self.get(place.cell(akey))
    }

    /// The target of a symbolic link.
    pub(crate) fn link(&self, place: &EntryKey) -> Result<Vec<u8>> {
        match self.value(place, LINK)? {
            Some(target) if !target.is_empty() => Ok(target),
            _ => refuse(libc::EIO, "a symbolic link that leads nowhere"),
        }
    }

    /// The attribute keys of an entry, without that of the inode.
    pub(crate) fn akeys(&self, place: &EntryKey) -> Result<Vec<Vec<u8>>> {
        let list =
            |from: &_, limit| self.container.inner.list_akeys(place.directory, &place.name, from, limit);
        let mut all = all_keys(list)?;
        all.retain(|key| key != INODE);
        Ok(all)
    }

    /// The attribute keys and values beside the inode of an entry.
    pub(crate) fn values(&self, place: &EntryKey) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut values = Vec::new();
        for akey in self.akeys(place)? {
            // The value may have just been removed.
            if let Some(value) = self.value(place, &akey)? {
                values.push((akey, value));
            }
        }
        Ok(values)
    }

    /// Removes values beside an absent inode. On an engine without transactions a removal may have met the setting of an extended attribute, which
    /// is then left over. Values that another process adds while it creates the entry stay, except an attribute of the very same value. The
    /// target of a link stays: a new link replaces it, and it is not read beside any other inode.
    pub(crate) fn clear(&self, place: &EntryKey) -> Result<()> {
        if self.has_transactions() {
            return Ok(());
        }
        let left = self.values(place)?;
        if left.is_empty() || self.inode(place)?.is_some() {
            return Ok(());
        }
        self.container.check_writable()?;
        for (akey, value) in left.iter().filter(|(akey, _)| akey != LINK) {
            let as_it_was = Precondition::Equals(place.cell(akey), value);
            self.decided(&Transaction::new().require(as_it_was).update(place.remove_value(akey)))?;
        }
        Ok(())
    }

    /// A page of the names in a directory.
    pub(crate) fn names(&self, directory: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        Ok(self.container.inner.list_dkeys(directory, anchor, limit)?)
    }

    /// All names in a directory.
    pub(crate) fn all_names(&self, directory: ObjectId) -> Result<Vec<Vec<u8>>> {
        all_keys(|from, limit| self.names(directory, from, limit))
    }

    /// Whether a directory has no entry.
    pub(crate) fn is_empty(&self, directory: ObjectId) -> Result<bool> {
        let mut anchor = Anchor::start();
        loop {
            let page = self.names(directory, &anchor, 1)?;
            match page.next() {
                _ if !page.is_empty() => return Ok(false),
                Some(next) => anchor = next.clone(),
                None => return Ok(true),
            }
        }
    }

    /// A directory and its ancestors, up to the root or to the first without a recorded parent.
    pub(crate) fn way_up(&self, directory: ObjectId) -> Result<Vec<(ObjectId, About)>> {
        let mut way: Vec<(ObjectId, About)> = Vec::new();
        let mut next = Some(directory);
        while let Some(id) = next.filter(|id| way.iter().all(|(other, _)| other != id)) {
            let above = About::parent(id, id)?;
            next = match self.get(above.cell())?.map(<[u8; 16]>::try_from) {
                Some(Ok(ids)) => {
                    let half = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| ids[at + byte]));
                    Some(ObjectId::from_halves(half(0), half(8))?)
                }
                _ => None,
            };
            way.push((id, above));
        }
        Ok(way)
    }

    /// The stamp of a directory's mark; `None` for an absent directory.
    pub(crate) fn mark(&self, directory: ObjectId) -> Result<Option<u64>> {
        let stored = self.get(About::mark(directory, Time::default())?.cell())?;
        Ok(stored.and_then(|stamp| stamp.try_into().ok()).map(u64::from_le_bytes))
    }
}

/// Repeats `act` until it returns a value; `None` stands for a conflict.
pub(crate) fn retry<T>(mut act: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    for _ in 0..ATTEMPTS_MAX {
        if let Some(done) = act()? {
            return Ok(done);
        }
        std::thread::yield_now();
    }
    refuse(libc::EBUSY, "conflicts with others for too long")
}

/// The id of a file, or of a directory or link, with these 96 bits of the caller.
pub(crate) fn id_of(user: (u64, u64), is_file: bool, class: u32) -> Result<ObjectId> {
    let (hi, lo) = objects::generate(user, if is_file { FILE } else { DIRECTORY }, class)?;
    Ok(ObjectId::from_halves(hi, lo)?)
}

/// The default class of an object.
pub(crate) fn class_by_default(is_file: bool) -> Result<u32> {
    Ok(id_of((0, 0), is_file, 0)?.class().id())
}

/// Refuses a class that objects cannot have here.
pub(crate) fn check_class(class: u32) -> Result<()> {
    id_of((0, 0), false, class).map(drop)
}

/// The removal of a file's bytes.
pub(crate) fn destroy(file: ObjectId) -> Update<'static> {
    Update::Destroy { object: file }
}

/// Refuses an object that this container does not accept.
pub(crate) fn check_object(container: &Container, id: ObjectId) -> Result<()> {
    let kinds = [isotach_object::ObjectType::General, isotach_object::ObjectType::Array];
    objects::checked(container, (id.hi(), id.lo()), &kinds)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Call, container};

    #[test]
    fn what_another_puts_beside_an_inode_that_it_just_made_stays() {
        let (container, hooked, other) = container();
        hooked.be_plain();
        let (store, others) = (Store { container, handle: 0 }, Store { container: other, handle: 0 });
        let id = id_of((1, 0), false, 0).unwrap();
        let make = move |name: &[u8]| {
            let inode = Inode::new(libc::S_IFLNK, id, Time::now()).bytes();
            let place = EntryKey::new(id, name);
            let updates = [place.put_inode(&inode), place.put_link(b"there"), place.put(b"x:a", b"new")];
            assert_eq!(others.commit(&[place.is_free()], &updates), Ok(true));
        };
        let make_again = make.clone();
        let values = |name: &[u8]| store.values(&EntryKey::new(id, name)).unwrap();
        let left = |name: &[u8]| {
            store.container.update(&[EntryKey::new(id, name).put(b"x:a", b"left")]).unwrap();
            assert_eq!(values(name).len(), 1);
        };
        let made = [(LINK.to_vec(), b"there".to_vec()), (b"x:a".to_vec(), b"new".to_vec())];
        // Before the keys are listed, and between that and the removal.
        hooked.before(Call::List, move || make(b"one"));
        store.clear(&EntryKey::new(id, b"one")).unwrap();
        assert_eq!(values(b"one"), made);
        left(b"other");
        store.container.update(&[EntryKey::new(id, b"other").put_link(b"there")]).unwrap();
        hooked.before(Call::Commit, move || make_again(b"other"));
        store.clear(&EntryKey::new(id, b"other")).unwrap();
        assert_eq!(values(b"other"), made);
        left(b"third");
        store.clear(&EntryKey::new(id, b"third")).unwrap();
        assert_eq!(values(b"third"), []);
    }
}
