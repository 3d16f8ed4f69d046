//! Fixtures for the conformance suite: a pool in a folder of its own, on a tmpfs of its own if this process may mount one, and the means to
//! damage its files.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

mod stored;

use std::{
    env, fs,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering},
};

use isotach_engine_posix::Posix;
use isotach_object::{Engine, PoolUri};
use isotach_object_conformance::{FaultSet, Faults, Fixture};

/// The size of the tmpfs in MiB: more than any case needs, and small enough to fill.
const TMPFS_MIB: u64 = 400;

/// The size, with space for the case that stages a given amount.
fn size() -> String {
    let staged = env::var("ISOTACH_STAGED_MIB").map_or(0, |mib| mib.parse().unwrap());
    format!("size={}m", TMPFS_MIB + 2 * staged)
}

/// A folder, and the pools in it.
#[derive(Debug)]
pub(crate) struct PosixFixture {
    folder: tempfile::TempDir,
    mounted: bool,
    pools: AtomicU64,
    /// What follows the path in the URIs of pools.
    query: &'static str,
}

impl PosixFixture {
    pub(crate) fn new() -> Self {
        Self::with_query("")
    }

    /// Checkpoints every few frames, which causes runs, merges and replays onto them; and short segments.
    pub(crate) fn with_small_checkpoints() -> Self {
        Self::with_query("?checkpoint=1024&segment=300")
    }

    /// The shortest interval: nearly every frame is a checkpoint.
    pub(crate) fn with_constant_checkpoints() -> Self {
        Self::with_query("?checkpoint=256&segment=4096")
    }

    fn with_query(query: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Child processes create the fixture again, and only open pools of their parents.
        let child = env::var_os("ISOTACH_CONFORMANCE_CHILD").is_some();
        let mount = || {
            Command::new("mount").args(["-t", "tmpfs", "-o", &size(), "tmpfs"]).arg(folder.path()).output()
        };
        let mounted = !child && mount().is_ok_and(|output| output.status.success());
        Self { folder, mounted, pools: AtomicU64::new(0), query }
    }

    fn filler(&self) -> PathBuf {
        self.folder.path().join("filler")
    }
}

impl Drop for PosixFixture {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
        }
    }
}

impl Fixture for PosixFixture {
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(Posix)
    }

    fn fresh_pool(&self) -> PoolUri {
        let number = self.pools.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.path().join(format!("pool-{number}"));
        format!("posix:{}{}", path.display(), self.query).parse().unwrap()
    }

    fn faults(&self) -> Option<&dyn Faults> {
        Some(self)
    }
}

impl Faults for PosixFixture {
    fn set(&self) -> FaultSet {
        FaultSet { corruption: true, crash: true, out_of_space: self.mounted }
    }

    fn corrupt_stored(&self, uri: &PoolUri, needle: &[u8]) -> bool {
        let mut found = false;
        each_file(Path::new(uri.path()), &mut |path| {
            let bytes = fs::read(path).unwrap();
            for position in stored::positions(&bytes, needle) {
                let middle = position + needle.len() / 2;
                let file = fs::OpenOptions::new().write(true).open(path).unwrap();
                file.write_all_at(&[bytes[middle] ^ 1], middle as u64).unwrap();
                found = true;
            }
        });
        found
    }

    fn fill_up(&self, _uri: &PoolUri) {
        // tmpfs writes what fits and then refuses.
        let block = vec![0; 64 * 1024];
        let file = fs::File::create(self.filler()).unwrap();
        let mut at = 0;
        while let Ok(written) = file.write_at(&block, at) {
            at += written as u64;
            if written < block.len() {
                break;
            }
        }
    }

    fn make_room(&self, _uri: &PoolUri) {
        fs::remove_file(self.filler()).unwrap();
        // A process that is just starting may hold the file for a moment longer.
        while rustix::fs::statvfs(self.folder.path()).unwrap().f_bfree < 16 << 8 {
            std::thread::yield_now();
        }
    }
}

fn each_file(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { each_file(&path, visit) } else { visit(&path) }
    }
}
