//! Transfers between processes, and what they report when a peer dies or falls silent.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use isotach_needs::{Need, skip};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::{array, bench, check_failed, lines, number, record, stderr, stdout};

const TCP: &str = "transfer --transport tcp";
/// Endless for a test: the one that is killed or stopped ends it.
const LONG: &str = "--direction one-way --size 1048576 --seconds 600 --repetitions 1";
/// Processor time of a process, in ticks of 10 ms, that only a transfer takes.
const BUSY_TICKS: u64 = 20;
/// How long a busy machine may take until a pair transfers.
const BUSY_MAX: Duration = Duration::from_secs(120);
/// Longer than a busy machine keeps a live process from its processor.
const TIMEOUT_S: u64 = 5;

fn transfer(folder: &Path, words: &str) -> Command {
    let mut command = bench(words);
    command.arg("--out").arg(folder.join("run")).current_dir(folder);
    // Open MPI refuses to run as root otherwise.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn two_processes_send_over_loopback_one_way_both_ways_and_back_and_forth() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("{TCP} --size 4096,1048576 --messages 300 --round-trips 50 --repetitions 2 --json");
    let lines = lines(&transfer(folder.path(), &words).output().unwrap());
    assert_eq!(lines.len(), 5 * 2, "two sizes in two directions, and round trips, twice");
    for line in &lines {
        let (direction, size) = (line["direction"].as_str().unwrap(), number(&line["size"]));
        let per_operation = number(&line["messages_per_operation"]);
        let (senders, messages) = match direction {
            // Messages fill operations of 1 MiB.
            "one-way" => (1, 300_u64.next_multiple_of(per_operation)),
            "both-ways" => (2, 300_u64.next_multiple_of(per_operation)),
            _ => (2, 50),
        };
        assert_eq!(number(&line["bytes"]), senders * messages * size, "{line}");
        let pairs = array(&line["pairs"]);
        assert_eq!(pairs.len(), if direction == "both-ways" { 2 } else { 1 }, "{line}");
        assert_eq!((&pairs[0]["from"], &pairs[0]["to"], &line["wrong"]), (&0.into(), &1.into(), &0.into()));
        let figure = if direction == "ping-pong" { &pairs[0]["one_way_us"] } else { &pairs[0]["mib_per_s"] };
        assert!(figure.as_f64().unwrap() > 0.0, "{line}");
    }
    let record = record(folder.path());
    assert_eq!((&record["complete"], &record["workload"]), (&Value::Bool(true), &"transfer".into()));
    assert_eq!(record["settings"]["TCP"]["addresses"][0], "127.0.0.1");
}

#[test]
fn pairs_are_on_two_nodes_and_are_shown_by_their_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!(
        "{TCP} --hosts a,b --addresses 127.0.0.1,127.0.0.1 -n 2 --messages 2 --repetitions 1 --pairs"
    );
    let output = transfer(folder.path(), &words).args(["--launcher", "env HOST={host}"]).output().unwrap();
    let text = stdout(&output);
    for expected in
        ["│ 0 on a ┆ 2 on b ┆", "│ 1 on a ┆ 3 on b ┆", "│ 3 on b ┆ 1 on a ┆", "│ ping-pong ┆ 8 B "]
    {
        let expected = expected.trim_start_matches("│ ");
        assert!(text.contains(expected), "no {expected:?} in {text}");
    }
    let record = record(folder.path());
    assert!(array(&record["results"]).iter().all(|one| !one["clock_uncertainty_s"].is_null()), "{record}");
}

#[test]
fn processes_without_a_partner_are_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    for (words, text) in [
        ("-n 3", "3 processes on one node; expected an even number (-n)"),
        ("--hosts a,b,c", "3 nodes; expected an even number"),
        ("--size 7", "at least 8"),
        ("--messages 1 --seconds 1", "cannot be used with"),
    ] {
        let words = format!("{TCP} {words}");
        check_failed(&words, &transfer(folder.path(), &words).output().unwrap(), 2, &[text]);
        assert!(!folder.path().join("run").exists());
    }
    // The partner waits for a connection until the timeout.
    let words = format!(
        "{TCP} --hosts a,b --addresses nowhere.invalid,nowhere.invalid -n 1 --messages 1 --timeout {TIMEOUT_S}"
    );
    let output = transfer(folder.path(), &words).args(["--launcher", "env HOST={host}"]).output().unwrap();
    check_failed(&words, &output, 1, &["process 0 on", "connect to process 1 on b at nowhere.invalid port"]);
}

/// The children of a process, and theirs.
fn descendants(process: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let children: Vec<u32> = children.split_whitespace().map(|one| one.parse().unwrap()).collect();
    children.into_iter().flat_map(|child| [vec![child], descendants(child)].concat()).collect()
}

/// Whether a process is this program with a word in its command line, and has worked for a while.
fn is_busy(process: u32, word: &str) -> bool {
    let arguments = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let mut arguments = arguments.split('\0');
    let is_program = arguments.next().is_some_and(|name| name.ends_with("/bench"));
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let times = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().skip(11).take(2);
    let ticks: u64 = times.map(|ticks| ticks.parse::<u64>().unwrap_or(0)).sum();
    is_program && arguments.any(|one| one == word) && ticks >= BUSY_TICKS
}

/// Waits until both processes of a run transfer, and returns them.
fn busy_pair(driver: &mut Child, word: &str) -> [u32; 2] {
    let began = Instant::now();
    loop {
        let busy: Vec<u32> = descendants(driver.id()).into_iter().filter(|one| is_busy(*one, word)).collect();
        if let [first, second] = busy[..] {
            return [first, second];
        }
        let ended = driver.try_wait().unwrap();
        assert!(ended.is_none(), "it ended too early: {ended:?}");
        let is_late = began.elapsed() > BUSY_MAX;
        if is_late {
            driver.kill().unwrap();
        }
        assert!(!is_late, "no pair transfers after {BUSY_MAX:?}: {busy:?} of {word}");
        std::thread::yield_now();
    }
}

fn signal(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process as i32).unwrap(), signal).unwrap();
}

#[test]
fn a_pair_whose_process_dies_is_named_and_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("{TCP} {LONG}");
    let mut driver = transfer(folder.path(), &words).spawn().unwrap();
    let [_, second] = busy_pair(&mut driver, "process");
    let began = Instant::now();
    signal(second, Signal::KILL);
    let output = driver.wait_with_output().unwrap();
    check_failed(
        &words,
        &output,
        1,
        &[
            "process 1 on ",
            "it ended before it had finished",
            "process 0 on ",
            "has ended or closed the connection",
        ],
    );
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(
        (&record(folder.path())["complete"], array(&record(folder.path())["problems"]).len()),
        (&false.into(), 2)
    );
}

#[test]
fn a_process_that_falls_silent_ends_the_run_after_the_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("{TCP} {LONG} --timeout {TIMEOUT_S}");
    let mut driver = transfer(folder.path(), &words).spawn().unwrap();
    let [_, second] = busy_pair(&mut driver, "process");
    signal(second, Signal::STOP);
    let output = driver.wait_with_output().unwrap();
    let nothing = format!("nothing moved for {TIMEOUT_S} s (--timeout)");
    let others = format!("within {TIMEOUT_S} s of the first failure");
    let texts = ["process 0 on ", "send to process 1 on ", &nothing, &others];
    check_failed(&words, &output, 1, &texts);
}

/// The launchers of MPI on this machine, of both kinds.
fn mpi_launchers() -> Vec<&'static str> {
    let is_there = |program: &&str| Command::new(program).arg("--version").output().is_ok();
    let (there, missing): (Vec<_>, Vec<_>) =
        ["mpirun.openmpi", "mpirun.mpich"].into_iter().partition(is_there);
    for program in missing {
        skip(Need::Mpi, &format!("there is no {program}"));
    }
    there
}

#[test]
fn ranks_of_mpi_send_and_their_library_is_on_record() {
    for launcher in mpi_launchers() {
        let folder = tempfile::tempdir().unwrap();
        let words = format!(
            "transfer --transport mpi --mpi-launcher {launcher} --size 1048576 --messages 20 --round-trips 50 --repetitions 1 --json"
        );
        let lines = lines(&transfer(folder.path(), &words).output().unwrap());
        let bytes: Vec<u64> = lines.iter().map(|line| number(&line["bytes"])).collect();
        assert_eq!(bytes, [20 << 20, 40 << 20, 50 * 2 * 8], "{launcher}");
        let library = record(folder.path())["settings"]["MPI"]["library"].as_str().unwrap().to_owned();
        let kind = if launcher.ends_with("mpich") { "MPICH" } else { "Open MPI" };
        assert!(library.contains(kind), "{launcher}: {library}");
    }
}

#[test]
fn a_pair_of_mpi_ranks_is_named_when_one_of_them_dies() {
    for launcher in mpi_launchers() {
        let folder = tempfile::tempdir().unwrap();
        let words = format!("transfer --transport mpi --mpi-launcher {launcher} {LONG}");
        let mut driver = transfer(folder.path(), &words).spawn().unwrap();
        let [first, _] = busy_pair(&mut driver, "transfer-rank");
        signal(first, Signal::KILL);
        let output = driver.wait_with_output().unwrap();
        check_failed(
            &words,
            &output,
            1,
            &["the MPI launcher has ended the ranks", ", of the pair process 0 on "],
        );
        assert!(stderr(&output).contains(" and process 1 on "), "{launcher}");
    }
}

#[test]
fn an_mpi_rank_that_falls_silent_is_reported_by_its_partner() {
    for launcher in mpi_launchers() {
        let folder = tempfile::tempdir().unwrap();
        let words =
            format!("transfer --transport mpi --mpi-launcher {launcher} {LONG} --timeout {TIMEOUT_S}");
        let mut driver = transfer(folder.path(), &words).spawn().unwrap();
        let ranks = busy_pair(&mut driver, "transfer-rank");
        signal(ranks[1], Signal::STOP);
        let output = driver.wait_with_output().unwrap();
        let nothing =
            format!("over MPI: nothing moved for {TIMEOUT_S} s (--timeout) while it waited for process ");
        check_failed(&words, &output, 1, &[&nothing]);
        assert!(!ranks.iter().any(|rank| is_busy(*rank, "transfer-rank")), "{launcher}: {ranks:?} go on");
    }
}

/// A launcher of MPI whose ranks get no input.
fn launcher_without_input(folder: &Path, launcher: &str) -> String {
    let script = folder.join("launch");
    fs::write(&script, format!("ranks=$1; shift; exec {launcher} -n $ranks \"$@\" < /dev/null")).unwrap();
    format!("sh {} {{ranks}}", script.display())
}

#[test]
fn a_launcher_that_forwards_no_input_is_usable() {
    for launcher in mpi_launchers() {
        let folder = tempfile::tempdir().unwrap();
        let words = "transfer --transport mpi --direction one-way --size 1048576 --messages 20 --repetitions 1 --json";
        let mut command = transfer(folder.path(), words);
        command.args(["--mpi-launcher", &launcher_without_input(folder.path(), launcher)]);
        let lines = lines(&command.output().unwrap());
        assert_eq!(number(&lines[0]["bytes"]), 20 << 20, "{launcher}");
    }
}

#[test]
fn an_mpi_launcher_may_have_options() {
    for launcher in mpi_launchers() {
        let folder = tempfile::tempdir().unwrap();
        let words = "transfer --transport mpi --direction ping-pong --round-trips 5 --repetitions 1 --json";
        let mut command = transfer(folder.path(), words);
        // Both kinds know -wdir.
        command.args(["--mpi-launcher", &format!("{launcher} -wdir /")]);
        assert_eq!(lines(&command.output().unwrap()).len(), 1, "{launcher}");
    }
}

#[test]
fn a_missing_mpi_library_is_usage_and_a_failing_launcher_is_not() {
    for launcher in mpi_launchers() {
        let folder = tempfile::tempdir().unwrap();
        let words =
            format!("transfer --transport mpi --mpi-launcher {launcher} --mpi-library libisotach-missing.so");
        let output = transfer(folder.path(), &words).output().unwrap();
        check_failed(&words, &output, 2, &["no MPI library can be loaded", "--mpi-library"]);
    }
    let folder = tempfile::tempdir().unwrap();
    let words = "transfer --transport mpi --mpi-launcher false{hosts}";
    let output = transfer(folder.path(), words).output().unwrap();
    check_failed(words, &output, 1, &["MPI ranks cannot be started", "exit status: 1"]);
}

#[test]
fn ranks_of_mpi_end_with_their_driver() {
    for launcher in mpi_launchers() {
        let folder = tempfile::tempdir().unwrap();
        let words = format!("transfer --transport mpi --mpi-launcher {launcher} {LONG}");
        let mut driver = transfer(folder.path(), &words).spawn().unwrap();
        let ranks = busy_pair(&mut driver, "transfer-rank");
        driver.kill().unwrap();
        driver.wait().unwrap();
        let began = Instant::now();
        while ranks.iter().any(|rank| is_busy(*rank, "transfer-rank")) {
            assert!(began.elapsed() < Duration::from_secs(60), "{launcher}: {ranks:?} go on");
            std::thread::yield_now();
        }
    }
}

#[test]
fn without_mpi_transfers_are_measured_over_tcp_and_mpi_alone_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let words =
        "transfer --mpi-launcher no-such-mpirun --direction ping-pong --round-trips 2 --repetitions 1";
    let output = transfer(folder.path(), words).output().unwrap();
    assert!(
        stderr(&output).contains("not measured over MPI: no-such-mpirun cannot be started"),
        "{output:?}"
    );
    assert!(stdout(&output).contains("│ tcp       ┆ ping-pong ┆ 8 B"), "{output:?}");
    let words = format!("{words} --transport mpi");
    let refused = transfer(&folder.path().join("."), &words).output().unwrap();
    check_failed(
        &words,
        &refused,
        2,
        &["no-such-mpirun cannot be started", "--mpi-launcher (Debian: openmpi-bin or mpich)"],
    );
}
