//! What a study reports and leaves behind when it, a node or a process is killed.

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{array, bench, check_failed, clean, pool, record, stderr};

/// A workload in a folder, with its record in `run`.
fn study(folder: &Path, words: &str) -> Command {
    let mut command = bench(words);
    command.arg("--out").arg(folder.join("run"));
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Waits until a condition holds while a study runs.
fn wait_until(study: &mut Child, is_so: impl Fn() -> bool) {
    while !is_so() {
        assert!(study.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::yield_now();
    }
}

fn record_has(folder: &Path, text: &str) -> bool {
    fs::read_to_string(folder.join("run/run.json")).is_ok_and(|record| record.contains(text))
}

/// Kills a study, and waits until its nodes and processes, which have the same standard error, have ended.
fn kill(mut study: Child) {
    study.kill().unwrap();
    study.wait().unwrap();
    study.stderr.take().unwrap().read_to_string(&mut String::new()).unwrap();
}

/// A launcher that writes the process number of each node to the file `launch-HOST`.
fn launcher(folder: &Path) -> String {
    fs::write(folder.join("launch"), "echo $$ > $0-$1; shift; exec \"$@\"").unwrap();
    format!("sh {} {{host}}", folder.join("launch").display())
}

fn kill_node(folder: &Path, host: &str) {
    let number = fs::read_to_string(folder.join(format!("launch-{host}"))).unwrap();
    kill_process(Pid::from_raw(number.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn when_a_node_dies_the_results_of_the_others_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 4096 --hosts a,b -n 1 --repetitions 1000000 --operations 20 --pattern 1";
    let mut command = study(folder.path(), words);
    command.args(["--pool", &pool(folder.path()), "--launcher", &launcher(folder.path())]);
    let mut study = command.spawn().unwrap();
    wait_until(&mut study, || record_has(folder.path(), "\"phase\""));
    kill_node(folder.path(), "b");
    let output = study.wait_with_output().unwrap();
    check_failed(words, &output, 1, &["the run is not complete: node 1 "]);
    let record = record(folder.path());
    assert_eq!(record["complete"], false);
    assert!(!array(&record["results"]).is_empty() && !array(&record["problems"]).is_empty());
    assert!(!folder.path().join("pool").exists(), "the pool is removed all the same");
}

#[test]
fn the_processes_of_a_node_end_with_it_within_a_phase() {
    let folder = tempfile::tempdir().unwrap();
    // Writers wait for four minutes in their phase.
    let words = "operational --hosts a -n 2 --nsteps 2 --nlevels 1 --nparams 1 --size 2000 --step-window 120 --repetitions 1";
    let mut command = study(folder.path(), words);
    command.args(["--pool", &pool(folder.path()), "--launcher", &launcher(folder.path())]);
    let mut study = command.spawn().unwrap();
    let containers = folder.path().join("pool/containers");
    // One container exists before the phase; in the phase a writer creates that of its fields.
    wait_until(&mut study, || fs::read_dir(&containers).is_ok_and(|all| all.count() > 1));
    let began = Instant::now();
    kill_node(folder.path(), "a");
    // All processes have the same standard error, which ends with the last one.
    let output = study.wait_with_output().unwrap();
    check_failed(words, &output, 1, &["the run is not complete: node 0 "]);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn clean_removes_from_any_folder_what_a_killed_study_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 4096 -n 2 --repetitions 1000 --operations 50000 --pattern a --pool posix:pool?sync=no";
    let mut study = study(folder.path(), words).spawn().unwrap();
    wait_until(&mut study, || {
        record_has(folder.path(), "/pool?sync=no") && folder.path().join("pool/containers/main").exists()
    });
    kill(study);
    assert!(folder.path().join("pool").exists());
    // The path was relative, and this is another folder.
    let run = folder.path().join("run");
    assert!(clean(&run).ends_with(": removed 1 pool\n"));
    assert!(!folder.path().join("pool").exists());
    assert!(clean(&run).ends_with("run: removed 0 pools\n"));
    assert_eq!(record(folder.path())["complete"], false);
}

#[test]
fn a_study_killed_in_its_limit_has_its_plain_files_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 1048576 -n 2 --operations 100 --pattern 0A,a --pool posix:pool?sync=no";
    let mut study = study(folder.path(), words).spawn().unwrap();
    wait_until(&mut study, || folder.path().join("pool-plain/.isotach-bench").exists());
    kill(study);
    let cleaned = clean(&folder.path().join("run"));
    assert!(cleaned.ends_with(": removed 2 pools\n"), "{cleaned}");
    assert!(!folder.path().join("pool-plain").exists() && !folder.path().join("pool").exists());
}

#[test]
fn a_killed_study_has_its_own_folders_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 4096 -n 2 --repetitions 1000 --operations 1000 --pattern a";
    let mut study = study(folder.path(), words).spawn().unwrap();
    wait_until(&mut study, || record_has(folder.path(), "posix:"));
    kill(study);
    let record = record(folder.path());
    let left = array(&record["pools"]).iter().map(|location| location.as_str().unwrap());
    let folders: Vec<_> = left.filter_map(|place| place.strip_prefix("folder:")).collect();
    assert!(!folders.is_empty() && folders.iter().all(|folder| Path::new(folder).exists()), "{folders:?}");
    clean(&folder.path().join("run"));
    assert!(!folders.iter().any(|folder| Path::new(folder).exists()), "{folders:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "but for the record nothing is left");
}

#[test]
fn a_study_removes_its_own_folders() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 4096 -n 2 --repetitions 1 --operations 3 --pattern a";
    let output = study(folder.path(), words).output().unwrap();
    assert!(output.status.success() && !stderr(&output).contains("kept"), "{output:?}");
    assert_eq!(array(&record(folder.path())["pools"]).len(), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
