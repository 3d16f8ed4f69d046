//! The superblock: it makes a container a file system, and holds the attributes of the whole.

use isotach_object::{ObjectId, Update};

use super::{
    error::{Errno, Result, refuse},
    inode::{self, Inode, Time},
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

/// A new file system with an empty root directory that everyone may read and its owner may write.
#[derive(Debug)]
pub(crate) struct New {
    place: EntryKey,
    root: EntryKey,
    inode: [u8; inode::SIZE],
    mark: About,
    /// The values under attribute keys. The magic number comes last: a container without it is no file system.
    values: Vec<(&'static [u8], Vec<u8>)>,
}

impl New {
    pub(crate) fn of(attributes: &Attributes) -> Result<Self> {
        let (root_id, now) = (id_of_root()?, Time::now());
        let inode = Inode::new(ROOT_MODE, root_id, now).bytes();
        Ok(Self {
            place: place()?,
            root: place_of_root()?,
            inode,
            mark: About::mark(root_id, now)?,
            values: attributes.superblock(),
        })
    }

    /// The updates that create the file system.
    pub(crate) fn updates(&self) -> Vec<Update<'_>> {
        let mut updates = vec![self.mark.set(), self.root.put_inode(&self.inode)];
        updates.extend(self.values.iter().map(|(akey, value)| self.place.put(akey, value)));
        updates
    }
}

/// Turns a container into a file system, unless it is one.
///
/// # Errors
/// `EEXIST`.
pub(crate) fn create(store: &Store, attributes: &Attributes) -> Result<()> {
    check_object(&store.container, id_of_root()?)?;
    let new = New::of(attributes)?;
    match store.commit(&[new.place.has(MAGIC, false)], &new.updates())? {
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
