//! Runs the processes of a history: starts, kills and replaces them, and reads their records.
//!
//! Where an engine exists in one process only, they are threads with their own handles, and none is killed.

use std::{env, path::Path, process::Child, thread, time::Duration};

use isotach_engine_kit::random::Seeded;
use isotach_needs::{number, seed};
use tempfile::TempDir;

use super::{
    super::{
        Fixture,
        trial::{OwnContainer, Trial},
    },
    check,
    operation::Operation,
    record::{now, operations},
    roles::{Kind, Player, Task},
};

/// Processes at the same time.
const PROCESSES: u64 = 6;
/// The longest history, in nanoseconds. The next one begins in another container.
const HISTORY_NS_MAX: u64 = 1_000_000_000;
/// The longest time between two kills, in nanoseconds.
const KILL_INTERVAL_NS_MAX: u64 = 200_000_000;

/// What the task of a process of a history begins with.
const HISTORY: &str = "history\n";

/// Records and checks histories for as long as the environment says.
pub(super) fn check_histories(trial: &Trial<'_>, kind: Kind) {
    let seed = seed();
    let end = now() + number("ISOTACH_HISTORY_SECONDS").unwrap_or(2) * 1_000_000_000;
    println!("ISOTACH_SEED={seed}");
    let mut random = Seeded(seed);
    while now() < end {
        let folder = folder_for_records();
        let history = make(trial, kind, &mut random, folder.path());
        let begin = now();
        match check(&history) {
            Ok(checked) => println!("{checked}, checked in {} ms", (now() - begin) / 1_000_000),
            Err(offence) => panic!("ISOTACH_SEED={seed}: {offence}"),
        }
    }
}

/// One history, in a container of its own.
fn make(trial: &Trial<'_>, kind: Kind, random: &mut Seeded, folder: &Path) -> Vec<Operation> {
    let place = trial.place();
    let begin = now();
    let task = Task { kind, process: 0, seed: random.below(u64::MAX), begin, end: begin + HISTORY_NS_MAX };
    if trial.capabilities().multi_process {
        processes(trial, &place, task, random, folder);
    } else {
        thread::scope(|scope| {
            for process in 1..=PROCESSES {
                let (pool, container) = (place.pool.clone(), place.another());
                scope.spawn(move || Player::new(pool, container, folder, Task { process, ..task }).play());
            }
        });
    }
    // Many histories must not fill the storage.
    trial.fixture.engine().destroy_pool(&place.uri).unwrap();
    operations(folder)
}

fn processes(trial: &Trial<'_>, place: &OwnContainer, task: Task, random: &mut Seeded, folder: &Path) {
    let mut last = 0;
    let mut start = || {
        last += 1;
        trial.spawn(&encode(place, Task { process: last, ..task }, folder))
    };
    let mut children: Vec<Child> = (0..PROCESSES).map(|_| start()).collect();
    loop {
        // The kill may come at any moment after the start.
        let pause = random.below(KILL_INTERVAL_NS_MAX);
        if now() + pause >= task.end {
            break;
        }
        thread::sleep(Duration::from_nanos(pause));
        let victim = children.swap_remove(random.below(PROCESSES) as usize);
        kill(victim);
        children.push(start());
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "a process ended with {}:\n{stdout}\n{stderr}", output.status);
    }
}

fn kill(mut victim: Child) {
    let ended = victim.try_wait().unwrap();
    victim.kill().unwrap();
    let output = victim.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(ended.is_none_or(|status| status.success()), "a process ended with {ended:?}:\n{stderr}");
}

fn encode(place: &OwnContainer, task: Task, folder: &Path) -> String {
    let Task { kind, process, seed, begin, end } = task;
    let (uri, label, folder) = (&place.uri, place.container.label(), folder.display());
    format!("{HISTORY}{uri}\n{label}\n{folder}\n{kind:?} {process} {seed} {begin} {end}")
}

/// Runs a process of a history, if the task is one.
pub(in super::super) fn play(fixture: &dyn Fixture, task: &str) -> bool {
    let Some(task) = task.strip_prefix(HISTORY) else { return false };
    let [uri, label, folder, numbers] = task.lines().collect::<Vec<_>>()[..] else {
        panic!("malformed task {task:?}")
    };
    let (kind, numbers) = numbers.split_once(' ').unwrap();
    let kind = if kind == "Singles" { Kind::Singles } else { Kind::Groups };
    let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
    let [process, seed, begin, end] = numbers[..] else { panic!("malformed task {task:?}") };
    let pool = fixture.engine().open_pool(&uri.parse().unwrap()).unwrap();
    let container = pool.open_container(&label.parse().unwrap()).unwrap();
    Player::new(pool, container, Path::new(folder), Task { kind, process, seed, begin, end }).play();
    true
}

/// A folder for the records of one history. It is removed unless `ISOTACH_HISTORY_KEEP` is set.
fn folder_for_records() -> TempDir {
    let keep = env::var_os("ISOTACH_HISTORY_KEEP").is_some();
    let folder = tempfile::Builder::new().prefix("isotach-history-").disable_cleanup(keep).tempdir().unwrap();
    if keep {
        println!("the records of the history are in {}", folder.path().display());
    }
    folder
}
