//! Roles of a case that run at the same time: in processes of their own, or in threads where the engine
//! lives in one process.
//!
//! A role is a function from a participant to a list of numbers. To run one in a process of its own, the test
//! binary is started again with one test chosen, which finds its task in the environment. The roles of a
//! case wait for each other at a barrier before they begin, so that they race.

use std::{
    env,
    io::Write,
    process::{Child, Command, Output, Stdio, abort},
    sync::Arc,
    thread,
};

use super::{
    Fixture,
    trial::{OwnContainer, Trial, kv, wait_for},
};
use isotach_object::{Container, Pool};

/// Where a process finds its task.
pub(super) const TASK: &str = "ISOTACH_CONFORMANCE_CHILD";
/// What the line of standard output begins with that carries a role's numbers.
const REPORT: &str = "conformance report:";
/// The key-value object of the barrier.
const BARRIER: u64 = u64::MAX;

/// A participant of a case, and what its role works with.
pub(super) struct Participant {
    pub(super) pool: Arc<dyn Pool>,
    pub(super) container: Arc<dyn Container>,
    /// Its number among the participants, from 0.
    pub(super) index: u64,
    /// The role's own arguments.
    pub(super) args: Vec<u64>,
}

/// What a role does; the numbers are its report.
pub(super) type Role = fn(&Participant) -> Vec<u64>;

/// Roles by name: a process finds its own by it.
pub(super) type Roles = &'static [(&'static str, Role)];

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

    /// A task whose process dies at the end.
    pub(super) fn dying(role: &'static str, args: &[u64]) -> Self {
        Self { dies: true, ..Self::new(role, args) }
    }
}

impl Trial<'_> {
    /// Runs the tasks at the same time and returns their reports in this order.
    pub(super) fn together(&self, tasks: &[Task]) -> Vec<Vec<u64>> {
        if self.capabilities().multi_process { self.processes(tasks) } else { self.threads(tasks) }
    }

    /// As [`Self::together`], for roles without arguments.
    pub(super) fn race(&self, roles: &[&'static str]) -> Vec<Vec<u64>> {
        let tasks: Vec<_> = roles.iter().map(|role| Task::new(role, &[])).collect();
        self.together(&tasks)
    }

    fn processes(&self, tasks: &[Task]) -> Vec<Vec<u64>> {
        let spawn = |(index, task)| self.spawn(&encode(self, task, index, tasks.len()));
        let children: Vec<Child> = tasks.iter().enumerate().map(spawn).collect();
        let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap());
        outputs.zip(tasks).map(|(output, task)| report_of(task, &output)).collect()
    }

    fn threads(&self, tasks: &[Task]) -> Vec<Vec<u64>> {
        thread::scope(|scope| {
            let spawn = |(index, task): (usize, &Task)| {
                let (task, count, roles) = (task.clone(), tasks.len() as u64, self.roles);
                scope.spawn(move || {
                    let me = enter(self.pool.clone(), self.another(), index as u64, task.args, count);
                    let report = role(roles, task.role)(&me);
                    if task.dies {
                        std::mem::forget(me);
                    }
                    report
                })
            };
            let running: Vec<_> = tasks.iter().enumerate().map(spawn).collect();
            running.into_iter().map(|thread| thread.join().expect("a role failed")).collect()
        })
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

/// Runs the role of a task, in the process that was started for it.
pub(super) fn run_task(fixture: &dyn Fixture, roles: Roles, task: &str) {
    let [name, uri, label, dies, numbers] = task.lines().collect::<Vec<_>>()[..] else {
        panic!("malformed task {task:?}")
    };
    let mut numbers = numbers.split(' ').map(|number| number.parse::<u64>().unwrap());
    let (index, count) = (numbers.next().unwrap(), numbers.next().unwrap());
    let pool = fixture.engine().open_pool(&uri.parse().unwrap()).unwrap();
    let container = pool.open_container(&label.parse().unwrap()).unwrap();
    let me = enter(pool, container, index, numbers.collect(), count);
    let report = role(roles, name)(&me);
    let mut stdout = std::io::stdout().lock();
    // The test harness may have begun the line.
    writeln!(stdout, "\n{REPORT}{}", join(&report)).unwrap();
    stdout.flush().unwrap();
    if dies == "true" {
        abort();
    }
}

/// Makes a participant, once all of them have reached the barrier.
fn enter(
    pool: Arc<dyn Pool>,
    container: Arc<dyn Container>,
    index: u64,
    args: Vec<u64>,
    count: u64,
) -> Participant {
    let barrier = kv(&container, BARRIER);
    barrier.put(&index.to_le_bytes(), b"here").unwrap();
    container.flush().unwrap();
    for other in 0..count {
        wait_for("the arrival of all participants", || barrier.get(&other.to_le_bytes()).unwrap());
    }
    Participant { pool, container, index, args }
}

fn role(roles: Roles, name: &str) -> Role {
    roles.iter().find(|(known, _)| *known == name).map(|(_, role)| *role).expect("a role of this name")
}

fn encode(place: &OwnContainer, task: &Task, index: usize, count: usize) -> String {
    let numbers = [&[index as u64, count as u64], &task.args[..]].concat();
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
