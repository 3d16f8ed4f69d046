//! The kernels as their users see them: their writes and reads, and refused options.

use std::{fs, path::Path, process::Output};

use crate::common::{array, check_failed, lines, numbers, record, study};
use serde_json::Value;

fn kernels(folder: &Path, words: &str) -> Output {
    study(folder, &format!("kernels --json --scale 0.01 {words}")).output().unwrap()
}

/// Processes, operations, bytes and wrong operations of the only result of a phase.
fn of_phase(lines: &[Value], kernel: &str, updates: &str, phase: &str) -> [u64; 4] {
    let is_it =
        |line: &&Value| line["kernel"] == kernel && line["updates"] == updates && line["phase"] == phase;
    let found: Vec<&Value> = lines.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{kernel} {updates} {phase}");
    numbers(found[0], ["processes", "operations", "bytes", "wrong"])
}

#[test]
fn every_kernel_reads_the_versions_it_wrote_in_both_kinds_of_updates() {
    let folder = tempfile::tempdir().unwrap();
    let output = kernels(folder.path(), "-n 4 --repetitions 1 --versions 3 --updates transactions,plain");
    let lines = lines(&output);
    // Of clamr and of both rearrangements of pio two phases, of legion three.
    assert_eq!(lines.len(), 2 * (2 + 3 + 2 * 2));
    for updates in ["transactions", "plain"] {
        for rearrangement in ["pio box", "pio subset"] {
            // 288 by 2 columns: two variables of 30 levels, four of one; 8 bytes a value.
            let step = 288 * 2 * (2 * 30 + 4) * 8;
            let of = |phase| of_phase(&lines, rearrangement, updates, phase);
            assert_eq!(of("write"), [4, 12, 3 * step, 0], "{rearrangement}");
            assert_eq!(of("read"), [4, 4, step, 0], "{rearrangement}");
        }
        // Two regions, two shards each, of 1311 values.
        let regions = 2 * 2 * 1311 * 8;
        let of = |phase| of_phase(&lines, "legion", updates, phase);
        assert_eq!(of("setup"), [2, 2, 2 * regions, 0]);
        assert_eq!(of("write"), [2, 6, 6 * regions, 0]);
        assert_eq!(of("read"), [2, 6, 6 * 2 * regions, 0], "each reads the regions of two");
    }
    let record = record(folder.path());
    assert!(record["complete"] == true && array(&record["pools"]).is_empty());
    assert!(!folder.path().join("pool").exists());
}

#[test]
fn a_restart_with_any_number_of_processes_reads_the_last_checkpoint() {
    for updates in ["transactions", "plain"] {
        let mut sizes = Vec::new();
        for (restart, readers) in [("", 3), ("--restart 1", 1), ("--restart 4", 4)] {
            let folder = tempfile::tempdir().unwrap();
            let words =
                format!("--kernel clamr -n 4 --repetitions 1 --versions 3 --updates {updates} {restart}");
            let lines = lines(&kernels(folder.path(), &words));
            let [writers, checkpoints, written, _] = of_phase(&lines, "clamr", updates, "checkpoint");
            assert_eq!((writers, checkpoints), (4, 12));
            let [processes, operations, bytes, wrong] = of_phase(&lines, "clamr", updates, "restart");
            assert_eq!([processes, operations, wrong], [readers, readers, 0]);
            assert!(bytes > 0 && bytes < written, "the last of three");
            sizes.push((written, bytes));
        }
        assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
    }
}

#[test]
fn the_seed_determines_the_sizes_of_checkpoints() {
    let size = |seed: u32| {
        let folder = tempfile::tempdir().unwrap();
        let words = format!("--kernel clamr -n 2 --repetitions 1 --versions 2 --seed {seed}");
        of_phase(&lines(&kernels(folder.path(), &words)), "clamr", "transactions", "checkpoint")
    };
    assert_eq!(size(1), size(1));
    assert_ne!(size(1), size(2));
}

#[test]
fn processes_on_several_nodes_write_versions_together() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = folder.path().join("launch");
    fs::write(&launcher, "shift; exec \"$@\"").unwrap();
    let words =
        "kernels --json --scale 0.01 --kernel legion -n 1 --repetitions 1 --versions 2 --hosts a,b,c,d";
    let mut command = study(folder.path(), words);
    command.arg("--launcher").arg(format!("sh {} {{host}}", launcher.display()));
    let lines = lines(&command.output().unwrap());
    assert_eq!(of_phase(&lines, "legion", "transactions", "read")[..2], [2, 4]);
    assert_eq!(lines[0]["nodes"], 4);
}

#[test]
fn invalid_options_are_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |words: &str, expected: &str| {
        check_failed(words, &kernels(folder.path(), words), 2, &[expected]);
        assert!(!folder.path().join("run").exists() && !folder.path().join("pool").exists(), "{words}");
    };
    refused("-n 3", "an even number of processes");
    refused("-n 2 --restart 3", "--restart of at most 2");
    refused("-n 2 --restart 0", "--restart");
    refused("-n 2 --kernel hammer", "possible values: clamr, legion, pio");
    refused("-n 2 --rearrangement none", "possible values: box, subset");
    refused("-n 2 --updates some", "possible values: transactions, plain");
    refused("-n 2 --versions 0", "--versions");
    refused("-n 2 --versions 70000", "--versions");
    refused("-n 2 --ratio 0", "--ratio");
    refused("-n 2 --class Q9", "object class");
    for scale in ["0", "-1", "NaN", "inf", "large"] {
        refused(&format!("-n 2 --scale={scale}"), "from 0.001 to 1000");
    }
}
