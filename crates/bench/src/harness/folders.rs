//! Folders to measure in: their file system, its free space, and memory for what will be written there.

use std::{
    fs,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use rustix::fs::{statfs, statvfs};
use tempfile::TempDir;

use super::machine::memory_available;
use crate::{Error, Result};

/// The folders that are given, or memory and the current folder.
pub(crate) fn given_or_default(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let memory = Path::new("/dev/shm");
    let folders = match given.is_empty() {
        false => given.to_vec(),
        true => memory.is_dir().then(|| memory.to_owned()).into_iter().chain([PathBuf::from(".")]).collect(),
    };
    let absolute = |folder: PathBuf| folder.canonicalize().map_err(Error::io("find", &folder));
    folders.into_iter().map(absolute).collect()
}

/// A temporary folder for one measurement, removed with all its contents.
pub(crate) fn scratch(parent: &Path) -> Result<TempDir> {
    let made = tempfile::Builder::new().prefix("isotach-bench-").tempdir_in(parent);
    made.map_err(Error::io("make a folder in", parent))
}

pub(crate) fn create_folders<const N: usize>(parent: &Path, names: [&str; N]) -> Result<[PathBuf; N]> {
    let paths = names.map(|name| parent.join(name));
    paths.iter().try_for_each(|path| fs::create_dir(path).map_err(Error::io("create", path)))?;
    Ok(paths)
}

/// The kind of file system of a folder.
fn filesystem(folder: &Path) -> String {
    // The kernel defines the numbers in linux/magic.h.
    match statfs(folder).map(|found| found.f_type as u64) {
        Ok(0x0102_1994) => "tmpfs".to_owned(),
        Ok(0xef53) => "ext4".to_owned(),
        Ok(0x5846_5342) => "xfs".to_owned(),
        Ok(0x9123_683e) => "btrfs".to_owned(),
        Ok(0x794c_7630) => "overlayfs".to_owned(),
        Ok(0x0bd0_0bd0) => "lustre".to_owned(),
        Ok(number) => format!("file system {number:#x}"),
        Err(_) => "unknown file system".to_owned(),
    }
}

/// A folder with the kind of its file system, as tables show it.
pub(crate) fn title(folder: &Path) -> String {
    format!("{} {}", filesystem(folder), folder.display())
}

/// Whether files in a folder are in memory only, so that a sync costs nothing.
pub(crate) fn is_memory(folder: &Path) -> bool {
    filesystem(folder) == "tmpfs"
}

/// Bytes that can still be written to a folder.
pub(crate) fn space_available(folder: &Path) -> io::Result<u64> {
    let found = statvfs(folder)?;
    let space = found.f_bavail.saturating_mul(found.f_frsize);
    Ok(if is_memory(folder) { space.min(memory_available()) } else { space })
}

/// Writes as many bytes as a measurement will to a file, and removes it. A virtual machine gets memory from its host at
/// first use and may return what is free, so the first writer would pay for that. Memory that was allocated in another
/// way is not what the next file gets. A folder without enough space is no error: the measurement will report it.
pub(crate) fn prepare_memory(folder: &Path, bytes: u64) -> Result<()> {
    let mut file = tempfile::tempfile_in(folder).map_err(Error::io("make a file in", folder))?;
    let block = vec![0x5a; 1 << 20];
    // The kernel starts to write to a device at a tenth of the memory, and would continue during the measurement.
    let part = if is_memory(folder) { 2 } else { 10 };
    let bytes = bytes.min(memory_available() / part);
    for _ in 0..bytes.div_ceil(block.len() as u64) {
        match file.write_all(&block) {
            Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(()),
            written => written.map_err(Error::io("write a file in", folder))?,
        }
    }
    Ok(())
}
