//! Roles of a case that run at the same time: in processes of their own, or in threads where the engine
//! lives in one process.
//!
//! A role is a function from a seat to a list of numbers. To run one in a process of its own, the test
//! binary is started again with one test chosen, which finds its task in the environment. The roles of a
//! case meet before they begin, so that they do race.

use std::{
    env,
    io::Write,
    process::{Child, Command, Output, Stdio, abort},
    sync::Arc,
    thread,
};

use super::{
    Fixture, concurrency, history, numbered, prepared, snapshot, staging,
    trial::{Place, Trial, kv, wait_for},
    visibility,
};
use isotach_object::{Container, Pool};

/// Where a process finds its task.
const TASK: &str = "ISOTACH_CONFORMANCE_CHILD";
/// What the line of standard output begins with that carries a role's numbers.
const REPORT: &str = "conformance report:";
/// The key-value object in which roles meet.
const MEETING: u64 = u64::MAX;

/// What a role is given.
pub(super) struct Seat {
    pub(super) pool: Arc<dyn Pool>,
    pub(super) container: Arc<dyn Container>,
    /// Which of the roles this is, from 0.
    pub(super) who: u64,
    /// The role's own arguments.
    pub(super) args: Vec<u64>,
}

/// What a role does; the numbers are its report.
pub(super) type Role = fn(&Seat) -> Vec<u64>;

/// All roles, by the names under which a process finds them.
const ROLES: &[(&str, Role)] = &[
    ("allocate_ids", concurrency::allocate_ids),
    ("claim_keys", concurrency::claim_keys),
    ("count_up", concurrency::count_up),
    ("create_containers", concurrency::create_containers),
    ("put_values", concurrency::put_values),
    ("read_values", concurrency::read_values),
    ("commit_pairs", concurrency::commit_pairs),
    ("read_pairs", concurrency::read_pairs),
    ("rewrite_array", concurrency::rewrite_array),
    ("read_array", concurrency::read_array),
    ("commit_staged", staging::commit_staged),
    ("read_staged", staging::read_staged),
    ("stage_and_die", staging::stage_and_die),
    ("count_with_retry", staging::count_with_retry),
    ("prepare_and_die", prepared::prepare_and_die),
    ("take_prepared", prepared::take_prepared),
    ("abort_races", prepared::abort_races),
    ("take_part", numbered::take_part),
    ("read_versions", numbered::read_versions),
    ("finish_and_die", numbered::finish_and_die),
    ("update_and_die", numbered::update_and_die),
    ("put_numbered", snapshot::put_numbered),
    ("make_snapshots", snapshot::make_snapshots),
    ("put_in_order", visibility::put_in_order),
    ("read_in_order", visibility::read_in_order),
    ("put_and_flush", visibility::put_and_flush),
    ("get_numbers", visibility::get_numbers),
];

/// A role to run, and its arguments.
#[derive(Clone)]
pub(super) struct Task {
    role: &'static str,
    args: Vec<u64>,
    /// Whether its process dies at the end, without a destructor having run.
    dies: bool,
}

impl Task {
    pub(super) fn new(role: &'static str, args: &[u64]) -> Self {
        Self { role, args: args.to_vec(), dies: false }
    }

    pub(super) fn and_die(self) -> Self {
        Self { dies: true, ..self }
    }
}

impl Trial<'_> {
    /// Runs the tasks at the same time and returns their reports in this order.
    pub(super) fn together(&self, place: &Place, tasks: &[Task]) -> Vec<Vec<u64>> {
        if self.capabilities().multi_process { self.processes(place, tasks) } else { threads(place, tasks) }
    }

    fn processes(&self, place: &Place, tasks: &[Task]) -> Vec<Vec<u64>> {
        let spawn = |(who, task)| self.spawn(&encode(place, task, who, tasks.len()));
        let children: Vec<Child> = tasks.iter().enumerate().map(spawn).collect();
        let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap());
        outputs.zip(tasks).map(|(output, task)| report_of(task, &output)).collect()
    }

    pub(super) fn spawn(&self, task: &str) -> Child {
        Command::new(env::current_exe().unwrap())
            .args(["--exact", test_path(self.child_test), "--nocapture", "--test-threads=1"])
            .env(TASK, task)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

fn threads(place: &Place, tasks: &[Task]) -> Vec<Vec<u64>> {
    thread::scope(|scope| {
        let spawn = |(who, task): (usize, &Task)| {
            let (task, parties) = (task.clone(), tasks.len() as u64);
            scope.spawn(move || {
                let seat = take_seat(place.pool.clone(), place.another(), who as u64, task.args, parties);
                let report = role(task.role)(&seat);
                if task.dies {
                    std::mem::forget(seat);
                }
                report
            })
        };
        let running: Vec<_> = tasks.iter().enumerate().map(spawn).collect();
        running.into_iter().map(|thread| thread.join().expect("a role failed")).collect()
    })
}

/// Runs the task that the environment names, if it names one; called by the test that the macro makes.
pub fn run_child(fixture: &dyn Fixture) {
    let Ok(task) = env::var(TASK) else { return };
    if history::play(fixture, &task) {
        return;
    }
    let [name, uri, label, dies, numbers] = task.lines().collect::<Vec<_>>()[..] else {
        panic!("malformed task {task:?}")
    };
    let mut numbers = numbers.split(' ').map(|number| number.parse::<u64>().unwrap());
    let (who, parties) = (numbers.next().unwrap(), numbers.next().unwrap());
    let pool = fixture.engine().open_pool(&uri.parse().unwrap()).unwrap();
    let container = pool.open_container(&label.parse().unwrap()).unwrap();
    let seat = take_seat(pool, container, who, numbers.collect(), parties);
    let report = role(name)(&seat);
    let mut stdout = std::io::stdout().lock();
    // The test harness may have begun the line.
    writeln!(stdout, "\n{REPORT}{}", join(&report)).unwrap();
    stdout.flush().unwrap();
    if dies == "true" {
        abort();
    }
}

/// Waits until all parties are there.
fn take_seat(
    pool: Arc<dyn Pool>,
    container: Arc<dyn Container>,
    who: u64,
    args: Vec<u64>,
    parties: u64,
) -> Seat {
    let meeting = kv(&container, MEETING);
    meeting.put(&who.to_le_bytes(), b"here").unwrap();
    container.flush().unwrap();
    for other in 0..parties {
        wait_for("the meeting of all roles", || meeting.get(&other.to_le_bytes()).unwrap());
    }
    Seat { pool, container, who, args }
}

fn role(name: &str) -> Role {
    ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role).expect("a role of this name")
}

fn encode(place: &Place, task: &Task, who: usize, parties: usize) -> String {
    let numbers = [&[who as u64, parties as u64], &task.args[..]].concat();
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let label = place.container.label();
    format!("{}\n{}\n{label}\n{}\n{}", task.role, place.uri, task.dies, numbers.join(" "))
}

fn join(numbers: &[u64]) -> String {
    numbers.iter().map(|number| format!(" {number}")).collect()
}

fn report_of(task: &Task, output: &Output) -> Vec<u64> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let report = stdout.lines().find_map(|line| line.strip_prefix(REPORT));
    match report {
        Some(report) if output.status.success() != task.dies => {
            report.split_whitespace().map(|number| number.parse().unwrap()).collect()
        }
        _ => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            panic!("role {} ended with {}:\n{stdout}\n{stderr}", task.role, output.status)
        }
    }
}

/// The name of a test as its binary knows it: its path without the crate.
fn test_path(path: &'static str) -> &'static str {
    path.split_once("::").map_or(path, |(_, inner)| inner)
}
