//! The headers: their layouts are those of DAOS, and they declare what the library has, all of it and nothing else.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    process::{Command, Stdio},
};

use super::{
    Bench,
    bench::{compiler, printed},
    library, source,
};

#[test]
fn the_header_has_the_layouts_of_daos() {
    printed(compiler().arg("-fsyntax-only").arg(source("tests/c/layout.c")));
}

/// The functions that the headers declare, by the names that programs import: what is not defined there itself.
fn declared() -> BTreeSet<String> {
    let mut includes = String::new();
    for folder in ["", "daos", "gurt"] {
        let files = fs::read_dir(source("include").join(folder)).unwrap();
        let headers =
            files.map(|file| file.unwrap().path()).filter(|path| path.extension() == Some("h".as_ref()));
        headers.for_each(|path| includes += &format!("#include \"{}\"\n", path.display()));
    }
    let mut compiler = Command::new("cc");
    compiler.args(["-E", "-std=gnu11", "-x", "c", "-I"]).arg(source("include")).arg("-");
    let mut compiler = compiler.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    compiler.stdin.take().unwrap().write_all(includes.as_bytes()).unwrap();
    let told = String::from_utf8(compiler.wait_with_output().unwrap().stdout).unwrap();
    let (mut is_ours, mut depth, mut statement, mut names) = (false, 0, String::new(), BTreeSet::new());
    for line in told.lines() {
        if let Some(mark) = line.strip_prefix("# ") {
            is_ours = mark.contains(source("include").to_str().unwrap());
            continue;
        }
        for letter in line.chars().chain([' ']).filter(|_| is_ours) {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ if depth > 0 => {}
                ';' => {
                    let name = statement.split('(').next().unwrap();
                    let is_data =
                        ["typedef", "extern"].iter().any(|word| statement.trim_start().starts_with(word));
                    let is_declared = statement.contains('(') && !is_data;
                    names.extend(
                        name.split([' ', '*']).next_back().filter(|_| is_declared).map(str::to_owned),
                    );
                    statement.clear();
                }
                _ => statement.push(letter),
            }
            // A function that the header defines itself ends without a semicolon.
            if letter == '}' && depth == 0 && statement.contains('(') {
                statement.clear();
            }
        }
    }
    names
}

/// The functions that the library exports.
fn exported() -> BTreeSet<String> {
    let told = Command::new("nm").args(["-D", "--defined-only"]).arg(library()).output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told = String::from_utf8(told.stdout).unwrap();
    told.lines().filter_map(|line| line.split_once(" T ")).map(|(_, name)| name.to_owned()).collect()
}

#[test]
fn every_function_of_the_library_is_declared_in_a_header() {
    let (declared, exported) = (declared(), exported());
    assert!(exported.len() > 200 && exported.contains("daos_pool_connect2"), "{exported:?}");
    // Of two names of a function the header gives programs the one that ends in 2.
    let is_declared = |name: &&String| declared.contains(*name) || declared.contains(&format!("{name}2"));
    let others: Vec<&String> = exported.iter().filter(|name| !is_declared(name)).collect();
    assert!(others.is_empty(), "no header declares {others:?}");
}

#[test]
fn every_function_that_the_headers_declare_is_in_the_library() {
    let bench = Bench::new();
    let names = declared();
    assert!(names.len() > 200 && names.contains("daos_pool_connect2"), "{names:?}");
    let declared: String = names.iter().map(|name| format!("void {name}(void);\n")).collect();
    let listed: String = names.iter().map(|name| format!("    {name},\n")).collect();
    let text = format!(
        "{declared}\nvoid (*const all[])(void) = {{\n{listed}}};\n\nint main(void)\n{{\n    return 0;\n}}\n"
    );
    let program = bench.0.path().join("all.c");
    fs::write(&program, text).unwrap();
    // Without one of them this is not linked; which is missing the linker says.
    let program = bench.compile("all", &[program.to_str().unwrap()]);
    bench.run(&program, &[]);
}
