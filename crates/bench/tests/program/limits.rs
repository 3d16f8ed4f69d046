//! What a study reports and leaves behind when a resource of the system runs out.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use isotach_needs::{Need, skip};

use crate::common::{array, bench, check_failed, clean, number, pool, program, record, stderr};

/// Field I/O with its record in `run`.
fn field_io(command: &mut Command, folder: &Path, pool: &str, words: &str) -> Output {
    command.args(["bench", "field-io", "--pattern", "a", "--repetitions", "1", "--pool", pool, "--out"]);
    command.arg(folder.join("run")).args(words.split_whitespace()).output().unwrap()
}

/// Checks that `bench clean` has nothing to remove.
fn check_clean(folder: &Path) {
    assert!(clean(&folder.join("run")).ends_with(": removed 0 pools\n"));
}

#[test]
fn more_processes_than_open_files_are_refused_with_the_limit_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 64 && exec \"$@\"", "sh"]).arg(program());
    let output = field_io(&mut limited, folder.path(), &pool(folder.path()), "-n 200 --operations 1");
    check_failed("-n 200", &output, 1, &["200 processes", "`ulimit -n 416`"]);
    assert_eq!(stderr(&output).matches("where 64 are allowed").count(), 1, "{output:?}");
    let record = record(folder.path());
    assert_eq!((&record["complete"], array(&record["problems"]).len()), (&false.into(), 1));
    assert!(!folder.path().join("pool").exists());
    check_clean(folder.path());
}

/// A small file system in memory, unmounted at the end. Only root can mount one.
pub(crate) struct SmallDisk<'f>(&'f Path);

impl<'f> SmallDisk<'f> {
    /// Mounts it in a new folder; none, with a note that the test is skipped, where that is not allowed.
    pub(crate) fn mount(folder: &'f Path) -> Option<Self> {
        fs::create_dir(folder).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(folder).output();
        let is_mounted = mounted.is_ok_and(|output| output.status.success());
        if !is_mounted {
            skip(Need::Mount, "cannot mount a small file system here");
        }
        is_mounted.then_some(Self(folder))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_file_system_ends_the_run_and_keeps_earlier_results() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    let Some(_disk) = SmallDisk::mount(&disk) else { return };
    let words = "-n 2 --operations 20 --size 65536,2097152";
    let output = field_io(&mut Command::new(program()), folder.path(), &pool(&disk), words);
    check_failed(words, &output, 1, &["the run is not complete", "no space left"]);
    let record = record(folder.path());
    assert_eq!(record["complete"], false);
    assert!(!array(&record["problems"]).is_empty());
    let results = array(&record["results"]);
    let of_first: Vec<&str> =
        results.iter().filter(|one| one["case"] == 0).map(|one| one["phase"].as_str().unwrap()).collect();
    assert_eq!(of_first, ["write", "read"], "there is space for the smaller fields");
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0, "nothing is left on it");
    check_clean(folder.path());
}

#[test]
fn a_comparison_records_failures_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    let Some(_disk) = SmallDisk::mount(&disk) else { return };
    let mut command = bench("peers --without-fdb --quick --repetitions=1 -n=1 --sizes=65536,64");
    let output =
        command.arg("--where").arg(&disk).arg("--out").arg(folder.path().join("run")).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    check_failed("peers", &output, 1, &["the run is not complete: Isotach, 1 x fields of 65536 bytes"]);
    assert!(shown.contains("NOT COMPLETE, problems: 1") && shown.contains("64 B"), "{shown}");
    let record = record(folder.path());
    let problem = &record["problems"][0];
    let case = &record["cases"][number(&problem["case"]) as usize];
    assert_eq!((&record["complete"], &case["size"]), (&false.into(), &65536.into()));
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0, "nothing is left on it");
}
