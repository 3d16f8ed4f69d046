//! C programs on the library: compiled strictly against the header, and run, plain and with sanitizers.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

mod bench;

use std::{fs, path::PathBuf};

use isotach_grib::{Eccodes, FieldName, ForecastPlan, MessageMaker};
use isotach_needs::{Need, skip};

use bench::{Bench, compiler, declared, exported, printed};

const HEADER: &str = "include/isotach.h";
const PAGE: &str = include_str!("../../../docs/c.md");

fn bench() -> Bench {
    Bench::new("isotach", &["libisotach.so.0"])
}

/// Runs a program of `tests/c` on a store of its own, plain and with sanitizers. `words` follow the store.
fn run(name: &str, words: &[&str]) {
    let bench = bench();
    let programs = [Some(bench.program(name)), bench.sanitized(name)];
    for (at, program) in programs.into_iter().flatten().enumerate() {
        let store = bench.path(&format!("store-{at}"));
        let words: Vec<&str> = [store.to_str().unwrap()].into_iter().chain(words.iter().copied()).collect();
        printed(&mut bench.command(&program, &words));
    }
}

/// A file with four messages of one dataset.
fn messages(bench: &Bench) -> Option<PathBuf> {
    let Ok(eccodes) = Eccodes::load() else {
        skip(Need::Eccodes, "there is no ecCodes");
        return None;
    };
    let plan = ForecastPlan {
        members: None,
        stream: "oper".to_owned(),
        kind: "fc".to_owned(),
        message_size: 2000,
        ..ForecastPlan::default()
    };
    let mut maker = MessageMaker::new(eccodes, plan).unwrap();
    let made = [0, 6, 12, 18]
        .map(|step| maker.message(FieldName { member: 0, step, level: 500, param: 130 }).unwrap());
    let path = bench.path("four.grib");
    fs::write(&path, made.concat()).unwrap();
    Some(path)
}

#[test]
fn the_header_and_the_library_have_the_same_functions() {
    let (declared, exported) = (declared(HEADER, "isotach_"), exported(&bench().path("lib/libisotach.so")));
    assert_eq!(declared, exported);
    assert!(declared.len() > 30, "{declared:?}");
}

#[test]
fn the_header_is_strict_c_and_strict_cpp() {
    let bench = bench();
    for (language, options) in [("c", "-std=c99"), ("c++", "-std=c++11")] {
        let program = bench.path(if language == "c" { "program.c" } else { "program.cc" });
        fs::write(
            &program,
            "#include <isotach.h>\nint main(void) { isotach_close(0); return ISOTACH_OK; }\n",
        )
        .unwrap();
        printed(compiler(language).args([options, "-fsyntax-only"]).arg(&program));
        let compiled = bench.compile("program", &program, &[]);
        printed(&mut bench.command(&compiled, &[]));
    }
}

#[test]
fn fields_are_archived_and_found_again_in_each_way() {
    let bench = bench();
    let Some(file) = messages(&bench) else { return };
    run("fields", &[file.to_str().unwrap()]);
}

#[test]
fn datasets_are_described_purged_and_wiped() {
    run("datasets", &[]);
}

#[test]
fn every_refusal_has_its_status_and_reason_and_leaks_nothing() {
    run("refusals", &["/nowhere/at-all"]);
}

#[test]
fn threads_share_a_store_and_each_has_its_own_reason() {
    run("threads", &[]);
}

#[test]
fn a_store_is_opened_by_the_environment_and_by_a_configuration_file() {
    let bench = bench();
    let source = bench.path("opened.c");
    fs::write(
        &source,
        "#include <isotach.h>\n#include <stdio.h>\n\
         int main(int argc, char **argv)\n{\n    isotach_store *store = NULL;\n\
         int status = argc == 2 ? isotach_open_config(argv[1], &store) : isotach_open(NULL, &store);\n\
         printf(\"%s: %s\\n\", isotach_status_name(status), isotach_error_text());\n\
         isotach_close(store);\n    return 0;\n}\n",
    )
    .unwrap();
    let program = bench.compile("opened", &source, &[]);
    let (store, file) = (bench.path("store"), bench.path("isotach.yaml"));
    let pool = format!("posix:{}", store.display());
    fs::write(&file, format!("spaces:\n  - pool: {pool}\n")).unwrap();
    let told = printed(bench.command(&program, &[]).env("ISOTACH_STORE", &pool));
    assert!(told.starts_with("not-found: ISOTACH_STORE: "), "{told}");
    let made = bench.compile("make", &make(&bench), &[]);
    printed(&mut bench.command(&made, &[store.to_str().unwrap()]));
    assert_eq!(printed(bench.command(&program, &[]).env("ISOTACH_STORE", &pool)), "ok: \n");
    assert_eq!(printed(bench.command(&program, &[]).env("ISOTACH_CONFIG", &file)), "ok: \n");
    assert_eq!(printed(&mut bench.command(&program, &[file.to_str().unwrap()])), "ok: \n");
    // The working folder has the file.
    assert_eq!(printed(&mut bench.command(&program, &[])), "ok: \n");
}

/// A program that creates a store.
fn make(bench: &Bench) -> PathBuf {
    let source = bench.path("make.c");
    let text = "#include <isotach.h>\nint main(int argc, char **argv)\n{\n    isotach_store *store = NULL;\n\
                int status = argc == 2 ? isotach_create(argv[1], NULL, &store) : ISOTACH_NONE;\n    isotach_close(store);\n    return status;\n}\n";
    fs::write(&source, text).unwrap();
    source
}

#[test]
fn the_first_program_of_the_page_runs_and_prints_what_the_page_says() {
    let code = PAGE.split("```c\n").nth(1).unwrap().split("```").next().unwrap();
    let shown = PAGE.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let bench = bench();
    let first = bench.path("first.c");
    fs::write(&first, code).unwrap();
    let program = bench.compile("first", &first, &[]);
    let told = printed(&mut bench.command(&program, &["./fields"]));
    let expected: String = shown
        .lines()
        .skip_while(|line| !line.starts_with("$ ./first"))
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(told, expected);
}
