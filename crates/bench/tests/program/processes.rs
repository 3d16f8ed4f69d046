//! Clients that a driver releases, and the suite that starts them.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Output, Stdio},
};

use crate::common::{bench, check_failed, lines, number, stdout};
use serde_json::Value;

fn client(root: &Path, words: &str) -> Child {
    let mut command = bench(&format!("client {words}"));
    command.env("PEER_ROOT", root).env("PEER_SYNC", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Releases clients together and returns their figures.
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
    number(&figures["fields"])
}

/// The output of a client that is released immediately.
fn alone(root: &Path, words: &str) -> Output {
    let mut client = client(root, words);
    writeln!(client.stdin.take().unwrap(), "go").unwrap();
    client.wait_with_output().unwrap()
}

#[test]
fn clients_that_start_together_on_an_empty_folder_read_what_they_wrote() {
    let root = tempfile::tempdir().unwrap();
    let of_numbers = |op: &str| -> Vec<Child> {
        (1..=6).map(|number| client(root.path(), &format!("{op} 100 {number} 1 0 3"))).collect()
    };
    for op in ["archive", "retr1", "bulk"] {
        let figures = together(of_numbers(op));
        assert!(figures.iter().all(|one| fields(one) == 300 && one["bytes"] == 30_000), "{op}: {figures:?}");
    }
    for words in ["retr1 100 1 6 0 3 tenth", "bulk 100 1 6 0 3 tenth"] {
        assert_eq!(fields(&together(vec![client(root.path(), words)])[0]), 180, "{words}");
    }
    for words in ["retr1 100 1 6 0 3 backwards", "bulk 100 1 6 0 3 backwards"] {
        assert_eq!(fields(&together(vec![client(root.path(), words)])[0]), 1800, "{words}");
    }
    for op in ["list", "listkeys", "listjson", "wipe"] {
        let figures = together(vec![client(root.path(), &format!("{op} 100 1 6 0 3"))]);
        assert_eq!(fields(&figures[0]), 1800, "{op}");
    }
    check_failed("after the wipe", &alone(root.path(), "list 100 1 6 0 3"), 1, &["0 fields; expected 1800"]);
}

#[test]
fn a_looping_client_reads_until_it_is_stopped() {
    let root = tempfile::tempdir().unwrap();
    together(vec![client(root.path(), "archive 100 1 1 0 1")]);
    let mut looping = client(root.path(), "retr1 100 1 1 0 1 fresh loop");
    let mut output = BufReader::new(looping.stdout.take().unwrap());
    let mut input = looping.stdin.take().unwrap();
    assert_eq!(line(&mut output), "READY\n");
    writeln!(input, "go").unwrap();
    // The first client is still working when a second one has ended.
    together(vec![client(root.path(), "retr1 100 1 1 0 1")]);
    assert!(looping.try_wait().unwrap().is_none());
    drop(input);
    let figures: Value = serde_json::from_str(&line(&mut output)).unwrap();
    assert!(fields(&figures) >= 100, "{figures}");
    assert!(looping.wait().unwrap().success());
}

#[test]
fn a_missing_field_is_a_failure_and_not_a_figure() {
    let root = tempfile::tempdir().unwrap();
    together(vec![client(root.path(), "archive 100 1 1 0 1")]);
    for (words, message) in [
        ("retr1 100 2 1 0 1", "wrong data: no field"),
        ("bulk 100 1 2 0 1", "wrong data: 100 fields; expected 200"),
        ("retr1 200 1 1 0 1", "wrong data: 100 bytes"),
        ("list 100 1 2 0 1", "wrong data: 100 fields; expected 200"),
        ("listjson 100 1 1 0 2", "wrong data: 100 fields; expected 200"),
    ] {
        let output = alone(root.path(), words);
        check_failed(words, &output, 1, &[message]);
        assert_eq!(output.stdout, b"READY\n", "{words}");
    }
}

#[test]
fn a_client_uses_the_given_store_on_any_engine() {
    let folder = tempfile::tempdir().unwrap();
    let (unused, pool) = (folder.path().join("unused"), folder.path().join("pool"));
    let store = format!("--store=posix:{}?sync=no", pool.display());
    let archived =
        together((1..=2).map(|n| client(&unused, &format!("archive 100 {n} 1 0 1 {store}"))).collect());
    let read = together(vec![client(&unused, &format!("bulk 100 1 2 0 1 {store}"))]);
    assert_eq!(fields(&archived[0]) + fields(&archived[1]), fields(&read[0]));
    assert!(pool.is_dir() && !unused.exists());
    let in_memory = together(vec![client(&unused, "archive 100 1 1 0 3 atomic --store=memory:fields")]);
    assert_eq!(fields(&in_memory[0]), 300);
    let other = alone(&unused, "retr1 100 1 1 0 3 --store=memory:fields");
    check_failed("memory serves one process", &other, 1, &["no field"]);
}

#[test]
fn a_client_refuses_an_unusable_store_before_it_is_ready() {
    for (words, code, message) in [
        ("--store=nowhere", 1, "a URI such as posix:/path"),
        ("--store=tape:1", 1, "tape"),
        ("null --store=memory:", 2, "--store memory: with null or fdb"),
    ] {
        let words = format!("archive 100 1 1 0 1 {words}");
        let output = client(Path::new("unused"), &words).wait_with_output().unwrap();
        check_failed(&words, &output, code, &[message]);
        assert!(output.stdout.is_empty(), "{words}");
    }
}

#[test]
fn a_client_refuses_invalid_combinations_before_it_is_ready() {
    for (words, message) in [
        ("archive 100 1 1 0 1 null fdb", "null with fdb"),
        ("archive 100 1 1 0 1 fdb atomic", "atomic with null or fdb"),
        ("retr1 100 1 1 0 1 atomic", "atomic with another operation; expected archive"),
        ("listjson 100 1 1 0 1 fdb", "listjson or wipe with fdb"),
        ("wipe 100 1 1 0 1 fdb", "listjson or wipe with fdb"),
        ("bulk 100 1 1 0 1 loop", "loop with another operation; expected retr1"),
        ("archive 100 1 1 0 1 fresh", "fresh with another operation; expected retr1"),
        ("archive 100 1 1 0 1 tenth", "tenth or backwards with another operation; expected retr1 or bulk"),
        ("bulk 100 1 1 0 1 tenth backwards", "tenth with backwards; expected one of them"),
        ("archive 100 4294967295 2 0 1", "2 numbers or steps from 4294967295 on"),
        ("bulk 100 1 4000000000 0 4000000000", "at most 1000000000 fields"),
        ("archive 18446744073709551615 1 1 0 1", "at least 32 and at most"),
        ("archive 31 1 1 0 1", "at least 32 and at most"),
    ] {
        let output = client(Path::new("unused"), words).wait_with_output().unwrap();
        check_failed(words, &output, 2, &[message]);
        assert!(output.stdout.is_empty(), "{words}");
    }
}

#[test]
fn a_client_without_a_folder_names_the_variable_for_it() {
    let output =
        bench("client archive 100 1 1 0 1").env_remove("PEER_ROOT").stdin(Stdio::null()).output().unwrap();
    check_failed("client", &output, 2, &["the variable PEER_ROOT is not set"]);
}

#[test]
fn the_suite_measures_figures_beside_limits_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved.jsonl");
    let place = folder.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let output = bench("--quick --json --repetitions=1 --sizes=65536 --procs=2 --list=50000")
        .arg(format!("--where={}", place.display()))
        .arg(format!("--save={}", saved.display()))
        .output()
        .unwrap();
    assert_eq!(stdout(&output), std::fs::read_to_string(saved).unwrap());
    let lines = lines(&output);
    let of = |what: &str| lines.iter().find(|line| line["what"] == what).unwrap();
    for (figure, limit) in [("archive", "plain write"), ("retrieve", "plain read")] {
        let (figure, limit) = (of(figure), of(limit));
        assert_eq!((&figure["bytes"], &figure["procs"]), (&limit["bytes"], &limit["procs"]));
        assert_eq!(figure["limit_mib_per_s"], limit["mib_per_s"]);
        assert!(figure["ratio"].as_f64().unwrap() > 0.0);
    }
    for (at, figure) in lines.iter().enumerate().filter(|(_, line)| line["ratio"].is_number()) {
        let before = &lines[at - 1];
        assert_eq!(figure["limit_mib_per_s"], before["mib_per_s"], "its limit is right before {figure}");
    }
    assert_eq!(of("list")["fields"], 5000);
    assert_eq!((&of("list")["procs"], &of("list")["archived_by"]), (&1.into(), &2.into()));
    assert!(of("machine")["machine"]["cpus"].as_u64().unwrap() > 0);
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn a_container_of_many_entries_is_searched_by_new_processes() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        |words: &[&str]| stdout(&bench("entries --where").arg(folder.path()).args(words).output().unwrap());
    let measured: Value = serde_json::from_str(&run(&["120000", "--repetitions", "2", "--json"])).unwrap();
    assert_eq!(measured["entries"], 120_000);
    // This is the size of keys and values alone.
    assert!(measured["stored_bytes"].as_u64().unwrap() > 120_000 * 69, "{measured}");
    assert!(
        measured["first_s"].as_f64().unwrap() > 0.0 && measured["rss_mib"].as_f64().unwrap() > 1.0,
        "{measured}"
    );
    assert!(run(&["7"]).contains("open and find the first key"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "its folder is removed");
}
