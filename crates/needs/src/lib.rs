//! What tests need that not every machine or engine has, and how a test is skipped where it is missing.
//!
//! Cargo's test harness knows no test that is skipped while it runs: one that returns early has passed. So a skipped test says so
//! past the harness, and leaves a line in the file that `ISOTACH_SKIPS` names, which `scripts/test-summary` counts. A machine on
//! which a test must run names its needs in `ISOTACH_REQUIRE`: there the test fails.

#![expect(clippy::expect_used, reason = "test code: a failure here is a failed test")]

use std::{
    env,
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use rustix::fs::{Access, access, statvfs};

/// The number that a variable of the environment says, such as `ISOTACH_SEQUENCES`.
///
/// # Panics
/// If it says anything else.
#[must_use]
pub fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

/// The seed of a random test: `ISOTACH_SEED`, or another one each time. A test prints it when it fails.
///
/// # Panics
/// If `ISOTACH_SEED` is no number.
#[must_use]
pub fn seed() -> u64 {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64);
    number("ISOTACH_SEED").unwrap_or_else(clock)
}

/// The folder for files that a test writes often, without being about the device: `/dev/shm`, or the folder for temporary files if less
/// than 1 GiB is free there. A container often has 64 MiB.
#[must_use]
pub fn folder_off_disk() -> PathBuf {
    folder_with_free(1 << 30)
}

fn folder_with_free(bytes: u64) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let has_space = statvfs(memory).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= bytes);
    if has_space && access(memory, Access::WRITE_OK).is_ok() { memory.to_owned() } else { env::temp_dir() }
}

/// What a test needs of the machine or the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The library of ecCodes.
    Eccodes,
    /// A Ceph cluster.
    Ceph,
    /// A launcher and a library of MPI.
    Mpi,
    /// To be root, and so to act for other users.
    Root,
    /// The permission to mount file systems.
    Mount,
    /// What the engine that is tested declares as a capability.
    Capability,
    /// A C compiler.
    Compiler,
    /// A C compiler with sanitizers of addresses and undefined behaviour.
    Sanitizers,
    /// The Python packages of the tests, FDB among them.
    PythonPackages,
    /// Temporary files without a name (`O_TMPFILE`).
    UnnamedFiles,
    /// Files that can be dropped from the page cache, and `fincore`, which tells whether they are.
    ColdFiles,
    /// Extended attributes of users on temporary files.
    UserAttributes,
    /// More sequences of operations than everyday runs make.
    ManySequences,
}

impl Need {
    /// Its word in `ISOTACH_REQUIRE`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Eccodes => "eccodes",
            Self::Ceph => "ceph",
            Self::Mpi => "mpi",
            Self::Root => "root",
            Self::Mount => "mount",
            Self::Capability => "capability",
            Self::Compiler => "compiler",
            Self::Sanitizers => "sanitizers",
            Self::PythonPackages => "python",
            Self::UnnamedFiles => "unnamed-files",
            Self::ColdFiles => "cold-files",
            Self::UserAttributes => "user-attributes",
            Self::ManySequences => "many-sequences",
        }
    }

    fn is_in(self, required: &str) -> bool {
        required.split(',').any(|word| word.trim() == self.word())
    }
}

/// Reports the running test, or a part of it, as skipped because `need` is missing, with the reason.
///
/// # Panics
/// If `ISOTACH_REQUIRE` has the need among its words, which commas part; or if it cannot say so.
#[track_caller]
pub fn skip(need: Need, why: &str) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    let required = env::var("ISOTACH_REQUIRE").unwrap_or_default();
    assert!(!need.is_in(&required), "{test} must run, since ISOTACH_REQUIRE names {}: {why}", need.word());
    say(&format!("{test}: skipped: {why}\n"));
    if let Some(file) = env::var_os("ISOTACH_SKIPS").filter(|file| !file.is_empty()) {
        let line = format!("rust\t{}\t{test}\t{why}\n", need.word());
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .expect("the file that ISOTACH_SKIPS names");
        // One write: the tests of several processes leave lines there.
        file.write_all(line.as_bytes()).expect("a line in the file that ISOTACH_SKIPS names");
    }
}

/// Written past the test harness, which would show it only if the test failed.
fn say(line: &str) {
    std::io::stderr().write_all(line.as_bytes()).expect("standard error");
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use super::*;

    /// Set for a process whose one test is to be skipped.
    const INNER: &str = "ISOTACH_NEEDS_INNER";
    const NAME: &str = "tests::a_skipped_test_is_listed_and_fails_where_its_need_is_required";

    fn run(required: &str, list: &Path) -> Output {
        let mut command = Command::new(env::current_exe().expect("this program"));
        command
            .args(["--exact", NAME])
            .env(INNER, "1")
            .env("ISOTACH_REQUIRE", required)
            .env("ISOTACH_SKIPS", list);
        command.output().expect("this program runs")
    }

    #[test]
    fn a_memory_without_enough_space_is_not_used() {
        assert_eq!(folder_with_free(u64::MAX), env::temp_dir());
    }

    #[test]
    fn a_skipped_test_is_listed_and_fails_where_its_need_is_required() {
        if env::var_os(INNER).is_some() {
            return skip(Need::Mount, "nothing can be mounted");
        }
        let list = env::temp_dir().join(format!("isotach-needs-{}", std::process::id()));
        let skipped = run("eccodes,root", &list);
        let listed = std::fs::read_to_string(&list).unwrap_or_default();
        let required = run("root, mount", &list);
        let listed_later = std::fs::read_to_string(&list).unwrap_or_default();
        let _ = std::fs::remove_file(&list);
        assert!(skipped.status.success());
        assert_eq!(listed, format!("rust\tmount\t{NAME}\tnothing can be mounted\n"));
        assert!(String::from_utf8_lossy(&skipped.stderr).contains("skipped: nothing can be mounted"));
        assert!(!required.status.success());
        assert!(String::from_utf8_lossy(&required.stdout).contains("ISOTACH_REQUIRE names mount"));
        assert_eq!(listed_later, listed, "one that failed was not skipped");
    }
}
