//! The superblock: it makes a container a file system, and holds the attributes of the whole.

use isotach_object::{ObjectId, OwnedUpdate};

use super::{
    error::{Errno, Result, refuse},
    inode::{Inode, Time},
    store::{About, EntryKey, Store, check_object},
};
pub(crate) use crate::abi::stored::files::Attributes;
use crate::abi::stored::files::{
    CHUNK_SIZE, CLASS, DEFAULT_CHUNK_SIZE, DIRECTORY_CLASS, DKEY, FILE_CLASS, HINTS, LAYOUT, LAYOUT_NUMBER,
    MAGIC, MAGIC_NUMBER, MODE, ROOT, ROOT_MODE, ROOT_NAME, SUPERBLOCK, VERSION, VERSION_NUMBER,
};

/// The key of the entry of the root directory.
pub(crate) fn place_of_root() -> Result<EntryKey> {
    Ok(EntryKey::new(id_of_halves(SUPERBLOCK)?, ROOT_NAME))
}

/// The id of the root directory.
pub(crate) fn id_of_root() -> Result<ObjectId> {
    id_of_halves(ROOT)
}

fn id_of_halves((hi, lo): (u64, u64)) -> Result<ObjectId> {
    Ok(ObjectId::from_halves(hi, lo)?)
}

fn place() -> Result<EntryKey> {
    Ok(EntryKey::new(id_of_halves(SUPERBLOCK)?, DKEY))
}

/// The updates that create a file system with an empty root directory that everyone may read and its owner may write. The magic number
/// comes last: a container without it is no file system.
pub(crate) fn updates(attributes: &Attributes) -> Result<Vec<OwnedUpdate>> {
    let (place, root, root_id, now) = (place()?, place_of_root()?, id_of_root()?, Time::now());
    let (mark, inode) = (About::mark(root_id, now)?, Inode::new(ROOT_MODE, root_id, now).bytes());
    let values = attributes.superblock();
    let values = values.iter().map(|(akey, value)| place.put(akey, value));
    let all = [mark.set(), root.put_inode(&inode)].into_iter().chain(values);
    Ok(all.map(|update| OwnedUpdate::of(&update)).collect())
}

/// Turns a container into a file system, unless it is one.
///
/// # Errors
/// `EEXIST`.
pub(crate) fn create(store: &Store, attributes: &Attributes) -> Result<()> {
    check_object(&store.container, id_of_root()?)?;
    let new = updates(attributes)?;
    let new: Vec<_> = new.iter().map(OwnedUpdate::update).collect();
    match store.commit(&[place()?.has(MAGIC, false)], &new)? {
        true => Ok(()),
        false => Err(Errno(libc::EEXIST)),
    }
}

/// Reads the superblock, and checks that this library supports the file system.
pub(crate) fn read(store: &Store) -> Result<Attributes> {
    let place = place()?;
    if store.value(&place, MAGIC)?.is_none() {
        return refuse(libc::ENOENT, "a container without a superblock");
    }
    if number::<8>(store, &place, MAGIC)? != MAGIC_NUMBER {
        return refuse(libc::EINVAL, "a superblock with another magic number");
    }
    let (version, layout) = (number::<2>(store, &place, VERSION)?, number::<2>(store, &place, LAYOUT)?);
    if version > VERSION_NUMBER.into() || layout != u64::from(LAYOUT_NUMBER) {
        let why =
            format!("a file system of version {version} and layout {layout}, which this library cannot read");
        return refuse(libc::EINVAL, &why);
    }
    let class = |akey| number::<4>(store, &place, akey).map(|class| class as u32);
    let hints = store.value(&place, HINTS)?.unwrap_or_default();
    Ok(Attributes {
        chunk_size: match number::<8>(store, &place, CHUNK_SIZE)? {
            0 => DEFAULT_CHUNK_SIZE,
            stored => stored,
        },
        class: class(CLASS)?,
        directory_class: class(DIRECTORY_CLASS)?,
        file_class: class(FILE_CLASS)?,
        mode: class(MODE)?,
        hints: hints.into_iter().take_while(|byte| *byte != 0).collect(),
    })
}

/// A number of `N` bytes; 0 if it is absent.
fn number<const N: usize>(store: &Store, place: &EntryKey, akey: &[u8]) -> Result<u64> {
    let Some(stored) = store.value(place, akey)? else { return Ok(0) };
    if stored.len() != N {
        let akey = String::from_utf8_lossy(akey);
        return refuse(
            libc::EINVAL,
            &format!("{akey} of the superblock has {} bytes, not {N}", stored.len()),
        );
    }
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&stored);
    Ok(u64::from_le_bytes(bytes))
}
