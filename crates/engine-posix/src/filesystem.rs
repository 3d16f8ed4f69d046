//! What a file system must do for this engine, and which ones do not.
//!
//! Everything rests on one property: appends to one file by several processes are placed one after the
//! other by the file system itself. Local file systems and tmpfs do it under the inode's lock, Lustre and
//! GPFS under their distributed ones. Network file systems that compute the end of the file in the client
//! do not, and two writers would then overwrite each other's frames.

use std::path::Path;

use isotach_object::{Error, Result};

use crate::disk::{Folder, Space};

/// File systems that do not order appends between clients: the `statfs` number, and the name.
const REFUSED: [(u64, &str); 8] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x6573_5546, "FUSE"),
];

/// Refuses a pool on a file system that cannot keep the engine's promises.
pub(crate) fn check(disk: &dyn Folder, path: &Path) -> Result<()> {
    check_type(space(disk, path)?.kind, path)
}

fn check_type(number: u64, path: &Path) -> Result<()> {
    match REFUSED.iter().find(|(refused, _)| *refused == number) {
        None => Ok(()),
        Some((_, name)) => Err(Error::Unsupported {
            engine: crate::SCHEME,
            what: format!(
                "{} is on {name}, which does not order appends of several clients; use a local file system, \
                 Lustre or GPFS",
                path.display()
            ),
        }),
    }
}

/// What there is to say of the file system under `path`.
pub(crate) fn space(disk: &dyn Folder, path: &Path) -> Result<Space> {
    let space = disk.folder(path, true).and_then(|folder| folder.space());
    space.map_err(|error| Error::from_io(error, format!("statfs {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_that_does_not_order_appends_is_refused_with_the_reason() {
        let error = check_type(0x6969, Path::new("/nfs/store")).unwrap_err();
        assert_eq!(error.code(), "unsupported");
        assert!(error.to_string().contains("/nfs/store is on NFS, which does not order appends"), "{error}");
        assert!(check(&*crate::disk::system(), Path::new("/")).is_ok());
    }
}
