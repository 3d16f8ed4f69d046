//! The threads of one process in orders that a scheduler tries: everything a thread sees of the others has an order.
//!
//! The engine runs on the simulated disk. The scheduler may switch threads at each call of the disk and at each use of what threads share.
//! The calls and their results are checked as a history, for each schedule.
//!
//! `ISOTACH_SCHEDULES` is the number of schedules per scenario (1 000), and `ISOTACH_SEED` repeats them, as far as random file names allow.
//! The scheduler prints a failing schedule. All atomics are tried as sequentially consistent: effects of weaker orders are not found.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use isotach_engine_posix::simulation::{Loss, SimulatedDisk};
use isotach_needs::{number, seed};
use isotach_object::{
    Array, Cell, Container, ContainerOptions, Engine, Error, Label, ObjectClass, ObjectId, ObjectType, Pool,
    PoolUri, Precondition, Transaction, Update,
};
use isotach_object_conformance::history::{Clause, Key, Operation, Outcome, Value, check};
use shuttle::{
    Config, Runner,
    scheduler::{PctScheduler, RandomScheduler},
    thread,
};

/// The switches of threads in a schedule of the second kind.
const CHANGES: usize = 3;
const STACK: usize = 1 << 20;

/// Tries schedules: one half at random, the other with few switches of threads, which finds what needs only those.
fn try_schedules(query: &'static str, run: impl Fn(&Scenario) + Send + Sync + Copy + 'static) {
    let seed = seed();
    let each = number("ISOTACH_SCHEDULES").unwrap_or(1000).div_ceil(2) as usize;
    println!("ISOTACH_SEED={seed}");
    let try_one = move || {
        let scenario = Scenario::new(query);
        run(&scenario);
        scenario.check();
    };
    let mut config = Config::new();
    config.stack_size = STACK;
    let tried = Runner::new(RandomScheduler::new_from_seed(seed, each), config.clone()).run(try_one);
    let tried = tried + Runner::new(PctScheduler::new_from_seed(seed, CHANGES, each), config).run(try_one);
    println!("{tried} schedules");
}

fn label() -> Label {
    "c".parse().unwrap()
}

fn object() -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1)
}

/// A container on a disk of its own, and the history of what is done in it.
struct Scenario {
    disk: SimulatedDisk,
    pool: Arc<dyn Pool>,
    clock: Arc<AtomicU64>,
    history: Arc<Mutex<Vec<Operation>>>,
}

impl Scenario {
    fn new(query: &str) -> Self {
        let uri: PoolUri = format!("posix:/pool{query}").parse().unwrap();
        let disk = SimulatedDisk::new();
        let engine: Arc<dyn Engine> = disk.engine();
        engine.create_pool(&uri).unwrap();
        let pool = engine.open_pool(&uri).unwrap();
        pool.create_container(&label(), &ContainerOptions::default()).unwrap();
        Self { disk, pool, clock: Arc::default(), history: Arc::default() }
    }

    /// A client with a handle of its own.
    fn client(&self) -> Client {
        let container = self.pool.open_container(&label()).unwrap();
        Client { container, clock: Arc::clone(&self.clock), history: Arc::clone(&self.history), number: 0 }
    }

    fn check(&self) {
        let mut last = self.client();
        last.get(&[1, 2, 3]);
        let history = self.history.lock().unwrap();
        check(&history).unwrap_or_else(|offence| panic!("{offence}"));
    }
}

/// A thread that records what it does with a handle, which it may share.
struct Client {
    container: Arc<dyn Container>,
    clock: Arc<AtomicU64>,
    history: Arc<Mutex<Vec<Operation>>>,
    number: u64,
}

impl Client {
    /// Another thread with the same handle.
    fn beside(&self, number: u64) -> Self {
        let (container, clock) = (Arc::clone(&self.container), Arc::clone(&self.clock));
        Self { container, clock, history: Arc::clone(&self.history), number }
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1000, Ordering::SeqCst)
    }

    /// Records an operation. `act` returns its outcome and what it saw.
    fn record(
        &self,
        name: &str,
        clauses: &[Clause],
        act: impl FnOnce(&dyn Container) -> (Outcome, Vec<(Key, Value)>),
    ) {
        let called = self.tick();
        let (outcome, saw) = act(&*self.container);
        let returned = Some(self.tick());
        let (process, name, clauses, epoch) = (self.number, name.to_owned(), clauses.to_vec(), None);
        let operation = Operation { process, name, called, returned, clauses, saw, outcome, epoch };
        self.history.lock().unwrap().push(operation);
    }

    fn get(&mut self, keys: &[Key]) {
        let names: Vec<[u8; 8]> = keys.iter().map(|key| key.to_le_bytes()).collect();
        self.record("get", &[], |container| {
            let cells: Vec<Cell<'_>> = names.iter().map(|name| Cell::kv(object(), name)).collect();
            let found = container.get_many(&cells).unwrap().into_iter();
            let values = found.map(|found| found.map(|found| u64::from_le_bytes(found.try_into().unwrap())));
            (Outcome::Done, keys.iter().copied().zip(values).collect())
        });
    }

    fn put(&mut self, key: Key, value: u64) {
        self.record("put", &[Clause::Sets(key, Some(value))], |container| {
            let (name, value) = (key.to_le_bytes(), value.to_le_bytes());
            let cell = Cell::kv(object(), &name);
            container.update(&[Update::Put { cell, value: &value }]).unwrap();
            container.flush().unwrap();
            (Outcome::Done, Vec::new())
        });
    }

    /// Commits a value of several keys, if the first of them has the expected one.
    fn commit(&mut self, keys: &[Key], expected: Option<Value>, value: u64) {
        let required = expected.map(|expected| Clause::Requires(keys[0], expected));
        let sets = keys.iter().map(|key| Clause::Sets(*key, Some(value)));
        let clauses: Vec<Clause> = required.into_iter().chain(sets).collect();
        let names: Vec<[u8; 8]> = keys.iter().map(|key| key.to_le_bytes()).collect();
        let cells: Vec<Cell<'_>> = names.iter().map(|name| Cell::kv(object(), name)).collect();
        let value = value.to_le_bytes();
        let held = expected.flatten().map(u64::to_le_bytes);
        let condition = expected.map(|_| match &held {
            Some(held) => Precondition::Equals(cells[0], held),
            None => Precondition::Absent(cells[0]),
        });
        let updates = cells.iter().map(|cell| Update::Put { cell: *cell, value: &value }).collect();
        let transaction = Transaction { preconditions: condition.into_iter().collect(), updates };
        self.record("commit", &clauses, |container| match container.commit(&transaction) {
            Ok(_) => (Outcome::Done, Vec::new()),
            Err(Error::Conflict { .. }) => (Outcome::Refused, Vec::new()),
            Err(error) => panic!("{error}"),
        });
    }
}

/// What a client does.
type Act = fn(&mut Client);

/// Runs clients to their end, each in its own thread.
fn together<const N: usize>(clients: [(Client, Act); N]) {
    let threads = clients.map(|(mut client, act)| thread::spawn(move || act(&mut client)));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn two_threads_commit_and_a_third_reads_with_one_handle() {
    try_schedules("", |scenario| {
        let shared = scenario.client();
        together([
            (shared.beside(1), |client| {
                client.commit(&[1, 2], Some(None), 11);
                client.commit(&[1, 2], Some(Some(11)), 12);
            }),
            (shared.beside(2), |client| {
                client.commit(&[1, 2], Some(None), 21);
                client.commit(&[2, 3], None, 22);
            }),
            (shared.beside(3), |client| (0..3).for_each(|_| client.get(&[1, 2, 3]))),
        ]);
    });
}

#[test]
fn a_flush_beside_puts_of_one_handle_shows_them_to_another() {
    try_schedules("", |scenario| {
        let shared = scenario.client();
        together([
            (shared.beside(1), |client| (0..3).for_each(|step| client.put(1, 10 + step))),
            (shared.beside(2), |client| {
                client.container.flush().unwrap();
                client.put(2, 20);
                client.container.flush().unwrap();
            }),
            (shared.beside(3), |client| (0..2).for_each(|_| client.get(&[1, 2]))),
            (scenario.client(), |client| (0..3).for_each(|_| client.get(&[1, 2]))),
        ]);
    });
}

#[test]
fn a_staging_and_a_clone_are_dropped_while_another_clone_commits() {
    try_schedules("?segment=256", |scenario| {
        let shared = scenario.client();
        together([
            (shared.beside(1), |client| {
                let name = 1_u64.to_le_bytes();
                let update = Update::Put { cell: Cell::kv(object(), &name), value: &[9; 8] };
                let mut staging = client.container.staged_transactions().unwrap().stage().unwrap();
                staging.update(&[update]).unwrap();
                drop(staging);
                client.container =
                    client.container.snapshots().unwrap().open_at(client.container.epoch().unwrap()).unwrap();
            }),
            (shared.beside(2), |client| {
                client.commit(&[1, 2], Some(None), 21);
                client.commit(&[1, 2], Some(Some(21)), 22);
            }),
            (shared, |client| (0..3).for_each(|_| client.get(&[1, 2]))),
        ]);
    });
}

#[test]
fn a_handle_catches_up_beside_checkpoints_and_merges() {
    try_schedules("?checkpoint=256", |scenario| {
        let shared = scenario.client();
        together([
            (scenario.client(), |client| (0..6).for_each(|step| client.put(1, 10 + step))),
            (shared.beside(2), |client| (0..4).for_each(|step| client.put(2, 20 + step))),
            (shared.beside(3), |client| (0..4).for_each(|_| client.get(&[1, 2]))),
        ]);
    });
}

#[test]
fn waiting_threads_get_their_verdicts_while_the_state_moves_to_new_runs() {
    try_schedules("?checkpoint=256", |scenario| {
        let shared = scenario.client();
        together([
            (scenario.client(), |client| (0..5).for_each(|step| client.put(3, 30 + step))),
            (shared.beside(1), |client| {
                client.commit(&[1], Some(None), 11);
                client.commit(&[1], Some(Some(11)), 12);
                client.commit(&[1], Some(Some(21)), 13);
            }),
            (shared.beside(2), |client| {
                client.commit(&[1], Some(None), 21);
                client.commit(&[1], Some(Some(12)), 22);
            }),
            (shared, |client| (0..3).for_each(|_| client.get(&[1, 3]))),
        ]);
    });
}

/// Large arrays are written without the lock of the writer, and small ones are gathered.
const LENGTHS: [usize; 3] = [130_000, 5_000, 140_001];

/// Writes arrays and flushes each. None of it may be lost when the power fails after that.
fn write_arrays(disk: &SimulatedDisk, container: &dyn Container, thread: u64) {
    for (number, length) in (0..).zip(LENGTHS) {
        let id = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 10 * thread + number);
        let bytes = vec![(10 * thread + number) as u8; length];
        container.write_new(id, &bytes).unwrap();
        container.flush().unwrap();
        let left = disk.after_crash(disk.changes(), Loss::All);
        let pool = left.engine().open_pool(&"posix:/pool".parse().unwrap()).unwrap();
        let found = pool.open_container(&label()).unwrap();
        assert!(Array::new(&*found, id).unwrap().read(0, usize::MAX).unwrap() == bytes, "{thread} {number}");
    }
}

#[test]
fn what_a_thread_flushed_survives_whatever_others_write_and_flush_meanwhile() {
    try_schedules("", |scenario| {
        let shared = scenario.client();
        let threads = [1, 2].map(|number| {
            let (disk, container) = (scenario.disk.clone(), Arc::clone(&shared.container));
            thread::spawn(move || write_arrays(&disk, &*container, number))
        });
        // It appends what the others have gathered while they wait for the device.
        let mut beside = shared.beside(3);
        let third = thread::spawn(move || {
            beside.get(&[1]);
            beside.commit(&[1, 2], None, 31);
            beside.get(&[2]);
        });
        threads.into_iter().chain([third]).for_each(|thread| thread.join().unwrap());
    });
}
