//! How a container holds a file system: the superblock, the inode of the root directory, and the marks of directories.
//!
//! Superblock and inodes are those of layout version 3 of DAOS's file system.

use std::time::{SystemTime, UNIX_EPOCH};

/// The halves of the superblock's id: of a directory's type and the class of one copy on one target, with the user's bits 0.
pub const SUPERBLOCK: (u64, u64) = (0x0001_0001_0000_0000, 0);
/// The halves of the root directory's id: the same, with the user's bits 1.
pub const ROOT: (u64, u64) = (SUPERBLOCK.0 | 1, 0);
/// The name of the root directory's entry, a distribution key of the superblock.
pub const ROOT_NAME: &[u8] = b"/";
/// The attribute key of an entry's inode.
pub const INODE: &[u8] = b"DFS_INODE";

/// The distribution key of the superblock, and its attribute keys.
pub const DKEY: &[u8] = b"DFS_SB_METADATA";
/// The attribute key of [`MAGIC_NUMBER`]: a container without it is no file system.
pub const MAGIC: &[u8] = b"DFS_MAGIC";
/// The attribute key of [`VERSION_NUMBER`].
pub const VERSION: &[u8] = b"DFS_SB_VERSION";
/// The attribute key of [`LAYOUT_NUMBER`].
pub const LAYOUT: &[u8] = b"DFS_LAYOUT_VERSION";
/// The attribute key of the bytes of a file's chunk.
pub const CHUNK_SIZE: &[u8] = b"DFS_CHUNK_SIZE";
/// The attribute key of the class of objects.
pub const CLASS: &[u8] = b"DFS_OBJ_CLASS";
/// The attribute key of the class of directories.
pub const DIRECTORY_CLASS: &[u8] = b"DFS_DIR_OBJ_CLASS";
/// The attribute key of the class of files.
pub const FILE_CLASS: &[u8] = b"DFS_FILE_OBJ_CLASS";
/// The attribute key of the consistency mode.
pub const MODE: &[u8] = b"DFS_MODE";
/// The attribute key of the hints, with the zero that ends them.
pub const HINTS: &[u8] = b"DFS_HINTS";

/// What a superblock begins with.
pub const MAGIC_NUMBER: u64 = 0xda05_df50_da05_df50;
/// The version of the superblock.
pub const VERSION_NUMBER: u16 = 2;
/// The version of the layout.
pub const LAYOUT_NUMBER: u16 = 3;
/// Bytes of a chunk where nothing else is said.
pub const DEFAULT_CHUNK_SIZE: u64 = 1 << 20;
/// The mode of a new root directory: all may read it, and its owner may write.
pub const ROOT_MODE: u32 = 0o040_755;

/// What holds for a file system.
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    /// Bytes of a chunk; 0 for the default.
    pub chunk_size: u64,
    /// The class of objects; 0 for the default, as below.
    pub class: u32,
    /// The class of directories.
    pub directory_class: u32,
    /// The class of files.
    pub file_class: u32,
    /// Relaxed or balanced.
    pub mode: u32,
    /// Stored and returned: on one machine there is nothing to choose.
    pub hints: Vec<u8>,
}

impl Attributes {
    /// The superblock: attribute keys and values. The magic number comes last.
    #[must_use]
    pub fn superblock(&self) -> Vec<(&'static [u8], Vec<u8>)> {
        let chunk_size = match self.chunk_size {
            0 => DEFAULT_CHUNK_SIZE,
            given => given,
        };
        let mut values = vec![
            (VERSION, VERSION_NUMBER.to_le_bytes().to_vec()),
            (LAYOUT, LAYOUT_NUMBER.to_le_bytes().to_vec()),
            (CHUNK_SIZE, chunk_size.to_le_bytes().to_vec()),
            (CLASS, self.class.to_le_bytes().to_vec()),
            (DIRECTORY_CLASS, self.directory_class.to_le_bytes().to_vec()),
            (FILE_CLASS, self.file_class.to_le_bytes().to_vec()),
            (MODE, self.mode.to_le_bytes().to_vec()),
        ];
        if !self.hints.is_empty() {
            values.push((HINTS, [&self.hints[..], &[0]].concat()));
        }
        values.push((MAGIC, MAGIC_NUMBER.to_le_bytes().to_vec()));
        values
    }
}

/// The key, in the container's own map, of a directory's mark: the value is the stamp of its last change.
#[must_use]
pub fn mark_key(directory: (u64, u64)) -> [u8; 17] {
    directory_key(b'd', directory)
}

/// The key, in the container's own map, of what is kept of a directory.
#[must_use]
pub fn directory_key(kind: u8, (hi, lo): (u64, u64)) -> [u8; 17] {
    let mut key = [kind; 17];
    key[1..9].copy_from_slice(&hi.to_le_bytes());
    key[9..].copy_from_slice(&lo.to_le_bytes());
    key
}

/// A time since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time {
    /// Whole seconds.
    pub seconds: u64,
    /// Nanoseconds beyond them.
    pub nanoseconds: u64,
}

impl Time {
    /// The present time. A clock that stands before 1970 is taken for one that stands there.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { seconds: since.as_secs(), nanoseconds: since.subsec_nanos().into() }
    }

    /// The time of a stamp.
    #[must_use]
    pub const fn of_stamp(stamp: u64) -> Self {
        Self { seconds: stamp / 1_000_000_000, nanoseconds: stamp % 1_000_000_000 }
    }

    /// In nanoseconds.
    #[must_use]
    pub const fn stamp(self) -> u64 {
        self.seconds.saturating_mul(1_000_000_000).saturating_add(self.nanoseconds)
    }
}

/// Bytes of an inode.
pub const INODE_SIZE: usize = 88;

/// What an entry of a directory says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inode {
    /// Kind and permissions.
    pub mode: u32,
    /// The high and the low half of the object's id.
    pub id: (u64, u64),
    /// When its contents changed.
    pub modified: Time,
    /// When the inode changed.
    pub changed: Time,
    /// Of a file its own; of a directory that of new files in it, or 0.
    pub chunk_size: u64,
    /// Of a directory: the class of what is new in it, or 0.
    pub class: u32,
    /// The number of its owner.
    pub user: u32,
    /// The number of its group.
    pub group: u32,
    /// Bytes of where a symbolic link leads.
    pub link_length: u64,
    /// The stamp of the directory's mark when `modified` was set; where the mark has another one, that one counts.
    pub mark: u64,
}

impl Inode {
    /// The inode of a new directory or file.
    #[must_use]
    pub const fn new(mode: u32, id: (u64, u64), (user, group): (u32, u32), now: Time) -> Self {
        let (modified, changed, mark) = (now, now, now.stamp());
        Self { mode, id, modified, changed, chunk_size: 0, class: 0, user, group, link_length: 0, mark }
    }

    /// As it is stored.
    #[must_use]
    pub fn bytes(&self) -> [u8; INODE_SIZE] {
        let parts: [&[u8]; 13] = [
            &self.mode.to_le_bytes(),
            &self.id.1.to_le_bytes(),
            &self.id.0.to_le_bytes(),
            &self.modified.seconds.to_le_bytes(),
            &self.changed.seconds.to_le_bytes(),
            &self.chunk_size.to_le_bytes(),
            &self.class.to_le_bytes(),
            &self.modified.nanoseconds.to_le_bytes(),
            &self.changed.nanoseconds.to_le_bytes(),
            &self.user.to_le_bytes(),
            &self.group.to_le_bytes(),
            &self.link_length.to_le_bytes(),
            &self.mark.to_le_bytes(),
        ];
        let mut bytes = [0; INODE_SIZE];
        bytes.iter_mut().zip(parts.into_iter().flatten()).for_each(|(to, from)| *to = *from);
        bytes
    }

    /// As it was stored.
    #[must_use]
    pub fn of_bytes(bytes: &[u8; INODE_SIZE]) -> Self {
        let part = |at: usize, length: usize| {
            let mut part = [0; 8];
            part[..length].copy_from_slice(&bytes[at..at + length]);
            u64::from_le_bytes(part)
        };
        let (small, large) = (|at| part(at, 4) as u32, |at| part(at, 8));
        Self {
            mode: small(0),
            id: (large(12), large(4)),
            modified: Time { seconds: large(20), nanoseconds: large(48) },
            changed: Time { seconds: large(28), nanoseconds: large(56) },
            chunk_size: large(36),
            class: small(44),
            user: small(64),
            group: small(68),
            link_length: large(72),
            mark: large(80),
        }
    }
}
