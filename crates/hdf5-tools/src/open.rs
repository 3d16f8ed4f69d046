//! Opens a file of either kind.

use std::{fs::File, io::Read as _, path::Path};

use isotach_hdf5::{Access, Error as FileError, Site};

use crate::{Error, ModelFile, NativeFile, Result, Source};

/// The kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file of the connector.
    Isotach,
    /// A file of the HDF5 library.
    Native,
}

/// What HDF5 files begin with.
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
/// What follows in a stub of the connector.
const STUB: &[u8] = b"isotach ";
/// How far a native file may have another content in front: its signature is at a power of 2 from 512 bytes on.
const USER_BLOCK_MAX: u64 = 1 << 20;

/// Of which kind a file is.
///
/// # Errors
/// `NoFile`; `NotHdf5` for anything else; those of the site.
pub fn kind_of(site: &Site, name: &str) -> Result<Kind> {
    if site.exists(name)? {
        return Ok(Kind::Isotach);
    }
    let path = Path::new(name);
    if !path.exists() {
        return Err(Error::NoFile { name: name.to_owned() });
    }
    let other = |what: &str| Err(Error::NotHdf5 { name: name.to_owned(), what: what.to_owned() });
    if path.is_dir() {
        return other("it is a folder");
    }
    match begin_of(path) {
        Ok(Some(following)) if following.starts_with(STUB) => {
            // The site says what is wrong with it.
            Ok(Kind::Isotach)
        }
        Ok(Some(_)) => Ok(Kind::Native),
        Ok(None) => other("it has not the signature of one"),
        Err(error) => other(&format!("it cannot be read ({error})")),
    }
}

/// What follows the signature of HDF5, if that is at one of its places.
fn begin_of(path: &Path) -> std::io::Result<Option<[u8; 8]>> {
    use std::io::{Seek as _, SeekFrom};
    let mut file = File::open(path)?;
    let mut place = 0;
    while place <= USER_BLOCK_MAX {
        file.seek(SeekFrom::Start(place))?;
        let mut begin = [0; 16];
        let mut filled = 0;
        while let Some(rest) = begin.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match file.read(rest)? {
                0 => break,
                count => filled += count,
            }
        }
        if let Some(following) = begin.strip_prefix(SIGNATURE).filter(|_| filled >= SIGNATURE.len()) {
            let mut after = [0; 8];
            after.iter_mut().zip(following).for_each(|(to, from)| *to = *from);
            return Ok(Some(after));
        }
        if filled < SIGNATURE.len() {
            return Ok(None);
        }
        place = if place == 0 { 512 } else { place * 2 };
    }
    Ok(None)
}

/// Opens a file for reading.
///
/// # Errors
/// Those of [`kind_of`] and of the kind.
pub fn open(site: &Site, name: &str) -> Result<Box<dyn Source>> {
    match kind_of(site, name)? {
        Kind::Isotach => Ok(Box::new(ModelFile::new(open_model(site, name)?))),
        Kind::Native => Ok(Box::new(NativeFile::open(name)?)),
    }
}

fn open_model(site: &Site, name: &str) -> Result<std::sync::Arc<isotach_hdf5::File>> {
    match site.open(name, Access::ReadOnly) {
        Err(FileError::NotFound { .. }) if !Path::new(name).exists() => {
            Err(Error::NoFile { name: name.to_owned() })
        }
        opened => Ok(opened?),
    }
}

/// Splits `FILE[/PATH]`: the longest beginning that is a file, and what follows.
pub fn split<'n>(site: &Site, name: &'n str) -> (&'n str, &'n str) {
    let is_file =
        |file: &str| !file.is_empty() && (Path::new(file).is_file() || matches!(site.exists(file), Ok(true)));
    let ends = std::iter::once(name.len()).chain(name.rmatch_indices('/').map(|(at, _)| at));
    let found = ends.filter_map(|end| name.split_at_checked(end)).find(|(file, _)| is_file(file));
    found.unwrap_or((name, ""))
}
