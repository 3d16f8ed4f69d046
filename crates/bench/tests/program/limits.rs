//! What a study says and leaves when the system has no more of something.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use isotach_needs::{Need, skip};

use crate::common::{pool, program, record, told};

/// Field I/O with its record in `run`.
fn field_io(command: &mut Command, folder: &Path, pool: &str, words: &str) -> Output {
    command.args(["bench", "field-io", "--pattern", "a", "--repetitions", "1", "--pool", pool, "--out"]);
    command.arg(folder.join("run")).args(words.split_whitespace()).output().unwrap()
}

/// That `bench clean` finds nothing more to remove.
fn is_clean(folder: &Path) {
    let cleaned = Command::new(program()).args(["bench", "clean"]).arg(folder.join("run")).output().unwrap();
    assert!(crate::common::printed(&cleaned).ends_with(": removed 0 pools\n"), "{cleaned:?}");
}

#[test]
fn more_processes_than_open_files_are_refused_once_with_the_limit_that_they_need() {
    let folder = tempfile::tempdir().unwrap();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 64 && exec \"$@\"", "sh"]).arg(program());
    let output = field_io(&mut limited, folder.path(), &pool(folder.path()), "-n 200 --operations 1");
    let told = told(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_eq!(told.matches("where 64 are allowed").count(), 1, "{told}");
    assert!(told.contains("200 processes") && told.contains("`ulimit -n 416`"), "{told}");
    let record = record(folder.path());
    assert_eq!((&record["complete"], record["problems"].as_array().unwrap().len()), (&false.into(), 1));
    assert!(!folder.path().join("pool").exists());
    is_clean(folder.path());
}

/// A small file system in memory, unmounted at the end. Only root can mount one.
pub(crate) struct SmallDisk<'f>(&'f Path);

impl<'f> SmallDisk<'f> {
    /// In a new folder, or nothing, which is then said.
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
fn a_store_without_room_ends_the_run_and_what_was_measured_before_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("disk");
    let Some(_disk) = SmallDisk::mount(&place) else { return };
    let words = "-n 2 --operations 20 --size 65536,2097152";
    let output = field_io(&mut Command::new(program()), folder.path(), &pool(&place), words);
    let told = told(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the run is not complete") && told.contains("no space left"), "{told}");
    let record = record(folder.path());
    assert_eq!(record["complete"], false);
    assert!(!record["problems"].as_array().unwrap().is_empty());
    let results = record["results"].as_array().unwrap();
    let of_first: Vec<&str> =
        results.iter().filter(|one| one["case"] == 0).map(|one| one["phase"].as_str().unwrap()).collect();
    assert_eq!(of_first, ["write", "read"], "the smaller fields had room");
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "nothing is left on it");
    is_clean(folder.path());
}

#[test]
fn what_a_comparison_cannot_do_is_on_record_and_the_rest_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("disk");
    let Some(_disk) = SmallDisk::mount(&place) else { return };
    let mut command = Command::new(program());
    command.args([
        "bench",
        "peers",
        "--without-fdb",
        "--quick",
        "--repetitions=1",
        "-n=1",
        "--sizes=65536,64",
    ]);
    let output =
        command.arg("--where").arg(&place).arg("--out").arg(folder.path().join("run")).output().unwrap();
    let (told, shown) = (told(&output), String::from_utf8_lossy(&output.stdout).into_owned());
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the run is not complete: Isotach, 1 x fields of 65536 bytes"), "{told}");
    assert!(shown.contains("NOT COMPLETE, problems: 1") && shown.contains("64 B"), "{shown}");
    let record = record(folder.path());
    let problem = &record["problems"][0];
    assert_eq!(
        (&record["complete"], &record["cases"][problem["case"].as_u64().unwrap() as usize]["size"]),
        (&false.into(), &65536.into())
    );
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "nothing is left on it");
}
