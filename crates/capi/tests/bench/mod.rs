//! A place where C programs are compiled against our headers, and run on the library that was built beside this test.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use isotach_needs::{Need, skip};
use tempfile::TempDir;

/// A folder with the library under the names that programs search for, and programs.
pub(crate) struct Bench {
    folder: TempDir,
    /// The name after `-l`.
    link: &'static str,
}

/// A file of this crate.
pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

impl Bench {
    /// The library that was built beside this test, `lib` and `link` and `.so`, under its own and further names.
    pub(crate) fn new(link: &'static str, names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (own, test) = (format!("lib{link}.so"), env::current_exe().unwrap());
        let library = test.ancestors().map(|folder| folder.join(&own)).find(|path| path.is_file()).unwrap();
        fs::create_dir(folder.path().join("lib")).unwrap();
        for name in names.iter().copied().chain([&*own]) {
            symlink(&library, folder.path().join("lib").join(name)).unwrap();
        }
        Self { folder, link }
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles a program of `tests/c`, strictly.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.compile(name, &source(&format!("tests/c/{name}.c")), &[])
    }

    /// As `program`, with the sanitizers of addresses, leaks and undefined behaviour; `None`, and a test that is skipped, where the compiler
    /// has none.
    pub(crate) fn sanitized(&self, name: &str) -> Option<PathBuf> {
        let flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
        let probe = self.path("probe.c");
        fs::write(&probe, "int main(void) { return 0; }\n").unwrap();
        let compiled =
            compiler("c").args(flags).arg(&probe).arg("-o").arg(self.path("probe")).output().unwrap();
        if !compiled.status.success() {
            skip(Need::Sanitizers, "the C compiler has no sanitizers: install libasan and libubsan");
            return None;
        }
        Some(self.compile(&format!("{name}-sanitized"), &source(&format!("tests/c/{name}.c")), &flags))
    }

    /// Compiles a source with the library.
    pub(crate) fn compile(&self, name: &str, source: &Path, flags: &[&str]) -> PathBuf {
        let program = self.path(name);
        let language =
            if source.extension().is_some_and(|extension| extension == "cc") { "c++" } else { "c" };
        let mut compiler = compiler(language);
        compiler.args(["-g", "-pthread"]).args(flags).arg(source).arg("-o").arg(&program);
        compiler.arg("-L").arg(self.path("lib")).arg(format!("-l{}", self.link));
        printed(&mut compiler);
        program
    }

    /// A command that finds the library and nothing of the machine's configuration.
    pub(crate) fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("FDB") || name.starts_with("ISOTACH_") && name != "ISOTACH_ECCODES" {
                command.env_remove(name);
            }
        }
        command.args(words).current_dir(self.folder.path()).env("LD_LIBRARY_PATH", self.path("lib"));
        command.env("XDG_CONFIG_HOME", self.path("none")).env("XDG_CONFIG_DIRS", self.path("none"));
        command.env("ASAN_OPTIONS", "detect_leaks=1:exitcode=97");
        command
    }
}

/// A compiler that passes nothing over, with our headers.
pub(crate) fn compiler(language: &str) -> Command {
    let (variable, default, standard) =
        if language == "c" { ("CC", "cc", "-std=c11") } else { ("CXX", "c++", "-std=c++17") };
    let mut compiler = Command::new(env::var_os(variable).unwrap_or_else(|| default.into()));
    compiler.args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-D_GNU_SOURCE", "-I"]);
    compiler.arg(source("include"));
    compiler
}

/// What a command printed, which must succeed.
pub(crate) fn printed(command: &mut Command) -> String {
    let told = command.output().unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert!(
        told.status.success(),
        "{command:?}: {}\n{}{said}",
        told.status,
        String::from_utf8_lossy(&told.stdout)
    );
    String::from_utf8(told.stdout).unwrap()
}

/// The functions that a header declares with this beginning.
pub(crate) fn declared(header: &str, beginning: &str) -> Vec<String> {
    let text = fs::read_to_string(source(header)).unwrap();
    let code: String =
        text.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, code)| code)).collect();
    let mut names: Vec<String> = code
        .split(|letter: char| !(letter.is_alphanumeric() || "_(".contains(letter)))
        .filter_map(|word| word.split_once('(').map(|(name, _)| name))
        .filter(|name| name.starts_with(beginning))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The functions that a library exports.
pub(crate) fn exported(library: &Path) -> Vec<String> {
    let told = printed(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    let mut names: Vec<String> =
        told.lines().filter_map(|line| line.split_once(" T ")).map(|(_, name)| name.to_owned()).collect();
    names.sort();
    names
}
