//! C programs on the library: compiled against our header, and run as programs that were linked with DAOS are.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

use std::{
    collections::BTreeSet,
    env,
    fs::{self, Permissions},
    io::{BufRead, BufReader, Write},
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, UNIX_EPOCH},
};

use isotach_engine_posix::Posix;
use isotach_object::Engine;
use tempfile::TempDir;

/// A folder with the library under DAOS's name, programs, and a pool `tank`.
struct Bench(TempDir);

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The library that was built beside this test.
fn library() -> PathBuf {
    let test = env::current_exe().unwrap();
    test.ancestors().map(|folder| folder.join("libdaos.so")).find(|path| path.is_file()).unwrap()
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["libdaos.so.2", "libdaos.so", "libdfs.so"] {
            symlink(library(), folder.path().join(name)).unwrap();
        }
        fs::create_dir(folder.path().join("root")).unwrap();
        Posix.create_pool(&format!("posix:{}/root/tank", folder.path().display()).parse().unwrap()).unwrap();
        Self(folder)
    }

    /// Compiles sources against the header, with the library; gives the program.
    fn compile(&self, name: &str, sources: &[&str]) -> PathBuf {
        let program = self.0.path().join(name);
        let mut compiler = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compiler
            .args(["-std=c11", "-pthread", "-Wall", "-Wextra", "-Werror", "-g", "-I"])
            .arg(source("include"));
        compiler.args(sources.iter().map(|path| source(path))).arg("-o").arg(&program);
        let told = compiler.arg("-L").arg(self.0.path()).args(["-ldaos", "-lpthread"]).output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        program
    }

    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .env("LD_LIBRARY_PATH", self.0.path())
            .env("ISOTACH_DAOS_ROOT", format!("posix:{}/root?sync=no", self.0.path().display()));
        command
    }

    /// What a program printed, which must succeed.
    fn run(&self, program: &Path, words: &[&str]) -> String {
        let told = self.command(program, words).output().unwrap();
        assert!(told.status.success(), "{words:?}: {}", String::from_utf8_lossy(&told.stderr));
        String::from_utf8(told.stdout).unwrap()
    }

    fn start(&self, program: &Path, words: &[&str]) -> Child {
        self.command(program, words).stdout(Stdio::piped()).spawn().unwrap()
    }
}

fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap)
}

#[test]
fn the_header_has_the_layouts_of_daos() {
    let bench = Bench::new();
    let program = bench.0.path().join("layout.o");
    let told = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-c", "-I"])
        .arg(source("include"))
        .arg(source("tests/c/layout.c"))
        .arg("-o")
        .arg(program)
        .output()
        .unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
}

#[test]
fn fields_of_several_processes_of_which_one_is_killed_are_there_with_their_bytes() {
    const EACH: usize = 150;
    let bench = Bench::new();
    let fields = bench.compile("fields", &["tests/c/fields.c"]);
    let count = EACH.to_string();
    let mut writers: Vec<Child> = ["a", "b", "c", "d"]
        .iter()
        .map(|name| bench.start(&fields, &["write", "tank", "fields", name, &count]))
        .collect();
    let mut killed = writers.pop().unwrap();
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut of_killed = lines(&mut killed);
    told.extend(of_killed.by_ref().take(EACH / 3));
    killed.kill().unwrap();
    // What it had told before it died is stored, too.
    told.extend(of_killed);
    killed.wait().unwrap();
    assert!(told.len() < EACH, "it was killed in the midst");
    for writer in &mut writers {
        told.extend(lines(writer));
        assert!(writer.wait().unwrap().success());
    }
    assert!(told.len() >= 3 * EACH + EACH / 3);
    let read: BTreeSet<String> =
        bench.run(&fields, &["read", "tank", "fields"]).lines().map(str::to_owned).collect();
    // A field that was put and not told of any more may be there.
    assert!(read.is_superset(&told) && read.len() <= told.len() + 1, "{} of {}", read.len(), told.len());
}

#[test]
fn what_a_program_does_wrong_is_refused_and_what_it_seldom_does_comes_out_right() {
    let bench = Bench::new();
    let edges = bench.compile("edges", &["tests/c/edges.c"]);
    bench.run(&edges, &["tank"]);
    let of_files = bench.compile("dfs_edges", &["tests/c/dfs_edges.c"]);
    bench.run(&of_files, &["tank"]);
}

#[test]
fn an_access_control_list_decides_who_opens_a_container_and_for_what() {
    let bench = Bench::new();
    let access = bench.compile("access", &["tests/c/access.c"]);
    bench.run(&access, &["tank"]);
}

#[test]
fn another_user_may_not_open_what_the_list_does_not_name_him_for() {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root may become another user");
        return;
    }
    let bench = Bench::new();
    let fields = bench.compile("fields", &["tests/c/fields.c"]);
    bench.run(&fields, &["write", "tank", "fields", "x", "3"]);
    // All of this is where the other user may look.
    let loaded = bench.0.path().join("libdaos.so.2");
    fs::remove_file(&loaded).unwrap();
    fs::copy(library(), &loaded).unwrap();
    fs::set_permissions(bench.0.path(), Permissions::from_mode(0o755)).unwrap();
    let told = bench.command(&fields, &["read", "tank", "fields"]).uid(NOBODY).gid(NOBODY).output().unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert!(!told.status.success() && said.contains("access control list does not permit"), "{said}");
    assert_eq!(bench.run(&fields, &["read", "tank", "fields"]).lines().count(), 3);
}

#[test]
fn properties_and_attributes_are_kept_copied_and_told() {
    let bench = Bench::new();
    let kept = bench.compile("kept", &["tests/c/kept.c"]);
    bench.run(&kept, &["tank"]);
}

#[test]
fn a_hash_table_keeps_the_records_of_a_program_as_libgurt_does() {
    let bench = Bench::new();
    let table = bench.compile("table", &["tests/c/table.c"]);
    bench.run(&table, &[]);
}

#[test]
fn a_program_that_was_linked_with_another_libdaos_runs_on_this_one_by_preload() {
    let bench = Bench::new();
    let fields = bench.compile("fields", &["tests/c/fields.c"]);
    let elsewhere = tempfile::tempdir().unwrap();
    // The library is only found because it is loaded first, under the name that the program asks for.
    let mut command = bench.command(&fields, &["write", "tank", "fields", "x", "3"]);
    command.env("LD_LIBRARY_PATH", elsewhere.path()).env("LD_PRELOAD", bench.0.path().join("libdaos.so.2"));
    let told = command.output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    assert_eq!(String::from_utf8(told.stdout).unwrap(), "x.0\nx.1\nx.2\n");
    assert_eq!(bench.run(&fields, &["read", "tank", "fields"]).lines().count(), 3);
}

#[test]
fn no_increment_is_lost_in_transactions_of_several_processes_and_sums_stay_what_they_are() {
    const EACH: &str = "200";
    let bench = Bench::new();
    let program = bench.compile("transactions", &["tests/c/transactions.c"]);
    bench.run(&program, &["increment", "tank", "accounts", "1"]);
    let commands = [["increment", "tank", "accounts", EACH], ["increment", "tank", "accounts", EACH]];
    let mut others: Vec<Child> = commands.iter().map(|words| bench.start(&program, words)).collect();
    others.push(bench.start(&program, &["watch", "tank", "accounts", "500"]));
    for other in &mut others {
        assert!(other.wait().unwrap().success());
    }
    assert_eq!(bench.run(&program, &["number", "tank", "accounts"]), "401\n");
    assert_eq!(bench.run(&program, &["other", "tank", "accounts"]), "401\n");
    bench.run(&program, &["threads", "tank", "threads"]);
}

#[test]
fn each_distribution_key_that_several_processes_insert_is_of_one_of_them() {
    let bench = Bench::new();
    let program = bench.compile("transactions", &["tests/c/transactions.c"]);
    bench.run(&program, &["edges", "tank", "edges"]);
    let mut others: Vec<Child> =
        ["a", "b", "c"].iter().map(|name| bench.start(&program, &["insert", "tank", "keys", name])).collect();
    let mut told: Vec<String> = others.iter_mut().flat_map(lines).collect();
    for other in &mut others {
        assert!(other.wait().unwrap().success());
    }
    assert_eq!(told.len(), 100);
    told.sort();
    told.dedup();
    assert_eq!(told.len(), 100, "none is of two");
}

/// The checks that the conformance program is known to fail here, because what they ask for is not there yet.
fn not_yet() -> BTreeSet<String> {
    let text = fs::read_to_string(source("conformance/not-yet.txt")).unwrap();
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn the_conformance_program_fails_in_nothing_but_what_is_known_not_to_be_there_yet() {
    let bench = Bench::new();
    let folder = source("conformance");
    let mut sources: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.ends_with(".c"))
        .map(|name| format!("conformance/{name}"))
        .collect();
    sources.sort();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let program = bench.compile("conformance", &sources);
    let log = bench.0.path().join("log");
    let told = bench.command(&program, &["--pool", "tank"]).env("D_LOG_FILE", &log).output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    let with = |word: &str| -> BTreeSet<String> {
        let names =
            text.lines().filter_map(|line| line.strip_prefix(word)).map(|name| name.trim().to_owned());
        names.filter(|name| name.contains('.')).collect()
    };
    let (passed, failed) = (with("passed"), with("FAILED"));
    assert!(passed.len() > 300, "{} passed: {}", passed.len(), String::from_utf8_lossy(&told.stderr));
    let known = not_yet();
    let new: Vec<_> = failed.difference(&known).collect();
    assert!(new.is_empty(), "{new:#?} failed:\n{text}");
    let mended: Vec<_> = known.intersection(&passed).collect();
    assert!(mended.is_empty(), "{mended:#?} pass now: take them out of conformance/not-yet.txt");
    assert_eq!(known.difference(&failed).count(), 0, "checks that are not there");
}

/// Programs that come to each entry at once: what each printed after all were ready.
fn together(bench: &Bench, program: &Path, parts: &[&[&str]]) -> Vec<BTreeSet<String>> {
    let mut children: Vec<Child> = parts
        .iter()
        .map(|words| {
            let mut command = bench.command(program, words);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut told: Vec<_> = children.iter_mut().map(lines).collect();
    told.iter_mut().for_each(|told| assert_eq!(told.next().unwrap(), "ready"));
    let start = UNIX_EPOCH.elapsed().unwrap() + Duration::from_millis(20);
    for child in &mut children {
        writeln!(child.stdin.as_mut().unwrap(), "{}", start.as_micros()).unwrap();
    }
    let told = told.into_iter().map(Iterator::collect).collect();
    children.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
    told
}

#[test]
fn of_processes_that_make_remove_or_move_the_same_entries_exactly_one_succeeds() {
    const COUNT: usize = 200;
    let bench = Bench::new();
    let program = bench.compile("dfs", &["tests/c/dfs.c"]);
    let count = COUNT.to_string();
    bench.run(&program, &["make", "tank", "files", &count]);
    let races: [[&[&str]; 2]; 3] = [
        [&["create", "tank", "files", &count], &["create", "tank", "files", &count]],
        [&["fill", "tank", "files", &count], &["empty", "tank", "files", &count]],
        [&["steal", "tank", "files", &count, "one"], &["steal", "tank", "files", &count, "other"]],
    ];
    for race in races {
        let told = together(&bench, &program, &race);
        let both: Vec<_> = told[0].intersection(&told[1]).collect();
        assert!(both.is_empty(), "{race:?}: both have {both:?}");
        assert_eq!(told[0].len() + told[1].len(), COUNT, "{race:?}");
    }
}

#[test]
fn a_mount_and_an_open_file_go_to_another_process() {
    let bench = Bench::new();
    let program = bench.compile("dfs", &["tests/c/dfs.c"]);
    bench.run(&program, &["make", "tank", "files", "0"]);
    let mut sharer = bench.command(&program, &["share", "tank", "files"]);
    let mut sharer = sharer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut told = lines(&mut sharer);
    let (mount, file) = (told.next().unwrap(), told.next().unwrap());
    assert_eq!(bench.run(&program, &["take", "tank", "files", &mount, &file]), "question\n");
    sharer.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    assert_eq!(told.nth(1).unwrap(), "question, answer");
    assert!(sharer.wait().unwrap().success());
}
