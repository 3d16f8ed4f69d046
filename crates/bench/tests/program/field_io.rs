//! Studies as their users see them: the program, and its record of a run.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Output},
};

use crate::common::{lines, number, pool, program, record, told};
use serde_json::Value;

/// A study in a folder: its pool is `pool`, its record `run`.
fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(program());
    command.args(["bench", "field-io", "--json", "--size", "4096", "--out"]).arg(folder.join("run"));
    command.arg("--pool").arg(pool(folder));
    command.args(words.split_whitespace());
    command
}

fn study(folder: &Path, words: &str) -> Output {
    command(folder, words).output().unwrap()
}

#[test]
fn every_pattern_in_every_layout_moves_what_it_says_and_reads_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let all = "-n 2 --repetitions 2 --operations 5 --pattern a,b,c,0A,0B,1,2B --mode full,no-containers,no-index --contention low,high";
    let lines = lines(&study(folder.path(), all));
    let of = |line: &Value| {
        let word = |name: &str| line[name].as_str().unwrap().to_owned();
        (word("mode"), word("pattern"), word("contention"), word("phase"), number(&line["repetition"]))
    };
    let distinct: BTreeSet<_> = lines.iter().map(of).collect();
    assert_eq!(distinct.len(), lines.len());
    // For three layouts and two repetitions: with both contentions A and 1 have two phases, and B, C and 2B three; 0A and
    // 0B have one, with the contention that they are defined with.
    assert_eq!(lines.len(), 3 * 2 * (2 * (2 * 2 + 3 * 3) + 2));
    for line in &lines {
        let (_, pattern, _, phase, _) = of(line);
        let (processes, operations) = match (&*pattern, &*phase) {
            ("a" | "1", _) => (2, 10),
            ("0A" | "0B", _) => (2, 2),
            ("b" | "2B", "setup") => (1, 1),
            _ => (1, 5),
        };
        let found = ["processes", "operations", "wrong"].map(|name| number(&line[name]));
        assert_eq!(found, [processes, operations, 0], "{line}");
        assert_eq!(number(&line["bytes"]), operations * 4096, "{line}");
        assert!(line["global_timing_bandwidth"].as_f64().unwrap() > 0.0, "{line}");
        let delay = |figure: &str| line["start_delay_s"][figure].as_f64().unwrap();
        assert_eq!(line["clock_uncertainty_s"], Value::Null, "one clock: {line}");
        assert!(0.0 < delay("max") && delay("min") <= delay("median") && delay("max") < 60.0, "{line}");
    }
    let record = record(folder.path());
    assert_eq!((&record["complete"], &record["pools"]), (&true.into(), &Value::Array(Vec::new())));
    assert!(!folder.path().join("pool").exists());
    let events = fs::read_dir(folder.path().join("run/events")).unwrap().count();
    assert_eq!(events, lines.len(), "a file for each phase of each repetition");
}

#[test]
fn nodes_are_started_by_a_launcher_and_all_their_processes_work_together() {
    let folder = tempfile::tempdir().unwrap();
    let output = study(
        folder.path(),
        "--hosts a,b --launcher no-such-launcher -n 2 --repetitions 1 --operations 3 --pattern a",
    );
    assert!(!output.status.success(), "there is no such program");
    let output = study(folder.path(), "--hosts a,b --launcher false -n 2 --pattern a");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(told(&output).contains("did not start: it ended (exit status: 1)"), "{output:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "--hosts a,b -n 2 --repetitions 1 --operations 3 --pattern a");
    let lines = lines(&command.args(["--launcher", "env NODE={host}"]).output().unwrap());
    assert_eq!(lines.len(), 2);
    for line in &lines {
        let found =
            ["nodes", "processes_per_node", "processes", "operations"].map(|name| number(&line[name]));
        assert_eq!(found, [2, 2, 4, 12], "{line}");
        let uncertain = line["clock_uncertainty_s"].as_f64().unwrap();
        assert!(
            0.0 < uncertain && uncertain < 1.0,
            "clocks are compared through pipes of one machine: {line}"
        );
    }
}

#[test]
fn a_pool_that_is_there_and_numbers_that_make_no_sense_are_refused_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let pool = folder.path().join("pool");
    fs::create_dir(&pool).unwrap();
    fs::write(pool.join("mine"), "precious").unwrap();
    let refused = |words: &str, expected: &str| {
        let output = study(folder.path(), words);
        let told = told(&output);
        assert!(!output.status.success() && told.contains(expected), "{words}: {told}");
        let _ = fs::remove_dir_all(folder.path().join("run"));
    };
    refused("-n 2 --pattern a", "pool");
    refused("-n 3 --pattern b", "an even number of processes");
    refused("-n 0", "at least 1");
    refused("-n 2 --class S1-S2", "three object classes");
    refused("-n 2 --class S1-S2-Q9", "object class");
    refused("-n 2 --mode half", "possible values");
    refused("-n 2 --pool nowhere:x", "nowhere");
    assert_eq!(fs::read_to_string(pool.join("mine")).unwrap(), "precious");
}
