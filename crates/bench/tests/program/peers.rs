//! The comparison with peers, without FDB.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader, Read},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use isotach_needs::Need;
use serde_json::Value;

use crate::common::{array, bench, check_failed, clean, lines, number, read_record};

fn peers(folder: &Path, words: &[&str]) -> Command {
    let mut command = bench("peers --quick --repetitions 1 --sizes 4096 -n 2");
    // Without --out, the record is made in the current folder.
    command.current_dir(folder).arg("--where").arg(folder).args(words).env_remove("VIRTUAL_ENV");
    command
}

/// The number of folders of measurements that exist.
fn folders(parent: &Path) -> usize {
    let names = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("isotach-bench-")).count()
}

#[test]
fn each_operation_has_a_limit_that_moves_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let words = ["--without-fdb", "--json", "--out", run.to_str().unwrap()];
    let lines = lines(&peers(folder.path(), &words).output().unwrap());
    let found = |peer: &str, what: &str| {
        let is_it = |line: &&Value| line["peer"] == peer && line["what"] == what;
        lines.iter().find(is_it).unwrap_or_else(|| panic!("no {what} of {peer}")).clone()
    };
    for what in ["archive", "retrieve", "retrieve, one request"] {
        let (limit, own) = (found("limit", what), found("isotach", what));
        assert_eq!((&limit["bytes"], &limit["procs"]), (&own["bytes"], &own["procs"]), "{what}");
        let ratio = own["mib_per_s"].as_f64().unwrap() / limit["mib_per_s"].as_f64().unwrap();
        assert!((own["ratio"].as_f64().unwrap() - ratio).abs() < 1e-9);
    }
    for what in ["archive beside readers", "retrieve beside writers"] {
        assert!(
            found("isotach", what)["fields"].as_u64().unwrap() > 0 && found("limit", what)["ratio"].is_null()
        );
    }
    assert_eq!(found("isotach", "list")["fields"], found("isotach", "archive")["fields"]);
    assert_eq!(found("limit", "memory copy")["bytes"], found("isotach", "archive")["bytes"]);
    let record = read_record(&run);
    assert!(!array(&record["hosts"][0]["sockets"][0]["cpus"]).is_empty(), "the machine is known");
    assert_eq!((&record["complete"], folders(folder.path())), (&Value::Bool(true), 0));
    assert_eq!(record["settings"]["Isotach"]["store"], "posix:FOLDER/store");
    assert_eq!(record["settings"], lines[0]["settings"]);
    assert_eq!(array(&record["results"]).len(), lines.len() - 1, "all lines but the first one");
    for result in array(&record["results"]) {
        let labels = &record["cases"][number(&result["case"]) as usize];
        let active = match result["phase"].as_str().unwrap() {
            "list" => 1,
            _ => 2,
        };
        assert_eq!(labels["processes_per_node"], active, "two, or one beside one: {result}");
        assert_eq!(labels["archived_by"].is_null(), active == 2, "{labels}");
        let peer = if labels["limit"] == "plain" { "limit" } else { "isotach" };
        let shown = found(peer, result["phase"].as_str().unwrap());
        for (name, known) in [
            ("fields_per_s", "fields_per_s"),
            ("limit_mib_per_s", "limit_mib_per_s"),
            ("ratio_to_limit", "ratio"),
            ("is_limit_overlap_poor", "is_limit_overlap_poor"),
        ] {
            assert_eq!(result[name], shown[known], "{name} of {result}");
        }
        let overlap = result["overlap"].as_f64().unwrap();
        assert_eq!(result["is_overlap_poor"], overlap < 0.75);
        let of_two = shown["fields"] == found("limit", "archive")["fields"] && shown["what"] != "list";
        assert!(!of_two || overlap < 1.0, "two processes never begin and end at once: {result}");
    }
}

#[test]
fn another_build_is_measured_in_the_same_run_and_has_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let program = bench("peers").get_program().to_owned();
    let run = folder.path().join("run");
    let words = ["--without-fdb", "--out", run.to_str().unwrap(), "--before", program.to_str().unwrap()];
    let output = peers(folder.path(), &words).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("Beside the build before:") && printed.contains("by before"), "{printed}");
    let record = read_record(&run);
    let before = array(&record["cases"]).iter().filter(|case| case["peer"] == "Isotach before").count();
    assert!(before > 0, "{}", record["cases"]);

    let words = ["--without-fdb", "--before", "/nonexistent/isotach"];
    let output = peers(folder.path(), &words).output().unwrap();
    check_failed("--before", &output, 1, &["/nonexistent/isotach"]);
}

#[test]
fn cold_retrievals_each_have_a_limit_that_reads_as_many_bytes() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let run = folder.path().join("run");
    let words = ["--without-fdb", "--cold", "--json", "--out", run.to_str().unwrap()];
    let output = peers(folder.path(), &words).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if ["expected a folder on a device", "stay in the page cache", "start fincore"]
        .iter()
        .any(|why| errors.contains(why))
    {
        return isotach_needs::skip(Need::ColdFiles, &errors);
    }
    let lines = lines(&output);
    let of = |peer: &str| -> Vec<(String, u64)> {
        let of_peer = lines.iter().filter(|line| line["peer"] == peer && line["what"] != "memory copy");
        of_peer.map(|line| (line["what"].as_str().unwrap().to_owned(), number(&line["bytes"]))).collect()
    };
    assert_eq!(of("limit"), of("isotach"));
    let bytes: Vec<u64> = of("isotach").into_iter().map(|(_, bytes)| bytes).collect();
    let all = bytes[0];
    assert_eq!(bytes, [all, all, all, all / 10, all / 10, all, all]);
    assert_eq!(read_record(&run)["complete"], true);
}

#[test]
fn another_build_without_cold_retrievals_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (older, run) = (folder.path().join("older"), folder.path().join("run"));
    let script = "#!/bin/sh\nsed -u s/Backwards/Unknown/ | \"$ISOTACH_NEWER\" \"$@\"\n";
    fs::write(&older, script).unwrap();
    fs::set_permissions(&older, Permissions::from_mode(0o755)).unwrap();
    let words = ["--without-fdb", "--cold", "--before", older.to_str().unwrap(), "--out"];
    let mut command = peers(folder.path(), &words);
    let output = command.arg(&run).env("ISOTACH_NEWER", bench("peers").get_program()).output().unwrap();
    check_failed(
        "--before",
        &output,
        2,
        &["unknown variant `Unknown`", "expected a build that has `bench peers --cold`"],
    );
    assert!(array(&read_record(&run)["results"]).is_empty(), "nothing is measured");
}

#[test]
fn cold_retrievals_in_memory_are_refused() {
    if Path::new("/dev/shm").is_dir() {
        let memory = tempfile::tempdir_in("/dev/shm").unwrap();
        let output = peers(memory.path(), &["--without-fdb", "--cold"]).output().unwrap();
        check_failed("--cold", &output, 2, &["--cold in tmpfs", "expected a folder on a device"]);
    }
}

#[test]
fn a_missing_fdb_is_reported_with_remedies() {
    let folder = tempfile::tempdir().unwrap();
    let output = peers(folder.path(), &["--fdb", folder.path().to_str().unwrap()]).output().unwrap();
    check_failed("--fdb", &output, 2, &["has no fdb5lib", "`pip install fdb5lib`", "or --without-fdb"]);
}

#[test]
fn clean_removes_what_a_killed_comparison_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut driver = peers(folder.path(), &["--without-fdb", "--out", run.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = BufReader::new(driver.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("Isotach: ") {
        line.clear();
        assert_ne!(errors.read_line(&mut line).unwrap(), 0, "it ended without a figure");
    }
    driver.kill().unwrap();
    driver.wait().unwrap();
    // Its processes have the same standard error, which ends with the last of them.
    errors.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!((&read_record(&run)["complete"], folders(folder.path())), (&Value::Bool(false), 1));
    assert!(!array(&read_record(&run)["results"]).is_empty(), "its results are kept");
    clean(&run);
    assert_eq!((&read_record(&run)["pools"], folders(folder.path())), (&serde_json::json!([]), 0));
}
