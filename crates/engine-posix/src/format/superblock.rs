//! The superblock: 64 bytes that identify the directory of a pool or container (FORMAT.md section 2).
//!
//! An unknown mandatory feature or a newer version is refused. An unknown optional feature is ignored.

use std::{io, path::Path};

use crate::{
    format::{check, checked},
    io::{
        directory::Directory,
        disk::{self, Folder},
    },
};
use isotach_engine_kit::{
    bytes::{Put, Reader},
    random,
};
use isotach_object::{Error, Result};

/// The name of the superblock file in a pool's or container's directory.
pub(crate) const FILE: &str = "superblock";
/// Its size in bytes.
pub(crate) const SIZE: usize = 64;
/// The format version written, and the newest one read.
pub(crate) const VERSION: u32 = 1;

/// What a superblock describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Pool,
    Container,
}

impl Kind {
    fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Pool => b"ISOTPOOL",
            Self::Container => b"ISOTCONT",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Pool => "an Isotach pool",
            Self::Container => "an Isotach container",
        }
    }
}

/// The fields of a superblock that vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Superblock {
    /// Random. The log and the runs repeat it, so files of two containers are never mixed up.
    pub(crate) uuid: [u8; 16],
    /// Random. It begins every frame of the log and occurs nowhere else in it.
    pub(crate) marker: u64,
}

impl Superblock {
    /// A new identity.
    pub(crate) fn new() -> Result<Self> {
        // At least two bits in each byte: see `frame`.
        let marker = random::bytes::<8>()?.map(|byte| if byte.count_ones() < 2 { byte ^ 0x66 } else { byte });
        Ok(Self { uuid: random::bytes()?, marker: u64::from_le_bytes(marker) })
    }

    pub(crate) fn encode(&self, kind: Kind) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SIZE);
        bytes.extend_from_slice(kind.magic());
        bytes.put_u32(VERSION);
        bytes.put_u32(0); // mandatory features
        bytes.put_u32(0); // optional features
        bytes.put_u32(0);
        bytes.extend_from_slice(&self.uuid);
        bytes.put_u64(self.marker);
        checked(bytes, SIZE)
    }

    /// Reads the superblock of `directory`.
    pub(crate) fn read(disk: &dyn Folder, directory: &Path, kind: Kind) -> Result<Self> {
        Self::read_as(disk, directory, FILE, kind)
    }

    /// Reads a superblock that has another name.
    pub(crate) fn read_as(disk: &dyn Folder, directory: &Path, name: &str, kind: Kind) -> Result<Self> {
        Self::of_bytes(disk.read(&directory.join(name), SIZE + 1), kind, directory)
    }

    /// Reads the superblock of an open directory.
    pub(crate) fn read_in(directory: &Directory, kind: Kind) -> Result<Self> {
        Self::of_bytes(directory.read_all(FILE, SIZE + 1), kind, directory.path())
    }

    fn of_bytes(bytes: io::Result<Vec<u8>>, kind: Kind, directory: &Path) -> Result<Self> {
        let bytes = bytes.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => not_one(directory, kind),
            io::ErrorKind::NotADirectory => not_a_directory(directory, kind),
            _ => disk::failed("read", &directory.join(FILE), source),
        })?;
        Self::decode(&bytes, kind, directory)
    }

    pub(crate) fn decode(bytes: &[u8], kind: Kind, directory: &Path) -> Result<Self> {
        let place = || directory.join(FILE).display().to_string();
        if !bytes.starts_with(kind.magic()) {
            return Err(not_one(directory, kind));
        }
        if bytes.len() != SIZE {
            let than = if bytes.len() > SIZE { "more" } else { "fewer" };
            return Err(Error::corrupt(format!("{than} than {SIZE} bytes"), place()));
        }
        let wrong = || Error::corrupt("the checksum of the superblock does not match", place());
        let mut reader = check(bytes).ok_or_else(wrong)?;
        let fields = |reader: &mut Reader<'_>| {
            reader.take(8)?;
            let (version, mandatory) = (reader.u32()?, reader.u32()?);
            let _optional_and_reserved = reader.u64()?;
            let uuid = reader.take(16)?.try_into().ok()?;
            Some((version, mandatory, Self { uuid, marker: reader.u64()? }))
        };
        let (version, mandatory, block) =
            fields(&mut reader).ok_or_else(|| Error::corrupt("a short superblock", place()))?;
        if version > VERSION || mandatory != 0 {
            let what = format!(
                "{} has format version {version} with features {mandatory:#x}, and this program reads version \
                 {VERSION} without features",
                directory.display()
            );
            return Err(Error::NewerFormat { what });
        }
        Ok(block)
    }
}

/// The error for a directory that is something else.
fn not_one(directory: &Path, kind: Kind) -> Error {
    Error::invalid(format!("{} is not {}", directory.display(), kind.name()), format!("a {FILE} file in it"))
}

/// The error for a path that leads to a file or a device, or through one.
pub(crate) fn not_a_directory(path: &Path, kind: Kind) -> Error {
    Error::invalid(
        format!("{} is not a directory", path.display()),
        format!("the directory of {}", kind.name()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let block = Superblock::new().unwrap();
        let good = block.encode(Kind::Container);
        assert_eq!(good.len(), SIZE, "FORMAT.md section 2");
        assert_eq!(Superblock::decode(&good, Kind::Container, Path::new("x")).unwrap(), block);
        for bit in 0..SIZE * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(Superblock::decode(&bad, Kind::Container, Path::new("x")).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn newer_versions_and_mandatory_features_are_refused() {
        let with = |at: usize, value: u8| {
            let mut bytes = Superblock { uuid: [7; 16], marker: 9 }.encode(Kind::Pool);
            bytes[at] = value;
            bytes.truncate(SIZE - 4);
            let bytes = checked(bytes, SIZE);
            Superblock::decode(&bytes, Kind::Pool, Path::new("/x")).map_err(|error| error.code())
        };
        assert_eq!(with(8, 2).unwrap_err(), "newer-format", "version");
        assert_eq!(with(12, 1).unwrap_err(), "newer-format", "mandatory feature");
        assert!(with(16, 1).is_ok(), "optional feature");
    }
}
