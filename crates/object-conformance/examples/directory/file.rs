//! Files with a checksum, written beside and renamed.
//!
//! What must stay true: a file under its own name is whole, or its checksum says that it is not.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use isotach_engine_kit::{
    bytes::{Put, Reader},
    checksum::crc32c,
};
use isotach_object::{Error, Result};

/// Says what failed, and where.
pub(crate) fn failed(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let what = format!("{verb} {}", path.display());
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::AlreadyExists { what },
        _ => Error::from_io(error, what),
    }
}

/// Replaces a file with these contents. A crash leaves the old file or the new one.
pub(crate) fn write(path: &Path, contents: &[u8]) -> Result<()> {
    let mut bytes = Vec::with_capacity(contents.len() + 4);
    bytes.put_u32(crc32c(contents));
    bytes.extend_from_slice(contents);
    let beside = path.with_extension("new");
    fs::write(&beside, &bytes).map_err(failed("write", &beside))?;
    fs::rename(&beside, path).map_err(failed("rename", &beside))
}

/// The contents of a file, or `None` where there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let mut bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(failed("read", path))?,
    };
    let sum = Reader(&bytes).u32();
    let contents = bytes.split_off(bytes.len().min(4));
    match sum == Some(crc32c(&contents)) {
        true => Ok(Some(contents)),
        false => Err(Error::corrupt("the checksum does not fit the contents", path.display().to_string())),
    }
}

/// Makes a file, or the names in a folder, durable.
pub(crate) fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failed("sync", path))
}
