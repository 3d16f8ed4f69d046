//! C programs on the library: compiled against our header, and run as programs that were linked with DAOS are.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

mod bench;
mod conformance;
mod headers;

use std::{
    collections::BTreeSet,
    fs::{self, Permissions},
    io::{BufRead, BufReader, Write},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, UNIX_EPOCH},
};

use isotach_needs::{Need, skip};

use bench::{Bench, library, printed, source};

impl Bench {
    fn start(&self, program: &Path, words: &[&str]) -> Child {
        self.command(program, words).stdout(Stdio::piped()).spawn().unwrap()
    }
}

fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap)
}

#[test]
fn fields_of_several_processes_of_which_one_is_killed_are_there_with_their_bytes() {
    const EACH: usize = 150;
    // More than the one that is killed can write before it is.
    const OF_KILLED: usize = 100_000;
    let (bench, fields) = Bench::with("fields");
    let mut writers: Vec<Child> = [("a", EACH), ("b", EACH), ("c", EACH), ("d", OF_KILLED)]
        .iter()
        .map(|(name, count)| bench.start(&fields, &["write", "tank", "fields", name, &count.to_string()]))
        .collect();
    let mut killed = writers.pop().unwrap();
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut of_killed = lines(&mut killed);
    told.extend(of_killed.by_ref().take(EACH / 3));
    killed.kill().unwrap();
    // What it had told before it died is stored, too.
    told.extend(of_killed);
    killed.wait().unwrap();
    assert!(told.len() < OF_KILLED, "it was killed in the midst");
    for writer in &mut writers {
        told.extend(lines(writer));
        assert!(writer.wait().unwrap().success());
    }
    assert!(told.len() >= 3 * EACH + EACH / 3);
    let read: BTreeSet<String> =
        bench.run(&fields, &["read", "tank", "fields"]).lines().map(str::to_owned).collect();
    // A field may exist although its writer was killed before it reported the put.
    assert!(read.is_superset(&told) && read.len() <= told.len() + 1, "{} of {}", read.len(), told.len());
}

/// Programs that check themselves, with their words, and what they show.
const PROGRAMS: [(&str, &[&str], &str); 11] = [
    ("edges", &["tank"], "what a program does wrong is refused, and what it seldom does comes out right"),
    ("dfs_edges", &["tank"], "and of files, too"),
    ("full", &["tank"], "a call without space never takes effect later, and disturbs no other"),
    ("events", &["tank"], "calls under way are waited for, and wrong arguments are told by the call"),
    ("dfs_events", &["tank"], "and of files, too"),
    ("table", &[], "a hash table keeps the records of a program as libgurt does"),
    ("fork", &["tank"], "a fork leaves the parent what it has open, and the child opens anew what it needs"),
    (
        "killed",
        &["tank", "60"],
        "a process that is killed while it makes containers leaves each whole or none",
    ),
    ("destroyed", &["tank"], "what is open in a container that is destroyed is of nothing any more"),
    ("pool_race", &["60"], "processes that make the same pool at once all connect to it"),
    ("kept", &["tank"], "properties and attributes are kept, copied and told"),
];

#[test]
fn programs_that_check_themselves_find_nothing_wrong() {
    let run = |(name, words, what): (&str, &[&str], &str)| {
        let (bench, program) = Bench::with(name);
        let told = bench.command(&program, words).output().unwrap();
        assert!(told.status.success(), "{name}: {what}: {}", String::from_utf8_lossy(&told.stderr));
    };
    thread::scope(|scope| PROGRAMS.into_iter().for_each(|program| drop(scope.spawn(move || run(program)))));
}

#[test]
fn a_root_without_pools_is_told_to_be_wrong_and_how() {
    let (bench, fields) = Bench::with("fields");
    let folder = bench.0.path();
    for (root, why) in [("absent", "No such file"), ("root/tank", "is a pool itself")] {
        let mut command = bench.command(&fields, &["read", "tank", "fields"]);
        let told = command.env("ISOTACH_DAOS_ROOT", folder.join(root)).output().unwrap();
        let said = String::from_utf8_lossy(&told.stderr);
        let line = said.lines().find(|line| line.contains("DER_NONEXIST: no pool is found in")).unwrap();
        assert!(!told.status.success() && line.contains(root) && line.contains(why), "{said}");
    }
}

#[test]
fn a_log_that_cannot_be_written_where_it_should_goes_to_standard_error_and_says_so() {
    let (bench, program) = Bench::with("events");
    let (log, nowhere) = (bench.0.path().join("log"), bench.0.path().join("missing/log"));
    let said = |path: &Path| {
        let told = bench.command(&program, &["tank"]).env("D_LOG_FILE", path).output().unwrap();
        assert!(told.status.success());
        String::from_utf8(told.stderr).unwrap()
    };
    assert_eq!(said(&log), "");
    let lines = fs::read_to_string(&log).unwrap().lines().count();
    let told = said(&nowhere);
    assert!(lines > 0 && told.lines().count() == lines + 1, "{told}");
    let first = told.lines().next().unwrap();
    assert!(first.contains("missing/log: No such file or directory"), "{first}");
}

#[test]
fn an_access_control_list_decides_who_opens_a_container_and_for_what() {
    let (bench, access) = Bench::with("access");
    let printed = bench.run(&access, &["tank"]);
    let expected =
        ["Access control list:\n\tA::OWNER@:rw\n\tA:G:GROUP@:r\n", "\t\tA::OWNER@:rw\n\tno entry\nend\n"];
    assert_eq!(printed, expected.concat());
}

#[test]
fn a_program_makes_and_removes_pools() {
    let (bench, pools) = Bench::with("pools");
    let folder = bench.0.path().join("root");
    bench.run(&pools, &[folder.to_str().unwrap()]);
}

#[test]
fn another_user_may_not_open_what_the_list_does_not_name_him_for() {
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        return skip(Need::Root, "only root may become another user");
    }
    let (bench, fields) = Bench::with("fields");
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
fn containers_are_opened_by_uuid_and_a_damaged_one_hinders_no_other() {
    let (bench, program) = Bench::with("containers");
    let uuids = bench.run(&program, &["make", "tank", "3"]);
    let uuids: Vec<&str> = uuids.lines().collect();
    let damaged = bench.0.path().join("root/tank/containers/container-1");
    for file in
        fs::read_dir(&damaged).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    {
        fs::write(file, "damage").unwrap();
    }
    let open = |uuids: &[&str]| bench.run(&program, &[&["open", "tank"], uuids].concat());
    // That of the damaged one is the third.
    let others = [&uuids[..2], &uuids[3..]].concat();
    assert_eq!(open(&others).lines().collect::<Vec<_>>(), [&others[..], &others[..]].concat());
    let told = bench.command(&program, &["open", "tank", uuids[2]]).output().unwrap();
    assert!(!told.status.success());
    let labels = bench.run(&program, &["list", "tank"]);
    assert!(labels.lines().count() == 6 && labels.contains("container-1\n"), "{labels}");
    bench.run(&program, &["destroy", "tank", "container-1"]);
    assert_eq!(bench.run(&program, &["list", "tank"]).lines().count(), 5);
}

#[test]
fn a_program_goes_through_the_file_system_and_finds_containers_by_paths() {
    let (bench, sys) = Bench::with("sys");
    let folder = bench.0.path().join("entries");
    fs::create_dir(&folder).unwrap();
    let printed = bench.run(&sys, &["tank", folder.to_str().unwrap()]);
    if let Some(why) = printed.lines().find_map(|line| line.strip_prefix("skipped: ")) {
        skip(Need::UserAttributes, why);
    }
}

#[test]
fn the_programs_of_daos_documentation_pages_do_what_the_pages_say() {
    const PRINTED: &str = "\
10 keys, 9 after one was punched
10 keys, 9 after one was punched
an array of cells of 1 byte, 4096 in a chunk, 2048 cells, then 1500
key7 has 4 bytes: key7, removed it has 0
committed at attempt 2: 11, after an abort 11
1 snapshot, in which step is one, then 0
mycont2: rd_fac 1, checksum chunk 32768, dedupe threshold 4096, EC cell 65536, layout 0 version 1, 0 snapshots, list A::OWNER@:rwdtTaAo, A:G:GROUP@:rwtT
import_date 12/01/2021, then 0 bytes of names
project_deadline September 30, 2025, then 0 bytes of names
A::friend@:rw, 3 entries, then 2
a pool without disabled targets
read back 12 bytes of 12: hello world!
";
    let (bench, pages) = Bench::with("pages");
    assert_eq!(bench.run(&pages, &["tank"]), PRINTED);
}

#[test]
fn dictionaries_print_what_daos_page_on_python_prints() {
    const PRINTED: &str = "\
2
1
DER_EXIST
b'San Siro'
4
6
{'Madrid': b'Santiago-Bernabéu', 'Manchester': b'Old Trafford'}
4
Barcelona b'Camp Nou'
London b'Wembley'
Manchester b'Old Trafford'
Milano b'San Siro'
True
False
True
False
4
2
";
    let (bench, dictionary) = Bench::with("dictionary");
    // The page has a dictionary with copies of what is in it.
    let mut command = bench.command(&dictionary, &["tank"]);
    assert_eq!(printed(command.env("ISOTACH_DAOS_REDUNDANCY", "ignore")), PRINTED);
}

/// What a program writes to the log.
fn logged(name: &str) -> String {
    let bench = Bench::new();
    let log = bench.0.path().join("log");
    printed(bench.command(&bench.program(name), &[]).env("D_LOG_FILE", &log));
    fs::read_to_string(log).unwrap()
}

#[test]
fn the_macros_of_libgurt_mean_what_their_arguments_mean_to_the_program() {
    let log = logged("macros");
    let numbers: Vec<usize> = log
        .lines()
        .filter_map(|line| line.split_once("number ")?.1.split([':', ' ']).next()?.trim().parse().ok())
        .collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>(), "{log}");
    assert!(!log.contains("not seen") && log.contains("DER_NONEXIST(-1005)"), "{log}");
}

#[test]
fn the_macros_of_libgurt_allocate_and_write_errors_to_the_log_and_nothing_else() {
    let log = logged("gurt");
    assert!(!log.contains("seen") && !log.contains("nor this"), "{log}");
    let lines: Vec<&str> = log.lines().collect();
    // One is the library's own, of a null pointer.
    assert_eq!(lines.len(), 5, "{log}");
    let asserted = "Assertion '1 == 2' failed";
    for part in ["ERR: ", "an error with a text and 42", "DER_NONEXIST(-1005)", "CRIT: ", asserted] {
        assert!(log.contains(part), "{part}: {log}");
    }
}

#[test]
fn redundancy_is_refused_unless_the_user_says_that_it_is_to_be_ignored() {
    let (bench, program) = Bench::with("redundancy");
    bench.run(&program, &["tank", "refused"]);
    let mut ignoring = bench.command(&program, &["tank", "ignored"]);
    let told = ignoring.env("ISOTACH_DAOS_REDUNDANCY", "ignore").output().unwrap();
    let log = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "{log}");
    for what in ["object class RP_2GX", "object class EC_4P2GX", "object class RP_XSF", "redundancy factor 1"]
    {
        let lines = log.lines().filter(|line| line.contains(what)).count();
        assert_eq!(lines, 1, "{what}: {log}");
    }
    let mut unclear = bench.command(&program, &["tank", "unclear"]);
    let told = unclear.env("ISOTACH_DAOS_REDUNDANCY", "yes").output().unwrap();
    assert!(!told.status.success());
    assert!(String::from_utf8_lossy(&told.stderr).contains("ISOTACH_DAOS_REDUNDANCY=yes"));
}

#[test]
fn a_program_that_was_linked_with_another_libdaos_runs_on_this_one_by_preload() {
    let (bench, fields) = Bench::with("fields");
    let elsewhere = tempfile::tempdir().unwrap();
    // The library is only found because it is loaded first, under the name that the program asks for.
    let mut command = bench.command(&fields, &["write", "tank", "fields", "x", "3"]);
    command.env("LD_LIBRARY_PATH", elsewhere.path()).env("LD_PRELOAD", bench.0.path().join("libdaos.so.2"));
    assert_eq!(printed(&mut command), "x.0\nx.1\nx.2\n");
    assert_eq!(bench.run(&fields, &["read", "tank", "fields"]).lines().count(), 3);
}

#[test]
fn transactions_of_several_processes_lose_no_increment_and_preserve_sums() {
    const EACH: &str = "200";
    let (bench, program) = Bench::with("transactions");
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
fn a_process_opens_the_epochs_that_another_was_told() {
    let (bench, program) = Bench::with("transactions");
    let told = bench.run(&program, &["epochs", "tank", "told", "3"]);
    assert_eq!(told.lines().count(), 3);
    for (epoch, number) in told.lines().zip(["1\n", "2\n", "3\n"]) {
        assert_eq!(bench.run(&program, &["at", "tank", "told", epoch]), number, "at epoch {epoch} of {told}");
    }
}

#[test]
fn each_distribution_key_that_several_processes_insert_is_of_one_of_them() {
    let (bench, program) = Bench::with("transactions");
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
    let (bench, program) = Bench::with("dfs");
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
    let (bench, program) = Bench::with("dfs");
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
