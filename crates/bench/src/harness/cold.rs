//! Cold files: written to the device and dropped from the page cache, so that the next read is one of the device.
//!
//! What must stay true: files that are called cold have no byte in the page cache. The kernel may keep what is asked to go, so this is
//! checked, by `fincore` of util-linux, which asks the kernel.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::{Advice, fadvise};

use crate::{Error, Result};

/// How often files are dropped before they count as kept.
const ATTEMPTS: u32 = 5;
/// What counts the bytes of files in the page cache.
const COUNTER: &str = "fincore";
/// The number of files in one call of it.
const FILES_PER_CALL: usize = 500;

/// Drops all files below a folder from the page cache.
pub(crate) fn make_cold(folder: &Path) -> Result<()> {
    let mut files = Vec::new();
    find_files(folder, &mut files)?;
    let mut cached = 0;
    for _ in 0..ATTEMPTS {
        files.iter().try_for_each(|file| drop_from_cache(file))?;
        cached = cached_bytes(&files)?;
        if cached == 0 {
            return Ok(());
        }
    }
    let what = format!("{cached} bytes of the files in {} stay in the page cache", folder.display());
    Err(Error::invalid(what, "files that can be evicted from the page cache, and no other readers"))
}

fn find_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let entry = entry.map_err(Error::io("list", folder))?;
        let kind = entry.file_type().map_err(Error::io("stat", &entry.path()))?;
        match () {
            () if kind.is_dir() => find_files(&entry.path(), files)?,
            () if kind.is_file() => files.push(entry.path()),
            () => {}
        }
    }
    Ok(())
}

/// What is not on the device yet cannot be dropped.
fn drop_from_cache(path: &Path) -> Result<()> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    file.sync_all().map_err(Error::io("sync", path))?;
    fadvise(&file, 0, None, Advice::DontNeed).map_err(|error| Error::io("drop", path)(error.into()))
}

/// The bytes of these files that are in the page cache.
fn cached_bytes(files: &[PathBuf]) -> Result<u64> {
    let mut sum = 0;
    for some in files.chunks(FILES_PER_CALL) {
        let mut command = Command::new(COUNTER);
        command.args(["--bytes", "--raw", "--noheadings", "--output", "RES"]).args(some);
        let output = command.output().map_err(Error::pipe(format!("start {COUNTER} of util-linux")))?;
        let refused = || {
            let what = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Error::invalid(format!("{COUNTER}: {what}"), "the number of bytes in the page cache")
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let counts: Option<Vec<u64>> = text.lines().map(|line| line.trim().parse().ok()).collect();
        let counts = counts.filter(|counts| output.status.success() && counts.len() == some.len());
        sum += counts.ok_or_else(refused)?.iter().sum::<u64>();
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use isotach_needs::{Need, skip};

    use super::*;
    use crate::harness::folders::is_memory;

    #[test]
    fn files_on_a_device_are_dropped_and_files_in_memory_are_refused() {
        let program = std::env::current_exe().unwrap();
        let parents = [Path::new("/dev/shm"), program.parent().unwrap()];
        for parent in parents.into_iter().filter(|parent| parent.is_dir()) {
            let folder = tempfile::tempdir_in(parent).unwrap();
            fs::create_dir(folder.path().join("below")).unwrap();
            let file = folder.path().join("below/file");
            fs::write(&file, vec![1; 100_000]).unwrap();
            match cached_bytes(&[file]) {
                Err(error) => return skip(Need::ColdFiles, &error.to_string()),
                Ok(bytes) => assert!(bytes >= 100_000, "just written"),
            }
            match (is_memory(folder.path()), make_cold(folder.path())) {
                (true, outcome) => assert!(outcome.unwrap_err().to_string().contains("stay in")),
                (false, Err(error)) => return skip(Need::ColdFiles, &error.to_string()),
                (false, Ok(())) => {}
            }
        }
    }
}
