//! The operational pattern as its users see it: readers that follow writers, and refused options.

use std::{collections::BTreeSet, fs::File, path::Path, process::Output};

use crate::common::{array, check_failed, lines, numbers, record, study};
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::RowAccessor,
};

fn operational(folder: &Path, words: &str) -> Output {
    study(folder, &format!("operational --json {words}")).output().unwrap()
}

/// The first I/O start, the last I/O end, and the processes of the events of a phase.
fn span(folder: &Path, phase: &str) -> (i64, i64, BTreeSet<i32>) {
    let path = folder.join(format!("run/events/0-0-{phase}.parquet"));
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let column = |name: &str| rows[0].get_column_iter().position(|(known, _)| known == name).unwrap();
    let process = column("process");
    let processes = rows.iter().map(|row| row.get_int(process).unwrap()).collect();
    let time = |name: &str| -> Vec<i64> {
        let at = column(name);
        rows.iter().map(|row| row.get_long(at).unwrap()).collect()
    };
    (*time("io_start").iter().min().unwrap(), *time("io_end").iter().max().unwrap(), processes)
}

#[test]
fn half_of_the_processes_read_every_field_while_the_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let words = "-n 4 --nsteps 6 --nensembles 2 --nlevels 3 --nparams 4 --size 3000 --repetitions 1 \
                 --step-window 0.1 --full-check";
    let lines = lines(&operational(folder.path(), words));
    assert_eq!(lines.len(), 2);
    for line in &lines {
        let found = numbers(line, ["processes", "operations", "bytes", "wrong"]);
        let fields = 2 * 2 * 6 * 12;
        assert_eq!(found, [2, fields, fields * 3000, 0], "{line}");
    }
    let of = |phase: &str| lines.iter().find(|line| line["phase"] == phase).unwrap();
    let freshness = &of("read")["freshness"];
    assert_eq!(freshness["steps"], 2 * 2 * 6, "each step of each member was seen once: {freshness}");
    let delay = |name: &str| freshness["delay_s"][name].as_f64().unwrap();
    assert!(
        0.0 < delay("max") && delay("mean") <= delay("p95") && delay("p95") <= delay("max"),
        "{freshness}"
    );
    assert!(freshness["is_behind"].is_boolean() && of("write")["freshness"].is_null());
    // There is a step every tenth of a second, so readers have to wait.
    assert!(of("read")["profile"]["wait"]["count"].as_f64().unwrap() > 0.0, "{}", of("read"));
    let (write_start, write_end, writers) = span(folder.path(), "write");
    let (read_start, _, readers) = span(folder.path(), "read");
    assert!(write_start < read_start && read_start < write_end, "they overlap");
    assert_eq!((writers, readers), (BTreeSet::from([0, 1]), BTreeSet::from([2, 3])));
    assert!(!folder.path().join("pool").exists());
}

#[test]
fn readers_that_wait_too_long_fail_the_run_and_the_writes_stay_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let words = "-n 2 --nsteps 2 --nlevels 1 --nparams 2 --size 2000 --repetitions 1 --step-window 2 \
                 --poll-period 0 --poll-max-attempts 1";
    let expected = ["the run is not complete", "is not available after 1 polls"];
    check_failed(words, &operational(folder.path(), words), 1, &expected);
    let record = record(folder.path());
    assert_eq!(record["complete"], false);
    assert!(array(&record["results"]).iter().any(|result| result["phase"] == "write"));
    assert!(!folder.path().join("pool").exists(), "the pool is removed all the same");
}

#[test]
fn odd_numbers_of_processes_and_readers_without_a_step_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (words, expected) in [
        ("-n 3", "an even number of processes"),
        ("-n 8 --nsteps 3", "4 readers and 3 steps"),
        ("--nsteps x", "invalid value"),
        ("--poll-max-attempts 0", "0 is not in"),
    ] {
        check_failed(words, &operational(folder.path(), words), 2, &[expected]);
        assert!(!folder.path().join("run").exists(), "{words}");
    }
}
