//! C programs on the library: built against our header, and run as programs that were built for FDB are.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

#[path = "../../capi/tests/bench/mod.rs"]
mod bench;
mod configuration;
mod peer;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use isotach_grib::{Eccodes, FieldName, ForecastPlan, MessageMaker};
use isotach_needs::{Need, skip};

use bench::{Bench, compiler, declared, exported, printed, source};

const HEADER: &str = "include/fdb5/api/fdb_c.h";

fn bench() -> Bench {
    // The second name is Debian's.
    Bench::new("fdb5", &["libfdb5.so.0d"])
}

/// A configuration in FDB's form, of a root that is made in `folder`.
fn configuration_in(folder: &Path) -> String {
    let root = folder.join("root");
    fs::create_dir_all(&root).unwrap();
    let schema = source("../../tests/parity/schema").canonicalize().unwrap();
    format!(
        "{{type: local, engine: toc, schema: {}, spaces: [{{handler: Default, roots: [{{path: {}}}]}}]}}",
        schema.display(),
        root.display()
    )
}

/// A command that has an empty store of its own in FDB_CONFIG.
fn with_store(bench: &Bench, program: &Path, words: &[&str], name: &str) -> Command {
    let mut command = bench.command(program, words);
    command.env("FDB_CONFIG", configuration_in(&bench.path(name))).env("FDB_HOME", bench.path("none"));
    command
}

/// A file with the messages that `every.c` expects.
fn messages(bench: &Bench) -> Option<PathBuf> {
    let Ok(eccodes) = Eccodes::load() else {
        skip(Need::Eccodes, "there is no ecCodes");
        return None;
    };
    let plan = ForecastPlan {
        stream: "oper".to_owned(),
        kind: "fc".to_owned(),
        members: None,
        message_size: 2000,
        ..ForecastPlan::default()
    };
    let mut maker = MessageMaker::new(eccodes, plan).unwrap();
    let mut bytes = Vec::new();
    for (step, level) in [(0, 500), (0, 850), (6, 500), (6, 850)] {
        bytes.extend(maker.message(FieldName { member: 0, step, level, param: 130 }).unwrap());
    }
    let path = bench.path("four.grib");
    fs::write(&path, bytes).unwrap();
    Some(path)
}

/// What `every` tells, run with a store of its own.
fn told_by_every(
    bench: &Bench,
    program: &Path,
    file: &Path,
    name: &str,
    set: impl FnOnce(&mut Command) -> &mut Command,
) -> String {
    let out = bench.path(&format!("{name}.txt"));
    let mut command = with_store(bench, program, &[file.to_str().unwrap(), out.to_str().unwrap()], name);
    set(&mut command);
    printed(&mut command);
    fs::read_to_string(&out).unwrap()
}

#[test]
fn the_header_and_the_library_have_the_same_functions() {
    let (declared, exported) = (declared(HEADER, "fdb_"), exported(&bench().path("lib/libfdb5.so")));
    assert_eq!(declared, exported);
    assert_eq!(declared.len(), 47);
}

#[test]
fn the_header_is_strict_c_and_strict_cpp() {
    let bench = bench();
    for (language, options) in [("c", "-std=c99"), ("c++", "-std=c++11")] {
        let program = bench.path(if language == "c" { "program.c" } else { "program.cc" });
        fs::write(&program, "#include <fdb5/api/fdb_c.h>\nint main(void) { return fdb_initialise(); }\n")
            .unwrap();
        printed(compiler(language).args([options, "-fsyntax-only"]).arg(&program));
        let compiled = bench.compile("program", &program, &[]);
        printed(&mut bench.command(&compiled, &[]));
    }
}

/// A program of `tests/c`, plain and with sanitizers, each with a name for its store.
fn both(bench: &Bench, name: &str) -> Vec<(&'static str, PathBuf)> {
    let programs = [("plain", Some(bench.program(name))), ("sanitized", bench.sanitized(name))];
    programs.into_iter().filter_map(|(kind, program)| Some((kind, program?))).collect()
}

#[test]
fn every_refusal_has_its_number_and_reason_and_leaks_nothing() {
    let bench = bench();
    for (kind, program) in both(&bench, "refusals") {
        printed(&mut with_store(&bench, &program, &[], kind));
    }
}

#[test]
fn every_function_does_its_part_without_leaks() {
    let bench = bench();
    let Some(file) = messages(&bench) else { return };
    let Some(program) = bench.sanitized("every") else { return };
    let told = told_by_every(&bench, &program, &file, "sanitized", |command| command);
    assert!(told.ends_with("fdb_delete_handle(fdb): 0\n"), "{told}");
}

#[test]
fn a_reader_gives_the_fields_that_were_found_after_others_replaced_them() {
    let bench = bench();
    for (kind, program) in both(&bench, "replaced") {
        printed(&mut with_store(&bench, &program, &[], kind));
    }
}

#[test]
fn a_reader_of_formats_finds_each_field_that_it_lists() {
    let bench = bench();
    for ((kind, opened), (_, cdi)) in both(&bench, "opened").into_iter().zip(both(&bench, "cdi")) {
        printed(&mut with_store(&bench, &opened, &[], kind));
        let told = printed(&mut with_store(&bench, &cdi, &["class=rd", "expver=xxxx", "step=0/6"], kind));
        assert_eq!(told.lines().collect::<BTreeSet<_>>(), BTreeSet::from(["bytes"]));
        let told = printed(&mut with_store(&bench, &cdi, &["class=od"], kind));
        assert_eq!(told, "", "nothing matches");
    }
}
