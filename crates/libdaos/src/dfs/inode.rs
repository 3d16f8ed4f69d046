//! Inodes: what an entry says of itself, in the 88 bytes of layout version 3 of DAOS's file system.

use std::time::{SystemTime, UNIX_EPOCH};

use isotach_object::ObjectId;

use super::error::{Result, refuse};

/// Where its parts begin, and where it ends.
const MODE: usize = 0;
const ID_LOW: usize = 4;
const ID_HIGH: usize = 12;
const MODIFIED: usize = 20;
const CHANGED: usize = 28;
const CHUNK_SIZE: usize = 36;
const CLASS: usize = 44;
const MODIFIED_NANOSECONDS: usize = 48;
const CHANGED_NANOSECONDS: usize = 56;
const USER: usize = 64;
const GROUP: usize = 68;
const LINK_LENGTH: usize = 72;
const MARK: usize = 80;
pub(crate) const SIZE: usize = 88;

/// A time, since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Time {
    pub(crate) seconds: u64,
    pub(crate) nanoseconds: u64,
}

impl Time {
    /// The present time. A clock that stands before 1970 is taken for one that stands there.
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { seconds: since.as_secs(), nanoseconds: since.subsec_nanos().into() }
    }

    /// In nanoseconds.
    pub(crate) fn stamp(self) -> u64 {
        self.seconds.saturating_mul(1_000_000_000).saturating_add(self.nanoseconds)
    }

    /// The time of a stamp.
    pub(crate) fn of_stamp(stamp: u64) -> Self {
        Self { seconds: stamp / 1_000_000_000, nanoseconds: stamp % 1_000_000_000 }
    }
}

/// What an entry says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inode {
    /// Kind and permissions.
    pub(crate) mode: u32,
    pub(crate) id: ObjectId,
    pub(crate) modified: Time,
    pub(crate) changed: Time,
    /// Of a file its own; of a directory that of new files in it, or 0.
    pub(crate) chunk_size: u64,
    /// Of a directory: the class of what is new in it, or 0.
    pub(crate) class: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    /// Bytes of where a symbolic link leads.
    pub(crate) link_length: u64,
    /// The stamp of the directory's mark when `modified` was set; where the mark has another one, that one counts.
    pub(crate) mark: u64,
}

impl Inode {
    /// A new inode of the user's who asks for it.
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
        let mut bytes = [0; SIZE];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(MODE, &self.mode.to_le_bytes());
        put(ID_LOW, &self.id.lo().to_le_bytes());
        put(ID_HIGH, &self.id.hi().to_le_bytes());
        put(MODIFIED, &self.modified.seconds.to_le_bytes());
        put(CHANGED, &self.changed.seconds.to_le_bytes());
        put(CHUNK_SIZE, &self.chunk_size.to_le_bytes());
        put(CLASS, &self.class.to_le_bytes());
        put(MODIFIED_NANOSECONDS, &self.modified.nanoseconds.to_le_bytes());
        put(CHANGED_NANOSECONDS, &self.changed.nanoseconds.to_le_bytes());
        put(USER, &self.user.to_le_bytes());
        put(GROUP, &self.group.to_le_bytes());
        put(LINK_LENGTH, &self.link_length.to_le_bytes());
        put(MARK, &self.mark.to_le_bytes());
        bytes
    }

    /// As it was stored.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Self> {
        if bytes.len() != SIZE {
            return refuse(
                libc::EIO,
                &format!("an inode of {} bytes, where {SIZE} are expected", bytes.len()),
            );
        }
        let small = |at: usize| {
            let part = bytes.get(at..at + 4).and_then(|part| part.try_into().ok());
            part.map_or(0, u32::from_le_bytes)
        };
        let large = |at: usize| {
            let part = bytes.get(at..at + 8).and_then(|part| part.try_into().ok());
            part.map_or(0, u64::from_le_bytes)
        };
        Ok(Self {
            mode: small(MODE),
            id: ObjectId::from_halves(large(ID_HIGH), large(ID_LOW))?,
            modified: Time { seconds: large(MODIFIED), nanoseconds: large(MODIFIED_NANOSECONDS) },
            changed: Time { seconds: large(CHANGED), nanoseconds: large(CHANGED_NANOSECONDS) },
            chunk_size: large(CHUNK_SIZE),
            class: small(CLASS),
            user: small(USER),
            group: small(GROUP),
            link_length: large(LINK_LENGTH),
            mark: large(MARK),
        })
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
