//! The method as a command: its stages, and resuming a run.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::common::{array, bench, check_failed, number, pool, record, stdout};
use serde_json::Value;

/// A small run on two nodes of this machine, with its pool in `pool`.
fn command(folder: &Path, record: &str) -> Command {
    let mut command = bench(
        "method --hosts a,b --operations 2 --operations-max 4 --processes-max 2 --repetitions 2 --size 4096 \
         --sizes 4096,8192 --class SX-S2-S1,S1-S1-S1",
    );
    command.args(["--launcher", "env NODE={host}", "--pool", &pool(folder)]);
    command.arg(record).arg(folder.join("run"));
    command
}

/// The number of results of each stage.
fn stages(record: &Value) -> Vec<(String, usize)> {
    let of = |result: &Value| {
        let case = &record["cases"][number(&result["case"]) as usize];
        case["stage"].as_str().unwrap().to_owned()
    };
    let stages: Vec<String> = array(&record["results"]).iter().map(of).collect();
    stages.chunk_by(|one, next| one == next).map(|all| (all[0].clone(), all.len())).collect()
}

#[test]
fn all_stages_are_explained_and_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let shown = stdout(&command(folder.path(), "--out").output().unwrap());
    for title in [
        "1. How long a run must be",
        "2. How many processes",
        "3. How many client nodes",
        "4. What size",
        "5. How bandwidth grows",
    ] {
        assert!(shown.contains(title), "{shown}");
    }
    let record = record(folder.path());
    assert!(record["complete"] == true && array(&record["pools"]).is_empty());
    let stages = stages(&record);
    let names: Vec<&str> = stages.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["length", "processes", "ratio", "sweep", "scale"]);
    // Writes and reads of two repetitions of each point.
    for (stage, points) in [("processes", 2), ("ratio", 2), ("sweep", 4)] {
        assert!(stages.contains(&(stage.to_owned(), points * 4)), "{stages:?}");
    }
}

#[test]
fn a_resumed_run_does_not_measure_again_what_is_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), "--out").stdout(Stdio::piped()).spawn().unwrap();
    // Its first line follows the first stage.
    let mut first = [0; 8];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let before = record(folder.path());
    assert_eq!(before["complete"], false);
    let other = command(folder.path(), "--resume").args(["--servers", "2"]).output().unwrap();
    check_failed("--resume", &other, 2, &["begun without --servers and now with --servers 2"]);
    let kept = array(&before["results"]);
    stdout(&command(folder.path(), "--resume").output().unwrap());
    let after = record(folder.path());
    assert!(after["complete"] == true && array(&after["pools"]).is_empty());
    let of_length = |results: &[Value]| -> Vec<Value> {
        results
            .iter()
            .filter(|one| before["cases"][number(&one["case"]) as usize]["stage"] == "length")
            .cloned()
            .collect()
    };
    assert!(!of_length(kept).is_empty());
    assert_eq!(of_length(kept), of_length(array(&after["results"])));
    assert!(array(&after["results"]).len() > kept.len());
}

#[test]
fn a_record_of_another_workload_or_of_other_nodes_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    stdout(&command(folder.path(), "--out").output().unwrap());
    let refused = |what: &str| {
        let other = command(folder.path(), "--resume").args(["--hosts", "c"]).output().unwrap();
        check_failed("--resume", &other, 2, &[what]);
    };
    refused("a run of method on ");
    let path = folder.path().join("run/run.json");
    let of_method = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, of_method.replacen("\"method\"", "\"field-io\"", 1)).unwrap();
    refused("a run of field-io on ");
}
