//! The requirements for a file system, and the file systems that do not meet them.
//!
//! Everything depends on one property: the file system itself places appends of several processes to one file one after the other. Local
//! file systems and tmpfs do so under the inode's lock, Lustre and GPFS under their distributed locks. Network file systems that compute
//! the end of the file in the client do not, and two writers would overwrite each other's frames.

use std::path::Path;

use isotach_object::{Error, Result};

use crate::io::disk::{Folder, Space};

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

/// File systems of one machine, whose locks reach every writer: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs, overlayfs.
pub(crate) const LOCAL: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e, 0x0102_1994, 0x794c_7630];
const LUSTRE: u64 = 0x0bd0_0bd0;

/// Refuses an operation that relies on locks where locks may not reach every writer.
pub(crate) fn check_locks(disk: &dyn Folder, path: &Path) -> Result<()> {
    if !disk.is_shared() {
        return Ok(());
    }
    let why = match space(disk, path)?.kind {
        kind if LOCAL.contains(&kind) => return Ok(()),
        LUSTRE => {
            let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if mount_has(&mounts, &path, "flock") {
                return Ok(());
            }
            "Lustre mounted without the option flock"
        }
        _ => "a file system whose locks may not reach all nodes",
    };
    let what = format!("purging {}: it is on {why}, so other writers cannot be detected", path.display());
    Err(Error::Unsupported { engine: crate::capability::SCHEME, what })
}

/// Whether the file system of `path` is mounted with an option, according to `/proc/self/mountinfo`.
fn mount_has(mounts: &str, path: &Path, option: &str) -> bool {
    let mount = mounts.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let point = Path::new(fields.get(4)?);
        path.starts_with(point).then_some((point.as_os_str().len(), fields))
    });
    let Some((_, fields)) = mount.max_by_key(|(length, _)| *length) else { return false };
    let options = fields.get(5).into_iter().chain(fields.last());
    options.flat_map(|options| options.split(',')).any(|given| given == option)
}

/// Refuses a pool on a file system that cannot keep the engine's promises.
pub(crate) fn check(disk: &dyn Folder, path: &Path) -> Result<()> {
    check_type(space(disk, path)?.kind, path)
}

fn check_type(number: u64, path: &Path) -> Result<()> {
    match REFUSED.iter().find(|(refused, _)| *refused == number) {
        None => Ok(()),
        Some((_, name)) => Err(Error::Unsupported {
            engine: crate::capability::SCHEME,
            what: format!(
                "{} is on {name}, which does not order appends of several clients; use a local file system, \
                 Lustre or GPFS",
                path.display()
            ),
        }),
    }
}

/// The size and the kind of the file system of `path`.
pub(crate) fn space(disk: &dyn Folder, path: &Path) -> Result<Space> {
    let space = disk.folder(path, true).and_then(|folder| folder.space());
    space.map_err(|error| Error::from_io(error, format!("statfs {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_options_of_a_path_are_found() {
        let mounts = "1 0 0:1 / / rw - ext4 /dev/a rw\n\
                      2 1 0:2 / /lus rw shared:1 - lustre a@tcp:/f rw,flock,lazystatfs\n\
                      3 1 0:3 / /lus/local rw - lustre b@tcp:/f rw,localflock\n";
        let has = |path| mount_has(mounts, Path::new(path), "flock");
        assert!(has("/lus/pool"));
        assert!(!has("/lus/local/pool") && !has("/lustre") && !has("/pool"));
    }

    #[test]
    fn file_systems_without_ordered_appends_are_refused() {
        let error = check_type(0x6969, Path::new("/nfs/store")).unwrap_err();
        assert_eq!(error.code(), "unsupported");
        assert!(error.to_string().contains("/nfs/store is on NFS, which does not order appends"), "{error}");
        assert!(check(&*crate::io::disk::system(), Path::new("/")).is_ok());
    }
}
