//! The benchmark of places of buffers and offsets in files.

use std::path::Path;

use serde_json::Value;

use crate::common::{bench, check_failed, lines, number, stdout};

fn alignment(folder: &Path, words: &str) -> std::process::Output {
    let mut command = bench(&format!("alignment --rounds 2 {words}"));
    command.arg("--where").arg(folder).output().unwrap()
}

#[test]
fn each_place_has_a_line_of_json_with_its_ratio_to_the_best() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines(&alignment(folder.path(), "--size 65536,4096 --json"));
    assert_eq!(all.len(), 2 * 2 * 9 * 4, "sizes, calls, buffers and offsets");
    for (call, size) in [("pread", 65536), ("pread", 4096), ("pwrite", 65536), ("pwrite", 4096)] {
        let of: Vec<&Value> = all.iter().filter(|one| one["call"] == call && one["size"] == size).collect();
        let ratios = of.iter().map(|one| one["ratio_to_best"].as_f64().unwrap());
        assert_eq!((of.len(), ratios.fold(f64::INFINITY, f64::min)), (36, 1.0), "{call} {size}");
    }
    for one in &all {
        let [buffer, file] = ["buffer_offset", "file_offset"].map(|name| one[name].as_i64().unwrap());
        let difference = if one["call"] == "pread" { buffer - file } else { file - buffer };
        assert_eq!(one["destination_minus_source"], difference, "{one}");
        assert_eq!(one["destination_minus_source_modulo_64"], difference.rem_euclid(64), "{one}");
        assert_eq!(one["is_malloc"], buffer == 16, "{one}");
        let size = number(&one["size"]) as f64;
        let [rate, us] = ["mib_per_s", "median_us"].map(|name| one[name].as_f64().unwrap());
        assert!((rate * us / (size / 1.048_576) - 1.0).abs() < 1e-6, "{one}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "its file has no name");
}

#[test]
fn calls_are_measured_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines(&alignment(folder.path(), "--size 4096 --call pwrite,pread --json"));
    let calls: Vec<&Value> = all.iter().map(|one| &one["call"]).collect();
    assert!(calls[..36].iter().all(|call| *call == "pwrite"), "{calls:?}");
    assert!(calls[36..].iter().all(|call| *call == "pread") && calls.len() == 72, "{calls:?}");
}

#[test]
fn a_table_marks_the_place_of_malloc() {
    let folder = tempfile::tempdir().unwrap();
    let text = stdout(&alignment(folder.path(), "--size 4096 --call pread"));
    for expected in [
        "fast copies of the processor: erms ",
        "pread of 4 KiB, ",
        "│ +16 malloc ┆",
        "1 to 31 bytes behind that of the source ",
    ] {
        assert!(text.contains(expected), "no {expected:?} in {text}");
    }
    assert!(!text.contains("pwrite of"), "{text}");
}

#[test]
fn a_folder_that_does_not_exist_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    check_failed("alignment", &alignment(&missing, ""), 1, &["find ", "missing", "No such file"]);
    let words = "alignment --size 0";
    check_failed(words, &bench(words).output().unwrap(), 2, &["at least 1"]);
}
