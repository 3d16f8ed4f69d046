//! The house rules, run on this repository. Each failure lists every breach: place, rule, and what to do instead.

use std::{fs, io};

use isotach_tidy::{
    Finding, SourceFile, format_page, heads, imports, layers, lengths, libraries, licences, links, manifests,
    metadata, ratchet, report, repository_root, source_files, test_names, words,
};

fn files() -> io::Result<Vec<SourceFile>> {
    source_files(&repository_root())
}

fn packages() -> io::Result<Vec<metadata::Package>> {
    metadata::packages(&repository_root())
}

fn read(path: &str) -> io::Result<String> {
    fs::read_to_string(repository_root().join(path))
}

#[track_caller]
fn assert_none(findings: &[Finding]) {
    assert!(findings.is_empty(), "{} breaches\n{}", findings.len(), report(findings));
}

#[test]
fn every_file_begins_with_its_purpose() {
    assert_none(&heads::check(&files().unwrap()));
}

#[test]
fn no_file_holds_a_banned_word() {
    assert_none(&words::check(&files().unwrap()));
}

#[test]
fn every_test_is_named_by_a_sentence() {
    assert_none(&test_names::check(&files().unwrap()));
}

#[test]
fn every_test_that_the_page_on_durability_names_is_there() {
    assert_none(&test_names::check_mentioned(&files().unwrap()));
}

#[test]
fn every_link_leads_somewhere() {
    let root = repository_root();
    assert_none(&links::check(&files().unwrap(), |path| root.join(path).exists()));
}

#[test]
fn lengths_circles_names_and_unsafe_code_stay_within_the_ratchet() {
    let files = files().unwrap();
    let measures = [
        lengths::files(&files),
        lengths::functions(&files),
        ratchet::unsafe_uses(&files),
        imports::circles(&files),
        test_names::long_names(&files),
    ]
    .concat();
    assert_none(&ratchet::check(&measures, &read(ratchet::RATCHET_PATH).unwrap()));
}

#[test]
fn every_crate_takes_versions_and_lints_from_the_workspace() {
    assert_none(&manifests::check(&files().unwrap()));
}

#[test]
fn no_crate_depends_upwards() {
    assert_none(&layers::check(&packages().unwrap()));
}

#[test]
fn every_licence_is_on_the_list_of_deny_toml() {
    let allowed = licences::allowed(&read("deny.toml").unwrap());
    assert!(!allowed.is_empty(), "deny.toml has no list `allow = [...]`");
    assert_none(&licences::check(&packages().unwrap(), &allowed));
}

#[test]
fn every_library_has_its_reasons_on_the_page() {
    assert_none(&libraries::check(&packages().unwrap(), &read(libraries::LIBRARIES_PATH).unwrap()));
}

#[test]
fn every_constant_on_disk_is_on_the_page_of_the_format() {
    assert_none(&format_page::check(&files().unwrap(), &read(format_page::FORMAT_PATH).unwrap()));
}

#[test]
fn every_documented_install_command_names_the_crate_of_the_program() {
    for page in ["README.md", "docs/installing.md"] {
        let text = read(page).unwrap();
        let commands =
            text.lines().filter_map(|line| line.trim().strip_prefix("cargo install --locked --path "));
        let paths: Vec<&str> = commands.collect();
        assert!(!paths.is_empty(), "{page} has no install command");
        for path in paths {
            let manifest = read(&format!("{path}/Cargo.toml")).unwrap();
            assert!(
                manifest.contains("[[bin]]\nname = \"isotach\""),
                "{page}: {path} has no program isotach"
            );
        }
    }
}
