//! Field I/O as its users see it: the program, and its record of a run.

use std::{collections::BTreeSet, fs, path::Path, process::Output};

use crate::common::{array, check_failed, lines, number, numbers, record, study};
use serde_json::Value;

const OPTIONS: &str = "field-io --json --size 4096";

fn field_io(folder: &Path, words: &str) -> Output {
    study(folder, &format!("{OPTIONS} {words}")).output().unwrap()
}

#[test]
fn every_pattern_in_every_layout_reads_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let all = "-n 2 --repetitions 2 --operations 5 --pattern a,b,c,0A,0B,1,2B --mode full,no-containers,no-index --contention low,high";
    let lines = lines(&field_io(folder.path(), all));
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
        let found = numbers(line, ["processes", "operations", "wrong"]);
        assert_eq!(found, [processes, operations, 0], "{line}");
        assert_eq!(number(&line["bytes"]), operations * 4096, "{line}");
        assert!(line["global_timing_bandwidth"].as_f64().unwrap() > 0.0, "{line}");
        let delay = |figure: &str| line["start_delay_s"][figure].as_f64().unwrap();
        assert_eq!(line["clock_uncertainty_s"], Value::Null, "one clock: {line}");
        assert!(0.0 < delay("max") && delay("min") <= delay("median") && delay("max") < 60.0, "{line}");
    }
    let record = record(folder.path());
    assert!(record["complete"] == true && array(&record["pools"]).is_empty());
    assert!(!folder.path().join("pool").exists());
    let events = fs::read_dir(folder.path().join("run/events")).unwrap().count();
    assert_eq!(events, lines.len(), "a file for each phase of each repetition");
}

#[test]
fn processes_on_nodes_of_a_launcher_work_together() {
    let folder = tempfile::tempdir().unwrap();
    for (launcher, expected) in
        [("no-such-launcher", "no-such-launcher"), ("false", "did not start: it ended (exit status: 1)")]
    {
        let words = format!("--hosts a,b --launcher {launcher} -n 2 --pattern a");
        check_failed(launcher, &field_io(folder.path(), &words), 1, &[expected]);
    }
    let folder = tempfile::tempdir().unwrap();
    let words = format!("{OPTIONS} --hosts a,b -n 2 --repetitions 1 --operations 3 --pattern a");
    let mut command = study(folder.path(), &words);
    let lines = lines(&command.args(["--launcher", "env NODE={host}"]).output().unwrap());
    assert_eq!(lines.len(), 2);
    for line in &lines {
        let found = numbers(line, ["nodes", "processes_per_node", "processes", "operations"]);
        assert_eq!(found, [2, 2, 4, 12], "{line}");
        let uncertain = line["clock_uncertainty_s"].as_f64().unwrap();
        assert!(
            0.0 < uncertain && uncertain < 1.0,
            "clocks are compared through pipes of one machine: {line}"
        );
    }
}

#[test]
fn existing_pools_and_invalid_options_are_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    let pool = folder.path().join("pool");
    fs::create_dir(&pool).unwrap();
    fs::write(pool.join("mine"), "precious").unwrap();
    for (words, code, expected) in [
        ("-n 2 --pattern a", 1, "pool"),
        ("-n 3 --pattern b", 2, "an even number of processes"),
        ("-n 0", 2, "at least 1"),
        ("-n 2 --class S1-S2", 2, "three object classes"),
        ("-n 2 --class S1-S2-Q9", 2, "object class"),
        ("-n 2 --mode half", 2, "possible values"),
        ("-n 2 --pool nowhere:x", 1, "nowhere"),
    ] {
        check_failed(words, &field_io(folder.path(), words), code, &[expected]);
        let _ = fs::remove_dir_all(folder.path().join("run"));
    }
    assert_eq!(fs::read_to_string(pool.join("mine")).unwrap(), "precious");
}
