//! IOR as its users see it: the program, its output, and what it leaves behind.

use std::{fs, os::unix::fs::FileExt, path::Path, process::Output};

use crate::common::{array, check_failed, clean, lines, number, numbers, stderr, stdout, study};
use serde_json::Value;

/// Runs IOR in a folder, with its pool in `pool` and a new record in `run`.
fn ior(folder: &Path, words: &str) -> Output {
    let _ = fs::remove_dir_all(folder.join("run"));
    study(folder, &format!("ior {words}")).output().unwrap()
}

fn is_empty_but_for_the_run(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().all(|entry| entry.unwrap().file_name() == "run")
}

#[test]
fn both_apis_read_what_was_written_with_all_combinations_of_options() {
    for options in ["", "-F", "-C", "-F -C", "-F -C -m", "-E", "-F -E -e", "-k"] {
        let folder = tempfile::tempdir().unwrap();
        let sizes = "-a object,posix -b 12k -t 4k -s 3 -i 2 -n 3 -w -W -R --json";
        let lines = lines(&ior(folder.path(), &format!("{sizes} {options}")));
        let phases: Vec<_> = lines.iter().map(|line| (&line["api"], &line["phase"])).collect();
        assert_eq!(phases.len(), 6, "{options}: {phases:?}");
        for line in &lines {
            // Three processes, two iterations of three segments of three transfers.
            let found = numbers(line, ["processes", "operations", "bytes", "wrong"]);
            assert_eq!(found, [3, 54, 54 * 4096, 0], "{options}: {line}");
            let iterations = array(&line["iterations"]);
            assert_eq!(iterations.len(), 2, "{options}: {line}");
            for (at, iteration) in iterations.iter().enumerate() {
                let found = numbers(iteration, ["iteration", "operations", "bytes"]);
                assert_eq!(found, [at as u64, 27, 27 * 4096], "{options}: {line}");
            }
        }
        assert_eq!(is_empty_but_for_the_run(folder.path()), options != "-k", "{options}");
    }
}

#[test]
fn the_processes_of_all_nodes_begin_each_iteration_together() {
    let folder = tempfile::tempdir().unwrap();
    let words = "ior --preset repetitions -t 4k -i 5 -R -w -n 2 --hosts a,b --json";
    let mut command = study(folder.path(), words);
    command.args(["--launcher", "env NODE={host}"]);
    let lines = lines(&command.output().unwrap());
    assert_eq!(lines.len(), 2);
    for line in &lines {
        assert_eq!(numbers(line, ["processes", "operations", "wrong"]), [4, 20, 0], "{line}");
        let iterations = array(&line["iterations"]);
        assert_eq!(iterations.len(), 5);
        // The mean over the iterations, each with its own time.
        let seconds = |one: &Value| one["total_s"].as_f64().unwrap();
        let bandwidths = iterations.iter().map(|one| number(&one["bytes"]) as f64 / seconds(one));
        let mean = bandwidths.sum::<f64>() / 5.0;
        let found = line["synchronous_bandwidth"].as_f64().unwrap();
        assert!((found / mean - 1.0).abs() < 1e-9, "{found} {mean}");
    }
}

#[test]
fn kept_pools_are_read_by_other_runs_and_removed_by_clean() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = "-a object,posix -b 8k -t 4k -n 2 -F";
    let written = ior(folder.path(), &format!("{sizes} -w -k"));
    assert!(
        stdout(&written).contains("Max Write:") && stderr(&written).contains("kept posix:"),
        "{written:?}"
    );
    assert!(stderr(&written).contains("pool-files; `isotach bench clean "), "{written:?}");
    fs::rename(folder.path().join("run"), folder.path().join("first")).unwrap();
    for options in ["-r", "-R -C", "-W", "-R -i 2 --repetitions 2"] {
        stdout(&ior(folder.path(), &format!("{sizes} {options}")));
    }
    for (words, code, expected) in [
        (&*format!("{sizes} -w"), 2, "exists"),
        ("-a posix -b 12k -t 4k -n 2 -F -r", 1, "with the same -b, -t and -s"),
        ("-a object -b 8k -t 4k -n 2 -r", 1, "what was written before"),
    ] {
        check_failed(words, &ior(folder.path(), words), code, &[expected]);
    }
    let first = folder.path().join("first");
    assert!(clean(&first).ends_with(": removed 2 pools\n"));
    fs::remove_dir_all(&first).unwrap();
    assert!(is_empty_but_for_the_run(folder.path()));
    check_failed("-r", &ior(folder.path(), &format!("{sizes} -r")), 2, &["does not exist"]);
}

#[test]
fn wrong_bytes_fail_the_run_only_if_they_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = "-a posix -b 8k -t 4k -s 2 -n 2 -F";
    stdout(&ior(folder.path(), &format!("{sizes} -w -k")));
    let file = fs::OpenOptions::new().write(true).open(folder.path().join("pool-files/data-0.00000001"));
    let file = file.unwrap();
    for at in [5000, 5001, 9000] {
        file.write_all_at(b"!", at).unwrap();
    }
    for check in ["-R", "-W", "-r -R -C"] {
        let output = ior(folder.path(), &format!("{sizes} {check}"));
        check_failed(check, &output, 1, &["wrong data: 2 operations"]);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains(": 2 of 8 transfers were wrong"), "{check}: {shown}");
    }
    stdout(&ior(folder.path(), &format!("{sizes} -r")));
}

#[test]
fn the_table_has_the_columns_of_ior_and_a_summary_of_both_apis() {
    let folder = tempfile::tempdir().unwrap();
    let shown = stdout(&ior(folder.path(), "-a object,posix -b 8k -t 4k -i 3 -n 2 -F -C -e"));
    let words: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
    let header =
        "access bw(MiB/s) IOPS Latency(s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) total(s) iter";
    let header: Vec<&str> = header.split(' ').collect();
    assert_eq!(words.iter().filter(|line| **line == header).count(), 2, "{shown}");
    let rows: Vec<_> = words.iter().filter(|line| line.len() == 11 && line[4] == "8.00").collect();
    let order: Vec<_> = rows.iter().map(|row| (row[0], row[10])).collect();
    let once = [("write", "0"), ("read", "0"), ("write", "1"), ("read", "1"), ("write", "2"), ("read", "2")];
    assert_eq!(order, [once, once].concat(), "{shown}");
    for row in rows {
        assert!(row[1..10].iter().all(|cell| cell.parse::<f64>().unwrap() >= 0.0), "{row:?}");
    }
    let ends = |start: &[&str]| words.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((ends(&["Max", "Write:"]), ends(&["Max", "Read:"])), (2, 2), "{shown}");
    for [operation, api, class] in
        [["write", "object", "S1"], ["read", "object", "S1"], ["write", "posix", "-"], ["read", "posix", "-"]]
    {
        assert_eq!(ends(&[operation, api, class]), 1, "{shown}");
    }
}

#[test]
fn csv_has_a_line_for_each_iteration_with_all_columns_of_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let shown = stdout(&ior(folder.path(), "-a object,posix -b 8k -t 4k,8k -i 2 -n 1 -F --csv"));
    let lines: Vec<Vec<&str>> = shown.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + 2 * 2 * 2 * 2, "{shown}");
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{shown}");
    assert!(lines[0].starts_with(&["files", "api"]) && lines[0].ends_with(&["total(s)", "iter"]));
}

#[test]
fn invalid_options_are_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    for (words, expected) in [
        ("-b 1m -t 300k", "a -b that is a multiple of -t"),
        ("-b 0", "expected a size, at least 1"),
        ("-b 1x", "expected a size"),
        ("-s 0", "1.."),
        ("-i 0", "1.."),
        ("-d=-1", "expected seconds"),
        ("-a mpiio", "possible values: object, posix"),
        ("--class Q9", "object class"),
        ("-k --class S1,S2", "one class"),
        ("--csv --json", "cannot be used with"),
        ("--pool nowhere:x", "nowhere"),
        ("-r", "does not exist"),
    ] {
        let code = if words.contains("nowhere") { 1 } else { 2 };
        check_failed(words, &ior(folder.path(), words), code, &[expected]);
        assert!(is_empty_but_for_the_run(folder.path()), "{words}");
    }
}

#[test]
fn an_existing_folder_of_files_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("mine");
    fs::create_dir(&files).unwrap();
    fs::write(files.join("data-0"), "precious").unwrap();
    let words = format!("-a posix -n 1 --files {}", files.display());
    check_failed(&words, &ior(folder.path(), &words), 2, &["exists"]);
    assert_eq!(fs::read_to_string(files.join("data-0")).unwrap(), "precious");
}
