//! Stub files: what stands in the place of a file in the file system, and names its container.
//!
//! A stub begins with HDF5's signature, because netCDF looks at it. It is written aside and moved into its place whole.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use isotach_engine_kit::random;
use isotach_object::Label;

use crate::{Error, Result};

/// The signature of HDF5, and the first line.
const BEGIN: &[u8] = b"\x89HDF\r\n\x1a\nisotach 1\n";
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
/// A stub is never longer.
const LENGTH_MAX: u64 = 16 << 10;

/// What a stub names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stub {
    pub(crate) label: Label,
    /// A folder, from that of the stub, or a URI.
    pub(crate) pool: String,
}

/// What is at a path.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// A file without bytes.
    Empty,
    Stub(Stub),
    /// A file of others: what it is.
    Other(&'static str),
    /// What no creation may replace: what it is.
    Kept(&'static str),
}

impl Found {
    /// Whether the stub of a file in a pool may replace it. With `replaces` it may replace files of others, too.
    pub(crate) fn gives_way_to(&self, stub: &Stub, replaces: bool) -> bool {
        let pool_of = |stub: &Stub| stub.pool.split('?').next().map(str::to_owned);
        match self {
            Self::Nothing | Self::Empty => true,
            Self::Stub(there) => there.label == stub.label && pool_of(there) == pool_of(stub),
            Self::Other(_) => replaces,
            Self::Kept(_) => false,
        }
    }
}

impl Stub {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let Self { label, pool } = self;
        [BEGIN, format!("container {label}\npool {pool}\n").as_bytes()].concat()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let lines = str::from_utf8(text_of(bytes).strip_prefix(BEGIN)?).ok()?;
        let line = |key: &str| lines.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        Some(Self { label: line("container")?.parse().ok()?, pool: line("pool")?.to_owned() })
    }
}

/// The lines of a stub: zero bytes behind them make it longer.
fn text_of(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Makes a stub about so long, if it is that of a container. It keeps its lines.
pub(crate) fn set_length(path: &Path, label: &Label, length: u64) -> io::Result<()> {
    let file = fs::OpenOptions::new().read(true).write(true).open(path)?;
    let mut bytes = Vec::new();
    (&file).take(LENGTH_MAX).read_to_end(&mut bytes)?;
    if Stub::decode(&bytes).is_some_and(|stub| stub.label == *label) {
        file.set_len(length.max(text_of(&bytes).len() as u64))?;
    }
    Ok(())
}

/// What is at a path.
pub(crate) fn read(path: &Path) -> Result<Found> {
    let failed = |error| Error::from_io(error, format!("file {}", path.display()));
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(failed(error)),
    };
    if file.metadata().map_err(failed)?.is_dir() {
        return Ok(Found::Kept("a folder"));
    }
    let mut bytes = Vec::new();
    file.take(LENGTH_MAX).read_to_end(&mut bytes).map_err(failed)?;
    Ok(match Stub::decode(&bytes) {
        Some(stub) => Found::Stub(stub),
        None if bytes.is_empty() => Found::Empty,
        None if bytes.starts_with(b"\x89HDF\r\n\x1a\nisotach ") => Found::Kept("a damaged or newer stub"),
        None if bytes.starts_with(SIGNATURE) => {
            Found::Other("a native HDF5 file (isotach h5 copy imports it)")
        }
        None => Found::Other("no HDF5 file"),
    })
}

/// Puts a stub at a path. Fails with `AlreadyExists` if it must be new and something is there.
pub(crate) fn write(path: &Path, stub: &Stub, must_be_new: bool, sync: bool) -> Result<()> {
    let failed = |error| Error::from_io(error, format!("file {}", path.display()));
    let aside = aside(path)?;
    let outcome = write_aside(&aside, &stub.encode(), sync).and_then(|()| {
        if must_be_new { link_new(&aside, path, &stub.encode()) } else { fs::rename(&aside, path) }
    });
    // After a rename it is not there.
    let _ = fs::remove_file(&aside);
    outcome.map_err(failed)?;
    if sync && let Some(folder) = path.parent() {
        fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    }
    Ok(())
}

/// Gives a file its name if nothing has it. Some file systems have no hard links; there, another program may see a part of the stub.
fn link_new(aside: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::hard_link(aside, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => write_aside(path, bytes, true),
        linked => linked,
    }
}

fn write_aside(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(bytes)?;
    if sync { file.sync_all() } else { Ok(()) }
}

/// A new name in the same folder.
fn aside(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(path.with_file_name(format!(".{name}.{:016x}", random::number()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_reads_back_and_other_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.h5");
        assert!(matches!(read(&path).unwrap(), Found::Nothing));
        let stub = Stub { label: "h5-x-1".parse().unwrap(), pool: ".isotach-h5".to_owned() };
        write(&path, &stub, true, false).unwrap();
        assert!(matches!(read(&path).unwrap(), Found::Stub(found) if found == stub));
        let again = write(&path, &stub, true, false).unwrap_err();
        assert!(again.to_string().contains("errno = 17"), "{again}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left aside");
        for (bytes, what) in [
            (&b"\x89HDF\r\n\x1a\n\0\0"[..], "native"),
            (b"hello", "no HDF5"),
            (b"\x89HDF\r\n\x1a\nisotach 2\n", "newer"),
        ] {
            fs::write(&path, bytes).unwrap();
            assert!(
                matches!(read(&path).unwrap(), Found::Other(found) | Found::Kept(found) if found.contains(what))
            );
        }
    }
}
