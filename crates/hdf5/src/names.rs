//! The labels of containers, made of the names of files.

use std::path::{Path, PathBuf};

use isotach_engine_kit::random;
use isotach_object::Label;
use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

/// The absolute path of a file, through symbolic links as far as it is there.
pub(crate) fn absolute(name: &str) -> Result<PathBuf> {
    let failed = |error| Error::from_io(error, format!("the absolute path of {name}"));
    let path = std::path::absolute(name).map_err(failed)?;
    if let Ok(there) = path.canonicalize() {
        return Ok(there);
    }
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    Ok(match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    })
}

/// The readable part of a label.
pub(crate) fn readable(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let good = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    last.chars().take(60).map(good).collect()
}

/// The label of a file in a pool.
pub(crate) fn label_of(name: &str) -> Result<Label> {
    let sum = Sha256::digest(name.as_bytes());
    let hex: String = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("h5-{}-{hex}", readable(name)).parse()?)
}

/// A label that nothing has.
pub(crate) fn new_label(path: &Path) -> Result<Label> {
    Ok(format!("h5-{}-{:016x}", readable(&path.to_string_lossy()), random::number()?).parse()?)
}
