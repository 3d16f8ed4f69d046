//! FDB's own library beside ours: one program, built once against our header, prints the same on both.

use std::{env, fs, path::PathBuf};

use isotach_needs::{Need, skip};

use super::{
    HEADER, bench,
    bench::{declared, exported, source},
    messages, told_by_every,
};

const WITHOUT: &str = "there is no fdb5lib: pip install -r tests/requirements.txt";

/// The folders of FDB's library and of those that it needs, in the Python environment of the tests.
fn fdbs() -> Option<Vec<PathBuf>> {
    let environment = env::var_os("VIRTUAL_ENV").map_or_else(|| source("../../.venv"), PathBuf::from);
    let pythons = fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    pythons.map(|python| python.path().join("site-packages")).find_map(|packages| {
        let folder = |package: &str| packages.join(package).join("lib64");
        let folders = ["fdb5lib", "metkitlib", "eckitlib", "eccodeslib"].map(folder);
        folders.iter().all(|folder| folder.is_dir()).then(|| folders.to_vec())
    })
}

#[test]
fn our_header_declares_what_fdbs_library_has() {
    let Some(folders) = fdbs() else {
        return skip(Need::PythonPackages, WITHOUT);
    };
    let mut theirs = exported(&folders[0].join("libfdb5.so"));
    theirs.retain(|name| name.starts_with("fdb_"));
    assert_eq!(declared(HEADER, "fdb_"), theirs);
}

#[test]
fn a_program_prints_the_same_on_fdbs_library_and_on_ours() {
    let Some(folders) = fdbs() else {
        return skip(Need::PythonPackages, WITHOUT);
    };
    let bench = bench();
    let Some(file) = messages(&bench) else { return };
    let program = bench.program("every");
    let ours = told_by_every(&bench, &program, &file, "ours", |command| command);
    let path = env::join_paths(folders).unwrap();
    let theirs =
        told_by_every(&bench, &program, &file, "theirs", |command| command.env("LD_LIBRARY_PATH", path));
    assert!(theirs.contains("fdb_vcs_version") && theirs.lines().count() > 80, "{theirs}");
    assert_eq!(ours, theirs);
}
