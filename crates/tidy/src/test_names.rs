//! The rule that a test's name is a sentence about behaviour: at least three words.
//!
//! Files that define macros are left out: the names of the tests that a macro writes are its callers'.

use crate::{Finding, SourceFile};

/// The name of a test that does nothing by itself: other tests run it in a process of its own.
const HELPER: &str = "child_process";
const RULE: &str = "a test's name is a sentence";

/// Every test whose name is too short to say what holds.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    files.iter().filter(|file| !file.defines_macros()).flat_map(in_file).collect()
}

fn in_file(file: &SourceFile) -> Vec<Finding> {
    let names = if file.is(".rs") {
        rust_tests(file)
    } else if file.is(".py") {
        python_tests(file)
    } else {
        Vec::new()
    };
    let short = names.into_iter().filter(|(_, name)| !is_sentence(name));
    short
        .map(|(number, name)| {
            let instead = format!("`{name}`: name what holds, as in `a_torn_frame_never_counts`");
            Finding::at(&file.path, number, RULE, instead)
        })
        .collect()
}

fn is_sentence(name: &str) -> bool {
    name == HELPER || name.split('_').filter(|word| !word.is_empty()).count() >= 3
}

/// The functions under `#[test]`, other attributes between them or not.
fn rust_tests(file: &SourceFile) -> Vec<(usize, &str)> {
    let mut tests = Vec::new();
    let mut pending = false;
    for (number, line) in file.lines() {
        let line = line.trim_start();
        if line.starts_with("#[test]") {
            pending = true;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| pending) {
            tests.push((number, rest.split(['(', '<']).next().unwrap_or(rest)));
            pending = false;
        }
    }
    tests
}

/// The functions `test_...`; pytest's own word counts, so that `test_both_refuse` will do.
fn python_tests(file: &SourceFile) -> Vec<(usize, &str)> {
    let name = |line| {
        let name = str::trim_start(line).strip_prefix("def ").filter(|name| name.starts_with("test_"))?;
        name.split('(').next()
    };
    file.lines().filter_map(|(number, line)| Some((number, name(line)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_named_for_a_function_is_found_and_a_sentence_is_not() {
        let rust =
            "#[test]\nfn test_put() {}\n#[test]\n#[ignore = \"x\"]\nfn a_put_is_seen() {}\nfn helper() {}\n";
        let found = check(&[SourceFile::new("a.rs", rust), SourceFile::new("a.py", "def test_put(x):\n")]);
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["a.rs:2", "a.py:1"]);
    }
}
