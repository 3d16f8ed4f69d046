//! Adopting: indexes fields of existing files in place, with a checksum and without a copy.

use std::{fs::File, os::unix::fs::FileExt, path::Path};

use isotach_engine_kit::checksum::Crc32c;
use isotach_mars::Key;
use isotach_object::Error as ObjectError;

use crate::{Error, FieldStore, Location, Result};

/// The bytes of a file that are read in one call for its checksum.
const CHUNK: usize = 1 << 20;

impl FieldStore {
    /// Indexes the `length` bytes at `offset` of a file as a field, without a copy. The file must not move or change:
    /// each read checks the bytes against `checksum` (CRC32C), which is computed here if it is not given. Wiping the
    /// dataset does not touch the file. Visible after [`FieldStore::flush`].
    ///
    /// # Errors
    /// [`Error::Invalid`] when the file is too short or its path is not UTF-8; [`Error::Field`] when it cannot be read; else as
    /// [`FieldStore::archive`].
    pub fn adopt(
        &self,
        key: &Key,
        file: &Path,
        offset: u64,
        length: u64,
        checksum: Option<u32>,
    ) -> Result<Location> {
        let failed = |source, what: &str| {
            Error::of_field(key, ObjectError::from_io(source, format!("{what} {}", file.display())))
        };
        let path = file.canonicalize().map_err(|source| failed(source, "find"))?;
        if path.to_str().is_none() {
            // The printed location could not be parsed back.
            return Err(Error::invalid(format!("file {}", path.display()), "a path in UTF-8"));
        }
        let opened =
            self.inner.with_handles(|| File::open(&path).map_err(|source| failed(source, "open")))?;
        let size = opened.metadata().map_err(|source| failed(source, "look at"))?.len();
        if offset.checked_add(length).is_none_or(|end| end > size) {
            let what = format!("{length} bytes at {offset} of {}", file.display());
            return Err(Error::invalid(what, format!("a part of its {size} bytes")));
        }
        let checksum = match checksum {
            Some(checksum) => checksum,
            None => checksum_of(&opened, offset, length).map_err(|source| failed(source, "read"))?,
        };
        let location = Location::file(&path, offset, length, checksum)?;
        self.index(key, &location)?;
        Ok(location)
    }
}

/// CRC32C of a part of a file.
pub(crate) fn checksum_of(file: &File, mut offset: u64, mut length: u64) -> std::io::Result<u32> {
    let mut crc = Crc32c::default();
    let mut buffer = vec![0; CHUNK.min(usize::try_from(length).unwrap_or(CHUNK))];
    while length > 0 {
        let part = buffer.len().min(usize::try_from(length).unwrap_or(usize::MAX));
        file.read_exact_at(&mut buffer[..part], offset)?;
        crc.update(&buffer[..part]);
        offset += part as u64;
        length -= part as u64;
    }
    Ok(crc.finish())
}
