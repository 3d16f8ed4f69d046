//! Extended attributes: values beside the inode of an entry.

use super::{
    error::{Errno, Result},
    inode::Time,
    mount::FileSystem,
    nodes::Node,
    store::{EXTENDED, retry},
};

/// The most bytes of a name, and of a value.
const NAME_MAX: usize = 255;
const VALUE_MAX: usize = 65_536;

fn key_of(name: &[u8]) -> Result<Vec<u8>> {
    match name.len() {
        1..=NAME_MAX => Ok([EXTENDED, name].concat()),
        _ => Err(Errno(libc::EINVAL)),
    }
}

impl FileSystem {
    /// See `dfs_setxattr`. An empty value is a value.
    pub(crate) fn set_xattr(&self, node: &Node, name: &[u8], value: &[u8], flags: i32) -> Result<()> {
        self.check_writable()?;
        let akey = key_of(name)?;
        if value.len() > VALUE_MAX {
            return Err(Errno(libc::EINVAL));
        }
        let must = match flags {
            0 => None,
            libc::XATTR_CREATE => Some(false),
            libc::XATTR_REPLACE => Some(true),
            _ => return Err(Errno(libc::EINVAL)),
        };
        self.with_xattr(node, &akey, must, Some(value))
    }

    /// See `dfs_removexattr`.
    pub(crate) fn remove_xattr(&self, node: &Node, name: &[u8]) -> Result<()> {
        self.check_writable()?;
        self.with_xattr(node, &key_of(name)?, Some(true), None)
    }

    /// Puts or removes a value, and records the time of the change in the inode. `must` says whether the attribute must exist before.
    fn with_xattr(&self, node: &Node, akey: &[u8], must: Option<bool>, value: Option<&[u8]>) -> Result<()> {
        let (store, place) = (&node.store, node.place());
        retry(|| {
            let epoch = store.epoch()?;
            let mut inode = node.inode()?;
            match (must, store.value(&place, akey)?) {
                (Some(false), Some(_)) => return Err(Errno(libc::EEXIST)),
                (Some(true), None) => return Err(Errno(libc::ENOENT)),
                _ => {}
            }
            inode.changed = Time::now();
            let bytes = inode.bytes();
            let update = value.map_or_else(|| place.remove_value(akey), |value| place.put(akey, value));
            let mut conditions = vec![place.is_as_at(epoch), place.exists()];
            conditions.extend(must.map(|must| place.has(akey, must)));
            Ok(store.commit(&conditions, &[place.put_inode(&bytes), update])?.then_some(()))
        })
    }
}

impl Node {
    /// See `dfs_getxattr`.
    pub(crate) fn xattr(&self, name: &[u8]) -> Result<Vec<u8>> {
        let akey = key_of(name)?;
        self.look(|place| self.store.value(place, &akey))?.ok_or(Errno(libc::ENODATA))
    }

    /// See `dfs_listxattr`: the names, each with a zero behind it.
    pub(crate) fn xattr_names(&self) -> Result<Vec<u8>> {
        let mut names = Vec::new();
        for akey in self.look(|place| self.store.akeys(place))? {
            if let Some(name) = akey.strip_prefix(EXTENDED) {
                names.extend_from_slice(name);
                names.push(0);
            }
        }
        Ok(names)
    }
}
