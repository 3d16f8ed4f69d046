//! What the tests of the program have in common.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;

/// The example program, which cargo builds beside the tests.
pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(Path::parent).unwrap().join("examples/bench");
    assert!(program.exists(), "{} is missing: cargo build -p isotach-bench --examples", program.display());
    program
}

/// The URI of `pool` in a folder, where nothing waits for a device.
pub(crate) fn pool(folder: &Path) -> String {
    format!("posix:{}?sync=no", folder.join("pool").display())
}

/// What it said on standard error.
pub(crate) fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What it printed, after success.
pub(crate) fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", told(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it printed line by line, as JSON.
pub(crate) fn lines(output: &Output) -> Vec<Value> {
    printed(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The record `run` in a folder.
pub(crate) fn record(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("run/run.json")).unwrap()).unwrap()
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}
