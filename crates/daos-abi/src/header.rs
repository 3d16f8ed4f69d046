//! Checks that the C header says what this module says: a C compiler is asked, since the header is for it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use isotach_needs::{Need, skip};

use crate::classes::{MAX_NUM_GROUPS, object_class};

const INCLUDE: &str = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../libdaos/include");

/// How constants begin that programs have no use for: which number means which kind of handle.
const PRIVATE: &str = "DAOS_HTYPE_";

/// Compiles a program without writing anything, with every warning an error.
fn compile(compiler: &str, language: &[&str], program: &str) {
    let mut child = Command::new(compiler)
        .args(language)
        .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", INCLUDE, "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The constants in a source file that are plain numbers.
fn numbers(source: &str) -> impl Iterator<Item = (&str, u64)> {
    source.lines().filter_map(|line| {
        let (name, value) = line.trim_start().split_once(": ")?;
        let digits = value.split_once(" = ")?.1.split_once(',')?.0.replace('_', "");
        let number = match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => digits.parse().ok()?,
        };
        (!name.starts_with(PRIVATE)).then_some((name, number))
    })
}

/// The classes with an explicit layout that one redundancy has: `OR_RP_2` has `OC_RP_2G1` and so on.
fn classes(redundancy: &str, number: u64) -> Vec<(String, u64)> {
    let prefix = match redundancy.split_once('_') {
        Some(("OR", "RP_1")) => "OC_S".to_owned(),
        Some(("OR", rest)) => format!("OC_{}G", rest.replace("RS", "EC")),
        _ => return Vec::new(),
    };
    // Replication eightfold and more has classes of one group alone.
    let groups: &[u32] =
        if (13..0x20).contains(&number) { &[1] } else { &[1, 2, 4, 6, 8, 12, 16, 32, MAX_NUM_GROUPS] };
    let name = |group: u32| if group == MAX_NUM_GROUPS { "X".to_owned() } else { group.to_string() };
    groups
        .iter()
        .map(|&group| (format!("{prefix}{}", name(group)), u64::from(object_class(number as u32, group))))
        .collect()
}

#[test]
fn the_header_has_the_same_layouts() {
    compile("cc", &["-x", "c", "-std=c11"], include_str!("../../libdaos/tests/c/layout.c"));
}

#[test]
fn the_header_has_the_same_numbers() {
    let sources = [
        include_str!("acl.rs"),
        include_str!("classes.rs"),
        include_str!("constants.rs"),
        include_str!("dfs.rs"),
        include_str!("hash.rs"),
        include_str!("properties.rs"),
    ];
    let constants: Vec<(&str, u64)> = sources.iter().flat_map(|source| numbers(source)).collect();
    assert!(constants.len() > 200, "only {} constants were found", constants.len());
    let classes: Vec<(String, u64)> =
        constants.iter().flat_map(|&(name, number)| classes(name, number)).collect();
    assert!(classes.len() > 150, "only {} classes were found", classes.len());

    let mut program = String::from(
        "#include <daos.h>\n#include <daos_fs.h>\n#include <daos_fs_sys.h>\n#include <daos_uns.h>\n#include <gurt/hash.h>\n",
    );
    let constants = constants.into_iter().map(|(name, number)| (name.to_owned(), number));
    for (name, number) in constants.chain(classes) {
        let _ = writeln!(program, "_Static_assert((uint64_t)({name}) == {number}u, \"{name}\");");
    }
    compile("cc", &["-x", "c", "-std=c11"], &program);
}

#[test]
fn the_header_is_good_in_cpp() {
    if Command::new("c++").arg("--version").output().is_err() {
        return skip(Need::Compiler, "there is no C++ compiler");
    }
    let ours = ["daos.h", "daos_fs.h", "daos_fs_sys.h", "daos_uns.h", "gurt/common.h", "gurt/hash.h"];
    let ours = ours.map(|header| format!("#include <{header}>\n")).concat();
    // Headers of the language before ours and after: a macro of ours must not rewrite their words, nor those of the program.
    let theirs = "#include <algorithm>\n#include <limits>\n";
    let program = "daos_handle_t none() { return DAOS_TX_NONE; }\n\
                   int most() { return std::max(std::min(1, 2), std::numeric_limits<int>::max()); }\n";
    for headers in
        [format!("{ours}{theirs}"), format!("{theirs}{ours}"), "#include <daos.h>\n".to_owned() + theirs]
    {
        compile("c++", &["-x", "c++", "-std=c++17"], &(headers + program));
    }
}
