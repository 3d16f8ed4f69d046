//! The history of writers and readers that are killed has an order in which each transaction is one moment.
//!
//! A key of the history is a field, and its value the number in the bytes. Fields come in generations, so that all
//! processes compete for a few at a time: some are archived and flushed one by one, the others, of two collocations,
//! only in transactions. One retrieval or listing of those is one moment, too.

use std::{
    collections::BTreeMap,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use isotach_engine_kit::random::Seeded;
use isotach_fields::{FieldStore, ListOptions};
use isotach_mars::{Key, Request};
use isotach_object_conformance::history::{self, Clause, GARBLED, Recorder, Value, check, operations};

use crate::{
    launcher::{Child, Said},
    number,
    roles::{self, open, say},
    seeded,
};

const PROCESSES: u64 = 5;
/// Nanoseconds.
const ROUND: u64 = 1_500_000_000;
const GENERATION: u64 = 300_000_000;
const BETWEEN_KILLS_US: u64 = 400_000;
/// The number of keys of a generation.
const ROOM: u64 = 100;
const SINGLES: u64 = 3;
/// The first key of a transaction, in its generation.
const TOGETHER: u64 = 10;
const PARAMS: u64 = 3;
const TYPES: [&str; 2] = ["pf", "cf"];

const COMMON: &str =
    "class=od,expver=0001,stream=enfo,date=20240101,time=0000,levtype=pl,number=1,levelist=500";

#[test]
fn the_reads_and_transactions_of_killed_processes_have_an_order() {
    let end = Instant::now() + Duration::from_secs(number("ISOTACH_HISTORY_SECONDS", 3));
    let mut random = seeded();
    while Instant::now() < end {
        let history = make(&mut random);
        let begin = Instant::now();
        match check(&history) {
            Ok(checked) => println!("{checked}, checked in {:?}", begin.elapsed()),
            Err(offence) => panic!("{offence}"),
        }
    }
}

/// One history, in a store of its own.
fn make(random: &mut Seeded) -> Vec<history::Operation> {
    // Runs are made and merged all the while, and transactions have segments.
    let (folder, uri) = roles::new_store("checkpoint=16384&segment=1024");
    let records = folder.path().join("records");
    std::fs::create_dir(&records).unwrap();
    let (begin, seed) = (history::now(), random.below(u64::MAX >> 1));
    let end = begin + ROUND;
    let mut last = 0;
    let mut start = || {
        last += 1;
        Child::start(&format!("historian {last} {seed} {begin} {end} {} {uri}", records.display()))
    };
    let mut children: Vec<Child> = (0..PROCESSES).map(|_| start()).collect();
    loop {
        let pause = random.below(BETWEEN_KILLS_US);
        if history::now() + pause * 1000 >= end {
            break;
        }
        // Any moment, from that at which a process begins to be.
        thread::sleep(Duration::from_micros(pause));
        children.swap_remove(random.below(PROCESSES) as usize).kill();
        children.push(start());
    }
    children.into_iter().for_each(|child| child.expect(&Said::Done));
    operations(&records)
}

/// The field of a key.
fn field(key: u64) -> Key {
    let (generation, within) = (key / ROOM, key % ROOM);
    let (kind, param) = match within.checked_sub(TOGETHER) {
        Some(member) => (TYPES[(member / PARAMS) as usize], 130 + member % PARAMS),
        None => (TYPES[0], 150 + within),
    };
    format!("{COMMON},type={kind},step={generation},param={param}").parse().unwrap()
}

/// All keys of a generation that are archived in transactions, and the request for their fields.
fn together(generation: u64) -> (Vec<u64>, Request) {
    let first = generation * ROOM + TOGETHER;
    let keys = (first..first + PARAMS * TYPES.len() as u64).collect();
    let params: Vec<String> = (0..PARAMS).map(|param| (130 + param).to_string()).collect();
    let (types, params) = (TYPES.join("/"), params.join("/"));
    (keys, format!("{COMMON},type={types},step={generation},param={params}").parse().unwrap())
}

/// The bytes of a value of a field, which identify it.
fn bytes(key: u64, value: u64) -> Vec<u8> {
    let length = [60, 500, 6000, 140_000][(value % 4) as usize];
    let mut noise = Seeded(key << 32 ^ value);
    let mut bytes = [key.to_le_bytes(), value.to_le_bytes()].concat();
    bytes.extend((0..length).map(|_| noise.below(256) as u8));
    bytes
}

fn value_of(key: u64, found: &[u8]) -> Value {
    let value = found.get(8..16).and_then(|number| Some(u64::from_le_bytes(number.try_into().ok()?)));
    value.filter(|value| bytes(key, *value) == found).map_or(GARBLED, Some)
}

/// One process of a history.
struct Historian {
    store: FieldStore,
    recorder: Recorder,
    random: Seeded,
    process: u64,
    count: u64,
}

/// Archives and reads until the end.
pub(crate) fn play(uri: &str, records: &str, process: u64, seed: u64, begin: u64, end: u64) {
    let recorder = Recorder::new(Path::new(records), process);
    let random = Seeded(seed ^ process << 40);
    let mut historian = Historian { store: open(uri), recorder, random, process, count: 0 };
    while history::now() < end {
        let generation = (history::now() - begin) / GENERATION;
        historian.act(generation);
        if historian.random.below(100) == 0 {
            historian.store = open(uri);
        }
    }
    say(&Said::Done);
}

impl Historian {
    fn act(&mut self, generation: u64) {
        let single = generation * ROOM + self.random.below(SINGLES);
        match self.random.below(100) {
            0..20 => self.archive(&[single]),
            20..30 => self.archive(&(0..SINGLES).map(|which| generation * ROOM + which).collect::<Vec<_>>()),
            30..50 => self.retrieve_one(single),
            50..68 => self.commit(generation),
            68..72 => self.give_up(generation),
            72..88 => self.retrieve(generation),
            _ => self.list(generation),
        }
    }

    /// A value whose length is one of four, mostly short.
    fn value(&mut self) -> u64 {
        self.count += 1;
        let length = [0, 0, 0, 1, 1, 2, 2, 3][self.random.below(8) as usize];
        self.process * 4_000_000 + self.count * 4 + length
    }

    /// Archives fields one by one, and flushes them all.
    fn archive(&mut self, keys: &[u64]) {
        let mut calls = Vec::new();
        for key in keys {
            let value = self.value();
            calls.push(self.recorder.call("archive", &[Clause::Sets(*key, Some(value))]));
            self.store.archive(&field(*key), &bytes(*key, value)).unwrap();
        }
        self.store.flush().unwrap();
        calls.into_iter().for_each(|call| self.recorder.done(call, &[], None));
    }

    fn retrieve_one(&mut self, key: u64) {
        let call = self.recorder.call("retrieve", &[]);
        let found = self.store.retrieve_one(&field(key)).unwrap();
        let value = found.and_then(|found| value_of(key, &found));
        self.recorder.done(call, &[(key, value)], None);
    }

    fn commit(&mut self, generation: u64) {
        let (keys, _) = together(generation);
        let value = self.value();
        let clauses: Vec<Clause> = keys.iter().map(|key| Clause::Sets(*key, Some(value))).collect();
        let call = self.recorder.call("transaction", &clauses);
        let transaction = self.store.transaction();
        keys.iter().for_each(|key| transaction.archive(&field(*key), &bytes(*key, value)).unwrap());
        transaction.commit().unwrap();
        self.recorder.done(call, &[], None);
    }

    /// Its value is in no record: a reader that sees it reads a value that was never committed.
    fn give_up(&mut self, generation: u64) {
        let (keys, _) = together(generation);
        let value = self.value();
        let transaction = self.store.transaction();
        keys.iter().for_each(|key| transaction.archive(&field(*key), &bytes(*key, value)).unwrap());
    }

    fn retrieve(&mut self, generation: u64) {
        let (keys, request) = together(generation);
        let call = self.recorder.call("retrieve all", &[]);
        let found = self.store.retrieve(&request).unwrap().map(|found| found.unwrap());
        let found = found.map(|found| (found.key.to_string(), found.bytes.to_vec())).collect();
        self.saw(call, &keys, &found);
    }

    fn list(&mut self, generation: u64) {
        let (keys, request) = together(generation);
        let call = self.recorder.call("list all", &[]);
        let listed = self.store.list(&request, ListOptions::default()).unwrap().map(|listed| listed.unwrap());
        let listed: Vec<_> =
            listed.map(|listed| (listed.key().to_string(), listed.location().clone())).collect();
        let read = |location| self.store.read(location).unwrap().into_vec();
        let found = listed.iter().map(|(key, location)| (key.clone(), read(location))).collect();
        self.saw(call, &keys, &found);
    }

    fn saw(&mut self, call: history::Call, keys: &[u64], found: &BTreeMap<String, Vec<u8>>) {
        let of = |key: u64| {
            let wanted = field(key);
            let same = |text: &str| wanted.iter().all(|(name, value)| says(text, name, value));
            let mut fields = found.iter().filter(|(text, _)| same(text));
            fields.next().and_then(|(_, found)| value_of(key, found))
        };
        let saw: Vec<(u64, Value)> = keys.iter().map(|key| (*key, of(*key))).collect();
        self.recorder.done(call, &saw, None);
    }
}

/// Whether a key's text has this value.
fn says(text: &str, name: &str, value: &str) -> bool {
    text.split([',', '{', '}']).any(|part| part.split_once('=') == Some((name, value)))
}
