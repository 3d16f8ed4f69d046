//! Inodes: the attributes of an entry, in the 88 bytes of layout version 3 of DAOS's file system.

use isotach_object::ObjectId;

use super::error::{Result, refuse};
use crate::abi::stored::files;
pub(crate) use crate::abi::stored::files::{INODE_SIZE as SIZE, Time};

/// The attributes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inode {
    /// Kind and permissions.
    pub(crate) mode: u32,
    pub(crate) id: ObjectId,
    pub(crate) modified: Time,
    pub(crate) changed: Time,
    /// The chunk size of a file; for a directory the default for new files, or 0.
    pub(crate) chunk_size: u64,
    /// For a directory the class of new entries, or 0.
    pub(crate) class: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    /// Bytes of the target of a symbolic link.
    pub(crate) link_length: u64,
    /// The stamp of the directory's mark when `modified` was set. If the mark has changed since, its stamp is the time of the change.
    pub(crate) mark: u64,
}

impl Inode {
    /// A new inode that belongs to the user of this process.
    pub(crate) fn new(mode: u32, id: ObjectId, now: Time) -> Self {
        Self {
            mode,
            id,
            modified: now,
            changed: now,
            chunk_size: 0,
            class: 0,
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
            link_length: 0,
            mark: now.stamp(),
        }
    }

    pub(crate) fn kind(&self) -> u32 {
        self.mode & libc::S_IFMT
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.kind() == libc::S_IFDIR
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind() == libc::S_IFREG
    }

    pub(crate) fn is_link(&self) -> bool {
        self.kind() == libc::S_IFLNK
    }

    /// As it is stored.
    pub(crate) fn bytes(&self) -> [u8; SIZE] {
        let Self { mode, id, modified, changed, chunk_size, class, user, group, link_length, mark } = *self;
        let id = (id.hi(), id.lo());
        files::Inode { mode, id, modified, changed, chunk_size, class, user, group, link_length, mark }
            .bytes()
    }

    /// As it was stored.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Self> {
        let Ok(bytes) = bytes.try_into() else {
            return refuse(
                libc::EIO,
                &format!("an inode of {} bytes, where {SIZE} are expected", bytes.len()),
            );
        };
        let files::Inode { mode, id, modified, changed, chunk_size, class, user, group, link_length, mark } =
            files::Inode::of_bytes(bytes);
        let id = ObjectId::from_halves(id.0, id.1)?;
        Ok(Self { mode, id, modified, changed, chunk_size, class, user, group, link_length, mark })
    }
}

#[cfg(test)]
mod tests {
    use isotach_object::{ObjectClass, ObjectType};

    use super::*;

    #[test]
    fn an_inode_comes_back_as_it_was_stored_and_has_its_parts_where_daos_has_them() {
        let id = ObjectId::new(ObjectType::Array, ObjectClass::S1, 3, 7);
        let inode = Inode {
            chunk_size: 1 << 20,
            class: 9,
            link_length: 4,
            ..Inode::new(libc::S_IFREG | 0o644, id, Time { seconds: 5, nanoseconds: 6 })
        };
        let bytes = inode.bytes();
        assert_eq!(Inode::of_bytes(&bytes), Ok(inode));
        assert_eq!(bytes[..4], (libc::S_IFREG | 0o644).to_le_bytes());
        assert_eq!(bytes[4..12], 7_u64.to_le_bytes());
        assert_eq!(bytes[20], 5);
        assert_eq!(bytes[36..44], (1_u64 << 20).to_le_bytes());
        assert_eq!((bytes[44], bytes[48], bytes[56]), (9, 6, 6));
        assert_eq!(bytes[72], 4);
        assert_eq!(Inode::of_bytes(&bytes[1..]).unwrap_err(), super::super::Errno(libc::EIO));
    }
}
