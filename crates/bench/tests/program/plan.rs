//! The method as a command: its stages, and going on after an interruption.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::common::{pool, printed, program, record, told};
use serde_json::Value;

/// A small plan on two nodes of this machine, of which the pool is `pool` in a folder.
fn command(folder: &Path, record: &str) -> Command {
    let mut command = Command::new(program());
    let words = "bench plan --hosts a,b --operations 2 --operations-max 4 --processes-max 2 --repetitions 2 \
                 --size 4096 --sizes 4096,8192 --class SX-S2-S1,S1-S1-S1";
    command.args(words.split_whitespace()).args(["--launcher", "env NODE={host}"]);
    command.arg("--pool").arg(pool(folder));
    command.arg(record).arg(folder.join("run"));
    command
}

/// How many results there are of each stage.
fn stages(record: &Value) -> Vec<(String, usize)> {
    let of = |result: &Value| {
        let case = &record["cases"][result["case"].as_u64().unwrap() as usize];
        case["stage"].as_str().unwrap().to_owned()
    };
    let mut found: Vec<(String, usize)> = Vec::new();
    for stage in record["results"].as_array().unwrap().iter().map(of) {
        match found.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, count)) => *count += 1,
            None => found.push((stage, 1)),
        }
    }
    found
}

#[test]
fn all_stages_are_done_and_explained_and_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let told = printed(&command(folder.path(), "--out").output().unwrap());
    for said in [
        "1. How long a run must be",
        "2. How many processes",
        "3. How many client nodes",
        "4. What size",
        "5. How bandwidth grows",
    ] {
        assert!(told.contains(said), "{told}");
    }
    let record = record(folder.path());
    assert_eq!((&record["complete"], &record["pools"]), (&true.into(), &Value::Array(Vec::new())));
    let stages = stages(&record);
    let names: Vec<&str> = stages.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["length", "processes", "ratio", "sweep", "scale"]);
    // Writes and reads of two repetitions of each point.
    for (stage, points) in [("processes", 2), ("ratio", 2), ("sweep", 4)] {
        assert!(stages.contains(&(stage.to_owned(), points * 4)), "{stages:?}");
    }
}

#[test]
fn a_plan_that_was_killed_goes_on_without_measuring_again_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), "--out").stdout(Stdio::piped()).spawn().unwrap();
    // Its first line comes when the first stage is done.
    let mut first = [0; 8];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let before = record(folder.path());
    assert_eq!(before["complete"], false);
    let other = command(folder.path(), "--resume").args(["--servers", "2"]).output().unwrap();
    let said = told(&other);
    assert!(
        said.contains("begun without --servers and now with --servers 2") && other.status.code() == Some(2),
        "{said}"
    );
    let kept = before["results"].as_array().unwrap();
    printed(&command(folder.path(), "--resume").output().unwrap());
    let after = record(folder.path());
    assert_eq!((&after["complete"], &after["pools"]), (&true.into(), &Value::Array(Vec::new())));
    let of_length = |results: &[Value]| -> Vec<Value> {
        results
            .iter()
            .filter(|one| before["cases"][one["case"].as_u64().unwrap() as usize]["stage"] == "length")
            .cloned()
            .collect()
    };
    assert!(!of_length(kept).is_empty());
    assert_eq!(of_length(kept), of_length(after["results"].as_array().unwrap()));
    assert!(after["results"].as_array().unwrap().len() > kept.len());
}

#[test]
fn a_record_of_another_workload_or_of_other_nodes_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    printed(&command(folder.path(), "--out").output().unwrap());
    let resume = || {
        let mut resume = command(folder.path(), "--resume");
        resume.args(["--hosts", "c"]);
        resume
    };
    let refused = |what: &str| {
        let other = resume().output().unwrap();
        let said = told(&other);
        assert!(said.contains(what) && other.status.code() == Some(2), "{said}");
    };
    refused("a run of plan on ");
    let path = folder.path().join("run/run.json");
    let of_plan = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, of_plan.replacen("\"plan\"", "\"field-io\"", 1)).unwrap();
    refused("a run of field-io on ");
}
