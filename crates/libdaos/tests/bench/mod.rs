//! A place where C programs are compiled against our header, and run as programs that were linked with DAOS are.

use std::{
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use isotach_engine_posix::Posix;
use isotach_object::Engine;
use tempfile::TempDir;

/// A folder with the library under DAOS's name, programs, and a pool `tank`.
pub(crate) struct Bench(pub(crate) TempDir);

pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The library that was built beside this test.
pub(crate) fn library() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.ancestors().map(|folder| folder.join("libdaos.so")).find(|path| path.is_file()).unwrap()
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["libdaos.so.2", "libdaos.so", "libdfs.so"] {
            symlink(library(), folder.path().join(name)).unwrap();
        }
        fs::create_dir(folder.path().join("root")).unwrap();
        Posix.create_pool(&format!("posix:{}/root/tank", folder.path().display()).parse().unwrap()).unwrap();
        Self(folder)
    }

    /// Compiles sources against the header, with the library; returns the program.
    pub(crate) fn compile(&self, name: &str, sources: &[&str]) -> PathBuf {
        let program = self.0.path().join(name);
        let mut compiler = compiler();
        compiler.args(["-pthread", "-g"]);
        compiler.args(sources.iter().map(|path| source(path))).arg("-o").arg(&program);
        let told = compiler.arg("-L").arg(self.0.path()).args(["-ldaos", "-lpthread"]).output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        program
    }

    /// Compiles a program of `tests/c`.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.compile(name, &[&format!("tests/c/{name}.c")])
    }

    /// A folder with a program of `tests/c`.
    pub(crate) fn with(name: &str) -> (Self, PathBuf) {
        let bench = Self::new();
        let program = bench.program(name);
        (bench, program)
    }

    pub(crate) fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .env("LD_LIBRARY_PATH", self.0.path())
            .env("ISOTACH_DAOS_ROOT", format!("posix:{}/root?sync=no", self.0.path().display()));
        command
    }

    /// What a program printed, which must succeed.
    pub(crate) fn run(&self, program: &Path, words: &[&str]) -> String {
        printed(&mut self.command(program, words))
    }
}

/// A compiler of C, with our headers.
pub(crate) fn compiler() -> Command {
    let mut compiler = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(source("include"));
    compiler
}

/// What a command printed, which must succeed.
pub(crate) fn printed(command: &mut Command) -> String {
    let told = command.output().unwrap();
    assert!(told.status.success(), "{command:?}: {}", String::from_utf8_lossy(&told.stderr));
    String::from_utf8(told.stdout).unwrap()
}
