//! The conformance program of `conformance`: it fails in nothing but what a list names, and in all of that.

#[cfg(feature = "cluster")]
mod on_a_cluster;

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use crate::bench::{Bench, source};

/// What the conformance program found, by the names of its checks, and all that it printed.
#[derive(Default)]
struct Checked {
    passed: BTreeSet<String>,
    failed: BTreeSet<String>,
    printed: String,
}

/// Compiles the conformance program.
fn conformance(bench: &Bench) -> PathBuf {
    let folder = fs::read_dir(source("conformance")).unwrap();
    let names = folder.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let mut sources: Vec<String> =
        names.filter(|name| name.ends_with(".c")).map(|name| format!("conformance/{name}")).collect();
    sources.sort();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    bench.compile("conformance", &sources)
}

/// Runs the checks of a command of the conformance program whose names begin so.
fn checked(mut command: Command, subject: &str) -> Checked {
    let told = command.args(["--only", subject]).output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    let with = |word: &str| -> BTreeSet<String> {
        let names =
            text.lines().filter_map(|line| line.strip_prefix(word)).map(|name| name.trim().to_owned());
        names.filter(|name| name.contains('.')).collect()
    };
    let printed = format!("{text}{}", String::from_utf8_lossy(&told.stderr));
    Checked { passed: with("passed"), failed: with("FAILED"), printed }
}

/// Those checks must fail that a file names, because what they ask for is not there, and no others.
fn compare(Checked { passed, failed, printed }: &Checked, known: &str) {
    assert!(passed.len() > 300, "{} passed: {printed}", passed.len());
    let names = fs::read_to_string(source(known)).unwrap();
    let names = names.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    let new: Vec<_> = failed.difference(&names).collect();
    assert!(new.is_empty(), "{new:#?} failed:\n{printed}");
    let mended: Vec<_> = names.intersection(passed).collect();
    assert!(mended.is_empty(), "{mended:#?} pass now: take them out of {known}");
    assert_eq!(names.difference(failed).count(), 0, "checks that are not there");
}

#[test]
fn the_conformance_program_fails_in_nothing_but_what_is_known_not_to_be_there_yet() {
    let bench = Bench::new();
    let mut command = bench.command(&conformance(&bench), &["--pool", "tank"]);
    command.env("D_LOG_FILE", bench.0.path().join("log"));
    compare(&checked(command, ""), "conformance/not-yet.txt");
}
