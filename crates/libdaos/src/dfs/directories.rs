//! Listing directories, and removing entries.

use isotach_object::{Anchor, ObjectId, Page};

use super::{
    error::{Errno, Result},
    inode::Time,
    mount::FileSystem,
    nodes::Node,
    store::{About, EntryKey, Store, destroy, retry},
};

/// How many times a directory is emptied before its removal while others fill it.
const ROUNDS_MAX: usize = 100;

/// A page of the names in a directory.
pub(crate) fn list(node: &Node, anchor: &Anchor, limit: usize) -> Result<Page> {
    match node.is_directory() {
        true => node.store.names(node.id, anchor, limit),
        false => Err(Errno(libc::ENOTDIR)),
    }
}

/// See `dfs_remove`: removes an entry; with `force` a directory with its entries, one by one. Returns the id of the removed object.
pub(crate) fn remove(system: &FileSystem, parent: u64, name: &[u8], force: bool) -> Result<ObjectId> {
    system.check_writable()?;
    removed(&system.store, &system.place(parent, name)?, force)
}

fn removed(store: &Store, place: &EntryKey, force: bool) -> Result<ObjectId> {
    for _ in 0..ROUNDS_MAX {
        match remove_one(store, place) {
            Err(Errno(libc::ENOTEMPTY)) if force => empty(store, store.present(place)?.id)?,
            outcome => return outcome,
        }
    }
    Err(Errno(libc::ENOTEMPTY))
}

fn empty(store: &Store, directory: ObjectId) -> Result<()> {
    for name in store.all_names(directory)? {
        match removed(store, &EntryKey::new(directory, &name), true) {
            // Somebody else removed it.
            Err(Errno(libc::ENOENT)) => {}
            outcome => drop(outcome?),
        }
    }
    Ok(())
}

/// Removes an entry, unless it is a directory with entries.
fn remove_one(store: &Store, place: &EntryKey) -> Result<ObjectId> {
    retry(|| {
        let epoch = store.epoch()?;
        let inode = store.present(place)?;
        let (of_parent, own) =
            (About::mark(place.directory, Time::now())?, About::mark(inode.id, Time::default())?);
        let above = About::parent(inode.id, place.directory)?;
        let (mut conditions, mut updates) = (vec![place.is_as_at(epoch)], vec![place.remove()]);
        if inode.is_directory() {
            if !store.is_empty(inode.id)? {
                return Err(Errno(libc::ENOTEMPTY));
            }
            conditions.push(own.is_as_at(epoch));
            updates.extend([own.remove(), above.remove()]);
        } else if inode.is_file() {
            updates.push(destroy(inode.id));
        }
        updates.push(of_parent.set());
        Ok(store.commit(&conditions, &updates)?.then_some(inode.id))
    })
}
