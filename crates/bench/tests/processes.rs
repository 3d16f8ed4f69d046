//! The program as its drivers see it: clients that are told to go, and the suite that starts them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

/// The example program, which cargo builds beside the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples/bench");
    assert!(program.exists(), "{} is missing: cargo build -p isotach-bench --examples", program.display());
    program
}

fn client(root: &Path, words: &str) -> Child {
    let mut command = Command::new(program());
    command.args(["bench", "client"]).args(words.split_whitespace());
    command.env("PEER_ROOT", root).env("PEER_SYNC", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Lets clients go together; their figures.
fn together(mut clients: Vec<Child>) -> Vec<Value> {
    let mut outputs: Vec<_> =
        clients.iter_mut().map(|client| BufReader::new(client.stdout.take().unwrap())).collect();
    for output in &mut outputs {
        assert_eq!(line(output), "READY\n");
    }
    clients.iter_mut().for_each(|client| writeln!(client.stdin.as_ref().unwrap(), "go").unwrap());
    let figures = outputs.iter_mut().map(|output| {
        let line = line(output);
        assert!(line.starts_with(r#"{"t0""#), "{line:?}");
        serde_json::from_str(&line).unwrap()
    });
    let figures = figures.collect();
    clients.iter_mut().for_each(|client| assert!(client.wait().unwrap().success()));
    figures
}

fn line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line
}

fn fields(figures: &Value) -> u64 {
    figures["fields"].as_u64().unwrap()
}

/// The whole output of a client that is told to go at once.
fn alone(root: &Path, words: &str) -> Output {
    let mut client = client(root, words);
    writeln!(client.stdin.take().unwrap(), "go").unwrap();
    client.wait_with_output().unwrap()
}

#[test]
fn clients_that_start_at_once_on_an_empty_folder_all_succeed_and_read_back_what_they_wrote() {
    let root = tempfile::tempdir().unwrap();
    let of_numbers = |op: &str| -> Vec<Child> {
        (1..=6).map(|number| client(root.path(), &format!("{op} 100 {number} 1 0 3"))).collect()
    };
    for op in ["archive", "retr1", "bulk"] {
        let figures = together(of_numbers(op));
        assert!(figures.iter().all(|one| fields(one) == 300 && one["bytes"] == 30_000), "{op}: {figures:?}");
    }
    for op in ["list", "listkeys", "listjson", "wipe"] {
        let figures = together(vec![client(root.path(), &format!("{op} 100 1 6 0 3"))]);
        assert_eq!(fields(&figures[0]), 1800, "{op}");
    }
    let figures = together(vec![client(root.path(), "list 100 1 6 0 3")]);
    assert_eq!(fields(&figures[0]), 0, "after the wipe");
}

#[test]
fn a_looping_client_reads_until_it_is_told_to_stop() {
    let root = tempfile::tempdir().unwrap();
    together(vec![client(root.path(), "archive 100 1 1 0 1")]);
    let mut looping = client(root.path(), "retr1 100 1 1 0 1 fresh loop");
    let mut output = BufReader::new(looping.stdout.take().unwrap());
    let mut input = looping.stdin.take().unwrap();
    assert_eq!(line(&mut output), "READY\n");
    writeln!(input, "go").unwrap();
    // A second client that ends shows that the first is still at work.
    together(vec![client(root.path(), "retr1 100 1 1 0 1")]);
    assert!(looping.try_wait().unwrap().is_none());
    drop(input);
    let figures: Value = serde_json::from_str(&line(&mut output)).unwrap();
    assert!(fields(&figures) >= 100, "{figures}");
    assert!(looping.wait().unwrap().success());
}

#[test]
fn a_field_that_is_not_there_is_a_failure_and_not_a_figure() {
    let root = tempfile::tempdir().unwrap();
    together(vec![client(root.path(), "archive 100 1 1 0 1")]);
    for (words, message) in [
        ("retr1 100 2 1 0 1", "wrong data: no field"),
        ("bulk 100 1 2 0 1", "wrong data: 100 fields; expected 200"),
        ("retr1 200 1 1 0 1", "wrong data: 100 bytes"),
    ] {
        let output = alone(root.path(), words);
        let (told, error) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!output.status.success() && told == "READY\n", "{words}: {told}");
        assert!(error.contains(message), "{words}: {error}");
    }
}

#[test]
fn a_client_without_a_folder_says_which_variable_names_it() {
    let output = Command::new(program())
        .args(["bench", "client", "archive", "100", "1", "1", "0", "1"])
        .env_remove("PEER_ROOT")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("the variable PEER_ROOT is not set"), "{error}");
}

#[test]
fn the_suite_measures_each_figure_beside_its_limit_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved.jsonl");
    let place = folder.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let output = Command::new(program())
        .args(["bench", "--quick", "--json", "--repetitions=1", "--sizes=65536", "--procs=2", "--list=50000"])
        .arg(format!("--where={}", place.display()))
        .arg(format!("--save={}", saved.display()))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text, std::fs::read_to_string(saved).unwrap());
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |what: &str| lines.iter().find(|line| line["what"] == what).unwrap();
    for (figure, limit) in [("archive", "plain write"), ("retrieve", "plain read")] {
        let (figure, limit) = (of(figure), of(limit));
        assert_eq!((&figure["bytes"], &figure["procs"]), (&limit["bytes"], &limit["procs"]));
        assert_eq!(figure["limit_mib_per_s"], limit["mib_per_s"]);
        assert!(figure["ratio"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(of("list")["fields"], 5000);
    assert!(of("machine")["machine"]["cpus"].as_u64().unwrap() > 0);
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn a_container_of_many_entries_is_filled_and_searched_by_processes_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(program());
        let output =
            command.args(["bench", "entries", "--where"]).arg(folder.path()).args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let measured: Value = serde_json::from_str(&run(&["120000", "--repetitions", "2", "--json"])).unwrap();
    assert_eq!(measured["entries"], 120_000);
    // Keys and values alone take as much.
    assert!(measured["stored_bytes"].as_u64().unwrap() > 120_000 * 69, "{measured}");
    assert!(
        measured["first_s"].as_f64().unwrap() > 0.0 && measured["rss_mib"].as_f64().unwrap() > 1.0,
        "{measured}"
    );
    assert!(run(&["7"]).contains("open and find the first key"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "its folder is removed");
}
