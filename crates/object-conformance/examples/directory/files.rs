//! Files with a checksum, folders, and unique names.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use isotach_engine_kit::{checksum::crc32c, random};
use isotach_object::{Error, Result};

/// The bytes of the checksum in front of a file.
const HEAD: usize = 4;

/// The body of a file, or `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let Some(mut bytes) = unless_gone(fs::read(path), path)? else { return Ok(None) };
    let Some((head, body)) = bytes.split_first_chunk::<HEAD>() else {
        return Err(Error::corrupt(format!("a file of {} bytes", bytes.len()), name(path)));
    };
    if u32::from_le_bytes(*head) != crc32c(body) {
        return Err(Error::corrupt("bytes that do not fit their checksum", name(path)));
    }
    bytes.drain(..HEAD);
    Ok(Some(bytes))
}

/// Writes a file, which is not synced yet.
pub(crate) fn write(path: &Path, body: &[u8]) -> Result<File> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(&crc32c(body).to_le_bytes())?;
        file.write_all(body)?;
        Ok(file)
    };
    write().map_err(|error| {
        // An incomplete file takes space.
        let _ = fs::remove_file(path);
        Error::from_io(error, name(path))
    })
}

/// Writes a file and syncs it.
pub(crate) fn create(path: &Path, body: &[u8]) -> Result<()> {
    write(path, body)?.sync_all().map_err(|error| Error::from_io(error, name(path)))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| Error::from_io(error, name(path)))
}

/// The bytes of all files below a folder. Files that disappear meanwhile, or the folder itself, count as nothing.
pub(crate) fn size_of_tree(path: &Path) -> Result<u64> {
    let mut sum = 0;
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let Some(entries) = unless_gone(fs::read_dir(&folder), &folder)? else { continue };
        for entry in entries {
            let Some(entry) = unless_gone(entry, &folder)? else { continue };
            match unless_gone(entry.metadata(), &folder)? {
                Some(data) if data.is_dir() => folders.push(entry.path()),
                Some(data) => sum += data.len(),
                None => {}
            }
        }
    }
    Ok(sum)
}

/// The outcome, or `None` if the file or folder does not exist.
pub(crate) fn unless_gone<T>(outcome: io::Result<T>, path: &Path) -> Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Error::from_io(error, name(path))),
    }
}

/// A name that is never used again.
pub(crate) fn unique() -> Result<String> {
    Ok(random::bytes::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(crate) fn name(path: &Path) -> String {
    path.display().to_string()
}
