//! Helpers of the tests of the program.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

/// The example program, which cargo builds beside the tests.
pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples/bench");
    assert!(program.exists(), "{} is missing: cargo build -p isotach-bench --examples", program.display());
    program
}

/// The command `bench` with words separated by blanks.
pub(crate) fn bench(words: &str) -> Command {
    let mut command = Command::new(program());
    command.arg("bench").args(words.split_whitespace());
    command
}

/// A study in a folder, with its pool in `pool` and its record in `run`.
pub(crate) fn study(folder: &Path, words: &str) -> Command {
    study_in(folder, "run", &pool(folder), words)
}

/// A study in a pool, with its record in a folder.
pub(crate) fn study_in(folder: &Path, record: &str, pool: &str, words: &str) -> Command {
    let mut command = bench(words);
    command.arg("--out").arg(folder.join(record)).args(["--pool", pool]);
    command
}

/// Cleans up after a run, and returns the output.
pub(crate) fn clean(run: &Path) -> String {
    stdout(&bench("clean").arg(run).output().unwrap())
}

/// The URI of `pool` in a folder, where nothing waits for a device.
pub(crate) fn pool(folder: &Path) -> String {
    format!("posix:{}?sync=no", folder.join("pool").display())
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that the command of these words has failed with this code and these texts.
pub(crate) fn check_failed(words: &str, output: &Output, code: i32, texts: &[&str]) {
    let error = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{words}: {error}");
    texts.iter().for_each(|text| assert!(error.contains(text), "{words}: no {text:?} in {error}"));
}

/// The standard output of a command that succeeded.
pub(crate) fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The lines of JSON of a command that succeeded.
pub(crate) fn lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The record of a run.
pub(crate) fn read_record(run: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(run.join("run.json")).unwrap()).unwrap()
}

/// The record `run` in a folder.
pub(crate) fn record(folder: &Path) -> Value {
    read_record(&folder.join("run"))
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// Some fields of a result that are numbers.
pub(crate) fn numbers<const N: usize>(result: &Value, names: [&str; N]) -> [u64; N] {
    names.map(|name| number(&result[name]))
}

pub(crate) fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}
