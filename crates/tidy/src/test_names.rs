//! The rule that a test's name is a sentence about behaviour: at least three words, and at most 80 characters.
//!
//! A test that a macro writes has the name that the macro's caller gives. The cases of the conformance suite are read from the list
//! in the macro that registers them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Finding, SourceFile, ratchet::Measure};

/// The name of a test that does nothing by itself: other tests run it in a process of its own.
const HELPER: &str = "child_process";
const RULE: &str = "a test's name is a sentence";

/// The page that says which test shows what.
const SHOWN_BY: &str = "docs/DURABILITY.md";
/// The list of the cases of the conformance suite.
const CASES: &str = "crates/object-conformance/src/registration.rs";
/// The longest name, in characters, that needs no entry in the ratchet.
pub const NAME_CHARACTERS_MAX: usize = 80;
const MENTIONED: &str = "a test that a page names exists";

/// Every missing test that the page on durability names.
pub fn check_mentioned(files: &[SourceFile]) -> Vec<Finding> {
    let tests: BTreeSet<&str> = files.iter().flat_map(all_tests).map(|(_, name)| name).collect();
    let pages = files.iter().filter(|file| file.path == SHOWN_BY);
    let mentions = pages.flat_map(|page| page.lines().map(move |(number, line)| (page, number, line)));
    let missing = mentions.flat_map(|(page, number, line)| {
        let names = line.split('`').skip(1).step_by(2).filter(|name| is_long(name) && !tests.contains(name));
        names
            .map(move |name| Finding::at(&page.path, number, MENTIONED, format!("there is no test `{name}`")))
    });
    missing.collect()
}

/// Whether this can be nothing but the name of a test.
fn is_long(name: &str) -> bool {
    let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    is_name && name.matches('_').count() >= 3
}

/// Every test whose name has too few words.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    files.iter().filter(|file| !file.defines_macros()).flat_map(in_file).collect()
}

/// How many tests of each crate or folder have a name that is too long.
pub fn long_names(files: &[SourceFile]) -> Vec<Measure> {
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let depth = if file.path.starts_with("crates/") { 2 } else { 1 };
        let folder: Vec<&str> = file.path.split('/').take(depth).collect();
        let names = all_tests(file).into_iter().chain(cases(file));
        let long = names.filter(|(_, name)| name.chars().count() > NAME_CHARACTERS_MAX);
        folders.entry(folder.join("/")).or_default().extend(long.map(|(_, name)| name.to_owned()));
    }
    let measured = folders.into_iter().filter(|(_, names)| !names.is_empty());
    measured
        .map(|(folder, names)| Measure::new("name", &folder, 1, names.len()).with_details(names.join(", ")))
        .collect()
}

/// The names on a line of their own in the list of cases.
fn cases(file: &SourceFile) -> Vec<(usize, &str)> {
    let lines = file.lines().filter(|_| file.path == CASES);
    lines
        .filter_map(|(number, line)| {
            Some((number, line.trim().strip_suffix(',').filter(|name| is_long(name))?))
        })
        .collect()
}

fn all_tests(file: &SourceFile) -> Vec<(usize, &str)> {
    if file.is(".rs") {
        rust_tests(file)
    } else if file.is(".py") {
        python_tests(file)
    } else {
        Vec::new()
    }
}

fn in_file(file: &SourceFile) -> Vec<Finding> {
    let short = all_tests(file).into_iter().filter(|(_, name)| !is_sentence(name));
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
    use crate::report;

    #[test]
    fn a_test_named_for_a_function_is_found_and_a_sentence_is_not() {
        let rust =
            "#[test]\nfn test_put() {}\n#[test]\n#[ignore = \"x\"]\nfn a_put_is_seen() {}\nfn helper() {}\n";
        let found = check(&[SourceFile::new("a.rs", rust), SourceFile::new("a.py", "def test_put(x):\n")]);
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["a.rs:2", "a.py:1"]);
    }

    #[test]
    fn names_that_are_too_long_are_counted_by_crate() {
        let long = "a_b_c_".repeat(14);
        let test = SourceFile::new(
            "crates/x/tests/a.rs",
            format!("#[test]\nfn {long}() {{}}\n#[test]\nfn a_b_c() {{}}"),
        );
        let case = SourceFile::new(CASES, format!("    {long},\n    a_b_c_d,\n"));
        let python = SourceFile::new("tests/a.py", format!("def test_{long}():"));
        let found: Vec<String> =
            long_names(&[test, case, python]).into_iter().map(|measure| measure.what).collect();
        assert_eq!(found, ["crates/object-conformance", "crates/x", "tests"]);
    }

    #[test]
    fn a_missing_test_that_the_page_names_is_found() {
        let page = "| `flush` | `a_put_is_seen` and `nobody_wrote_this_one`, `put_if` |\n";
        let tests = SourceFile::new("a.rs", "#[test]\nfn a_put_is_seen() {}\n");
        let found = check_mentioned(&[tests, SourceFile::new(SHOWN_BY, page)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(report(&found).contains("nobody_wrote_this_one"), "{found:?}");
    }
}
