//! What a study says and leaves when it, a node or a process is killed.

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{pool, printed, program, record, told};

/// A workload in a folder, with its record in `run`, and its pool too unless there is another.
fn study(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(program());
    command.arg("bench").args(words.split_whitespace()).arg("--out").arg(folder.join("run"));
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Waits until something is so of a study that goes on.
fn wait_until(study: &mut Child, is_so: impl Fn() -> bool) {
    while !is_so() {
        assert!(study.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::yield_now();
    }
}

fn record_has(folder: &Path, text: &str) -> bool {
    fs::read_to_string(folder.join("run/run.json")).is_ok_and(|record| record.contains(text))
}

/// Kills a study. Its nodes and processes have the same standard error: at its end none of them is left, and nobody told
/// them to go.
fn kill(mut study: Child) {
    study.kill().unwrap();
    study.wait().unwrap();
    study.stderr.take().unwrap().read_to_string(&mut String::new()).unwrap();
}

fn clean(run: &Path) -> Output {
    Command::new(program()).args(["bench", "clean"]).arg(run).output().unwrap()
}

/// A launcher of nodes that leave the number of their process in the file `launch-HOST`.
fn launcher(folder: &Path) -> String {
    fs::write(folder.join("launch"), "echo $$ > $0-$1; shift; exec \"$@\"").unwrap();
    format!("sh {} {{host}}", folder.join("launch").display())
}

fn kill_node(folder: &Path, host: &str) {
    let number = fs::read_to_string(folder.join(format!("launch-{host}"))).unwrap();
    kill_process(Pid::from_raw(number.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn when_a_node_dies_what_the_others_did_is_kept_and_the_run_says_that_it_is_not_complete() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 4096 --hosts a,b -n 1 --repetitions 1000000 --operations 20 --pattern 1";
    let mut command = study(folder.path(), words);
    command.args(["--pool", &pool(folder.path()), "--launcher", &launcher(folder.path())]);
    let mut study = command.spawn().unwrap();
    wait_until(&mut study, || record_has(folder.path(), "\"phase\""));
    kill_node(folder.path(), "b");
    let output = study.wait_with_output().unwrap();
    let told = told(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("the run is not complete: node 1 "), "{told}");
    let record = record(folder.path());
    assert_eq!(record["complete"], false);
    let count = |what: &str| record[what].as_array().unwrap().len();
    assert!(count("results") > 0 && count("problems") > 0);
    assert!(!folder.path().join("pool").exists(), "the pool is removed all the same");
}

#[test]
fn processes_of_a_node_that_dies_end_with_it_in_the_midst_of_a_phase() {
    let folder = tempfile::tempdir().unwrap();
    // Writers wait for four minutes in their phase.
    let words = "operational --hosts a -n 2 --nsteps 2 --nlevels 1 --nparams 1 --size 2000 --step-window 120 --repetitions 1";
    let mut command = study(folder.path(), words);
    command.args(["--pool", &pool(folder.path()), "--launcher", &launcher(folder.path())]);
    let mut study = command.spawn().unwrap();
    let containers = folder.path().join("pool/containers");
    // One is there before the phase; in the phase a writer makes that of its fields.
    wait_until(&mut study, || fs::read_dir(&containers).is_ok_and(|all| all.count() > 1));
    let began = Instant::now();
    kill_node(folder.path(), "a");
    // All of them have the same standard error, which ends with the last one.
    let output = study.wait_with_output().unwrap();
    assert!(told(&output).contains("the run is not complete: node 0 "), "{output:?}");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn what_a_killed_study_leaves_is_found_and_removed_by_clean_from_any_folder() {
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
    assert!(printed(&clean(&run)).ends_with(": removed 1 pool\n"));
    assert!(!folder.path().join("pool").exists());
    assert!(printed(&clean(&run)).ends_with("run: removed 0 pools\n"));
    assert_eq!(record(folder.path())["complete"], false);
}

#[test]
fn a_study_that_is_killed_in_its_limit_leaves_no_process_and_its_plain_files_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 1048576 -n 2 --operations 100 --pattern 0A,a --pool posix:pool?sync=no";
    let mut study = study(folder.path(), words).spawn().unwrap();
    wait_until(&mut study, || folder.path().join("pool-plain/.isotach-bench").exists());
    kill(study);
    let cleaned = printed(&clean(&folder.path().join("run")));
    assert!(cleaned.ends_with(": removed 2 pools\n"), "{cleaned}");
    assert!(!folder.path().join("pool-plain").exists() && !folder.path().join("pool").exists());
}

#[test]
fn a_study_that_is_killed_in_folders_of_its_own_leaves_them_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 4096 -n 2 --repetitions 1000 --operations 1000 --pattern a";
    let mut study = study(folder.path(), words).spawn().unwrap();
    wait_until(&mut study, || record_has(folder.path(), "posix:"));
    kill(study);
    let record = record(folder.path());
    let left = record["pools"].as_array().unwrap().iter().map(|place| place.as_str().unwrap());
    let folders: Vec<_> = left.filter_map(|place| place.strip_prefix("folder:")).collect();
    assert!(!folders.is_empty() && folders.iter().all(|folder| Path::new(folder).exists()), "{folders:?}");
    printed(&clean(&folder.path().join("run")));
    assert!(!folders.iter().any(|folder| Path::new(folder).exists()), "{folders:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "but for the record nothing is left");
}

#[test]
fn a_study_in_folders_of_its_own_removes_them() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 4096 -n 2 --repetitions 1 --operations 3 --pattern a";
    let output = study(folder.path(), words).output().unwrap();
    assert!(output.status.success() && !told(&output).contains("kept"), "{output:?}");
    assert_eq!(record(folder.path())["pools"].as_array().unwrap().len(), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
