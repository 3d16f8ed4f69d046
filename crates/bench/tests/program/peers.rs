//! The comparison with peers, as far as it goes without one.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use crate::common::program;

fn peers(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args([
        "bench",
        "peers",
        "--quick",
        "--repetitions",
        "1",
        "--sizes",
        "4096",
        "-n",
        "2",
        "--where",
    ]);
    command.arg(folder).args(words).env_remove("VIRTUAL_ENV");
    command
}

fn record(run: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(run.join("run.json")).unwrap()).unwrap()
}

/// The folders of measurements that are there.
fn folders(place: &Path) -> usize {
    let names = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("isotach-bench-")).count()
}

#[test]
fn each_operation_is_measured_beside_a_limit_that_moves_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let output: Output =
        peers(folder.path(), &["--without-fdb", "--json", "--out", run.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
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
    let record = record(&run);
    assert!(!record["hosts"][0]["sockets"][0]["cpus"].as_array().unwrap().is_empty(), "the machine is known");
    assert_eq!((&record["complete"], folders(folder.path())), (&Value::Bool(true), 0));
    assert_eq!(record["settings"]["Isotach"]["store"], "posix:FOLDER/store");
    assert_eq!(record["settings"], lines[0]["settings"]);
    assert_eq!(
        record["results"].as_array().unwrap().len(),
        lines.len() - 1,
        "all but the line of the machine"
    );
    for kept in record["results"].as_array().unwrap() {
        let labels = &record["cases"][kept["case"].as_u64().unwrap() as usize];
        let at_work = match kept["phase"].as_str().unwrap() {
            "list" => 1,
            _ => 2,
        };
        assert_eq!(labels["processes_per_node"], at_work, "two, or one beside one: {kept}");
        assert_eq!(labels["archived_by"].is_null(), at_work == 2, "{labels}");
        let peer = if labels["limit"] == "plain" { "limit" } else { "isotach" };
        let shown = found(peer, kept["phase"].as_str().unwrap());
        for (name, shown) in [
            ("fields_per_s", "fields_per_s"),
            ("limit_mib_per_s", "limit_mib_per_s"),
            ("ratio_to_limit", "ratio"),
            ("is_limit_overlap_poor", "is_limit_overlap_poor"),
        ]
        .map(|(name, known)| (name, &shown[known]))
        {
            assert_eq!(&kept[name], shown, "{name} of {kept}");
        }
        let overlap = kept["overlap"].as_f64().unwrap();
        assert_eq!(kept["is_overlap_poor"], overlap < 0.75);
        let of_two = shown["fields"] == found("limit", "archive")["fields"] && shown["what"] != "list";
        assert!(!of_two || overlap < 1.0, "two processes never begin and end at once: {kept}");
    }
}

#[test]
fn without_fdb_it_is_said_how_to_get_it_and_how_to_go_without() {
    let folder = tempfile::tempdir().unwrap();
    let output = peers(folder.path(), &["--fdb", folder.path().to_str().unwrap()]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("has no fdb5lib") && told.contains("`pip install fdb5lib`"), "{told}");
    assert!(told.contains("or --without-fdb"), "{told}");
}

#[test]
fn what_a_killed_comparison_leaves_is_on_record_and_cleaned() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut driver = peers(folder.path(), &["--without-fdb", "--out", run.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(driver.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("Isotach: ") {
        line.clear();
        assert_ne!(told.read_line(&mut line).unwrap(), 0, "it ended without a figure");
    }
    driver.kill().unwrap();
    driver.wait().unwrap();
    // The processes that it had started have the same standard error, which ends with the last of them.
    told.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!((&record(&run)["complete"], folders(folder.path())), (&Value::Bool(false), 1));
    assert!(!record(&run)["results"].as_array().unwrap().is_empty(), "what was measured is kept");
    let cleaned = Command::new(program()).args(["bench", "clean"]).arg(&run).output().unwrap();
    assert!(cleaned.status.success(), "{cleaned:?}");
    assert_eq!((&record(&run)["pools"], folders(folder.path())), (&serde_json::json!([]), 0));
}
