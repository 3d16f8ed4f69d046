//! What each process of the crowd does.

use std::{
    io::{BufRead, stdin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use isotach_engine_posix::Posix;
use isotach_fields::{Config, FieldStore, ListOptions, crc32c};
use isotach_mars::Request;
use isotach_object::Registry;

use crate::{cast::Said, field::Step};

fn registry() -> Registry {
    Registry::new().with(Arc::new(Posix))
}

pub(crate) fn create(uri: &str) {
    FieldStore::create(&Config::single(&uri.parse().unwrap()), &registry()).unwrap();
}

/// How many containers there are.
pub(crate) fn containers(uri: &str) -> usize {
    registry().open_pool(&uri.parse().unwrap()).unwrap().list_containers().unwrap().len()
}

fn open(uri: &str) -> FieldStore {
    FieldStore::open(&Config::single(&uri.parse().unwrap()), &registry()).unwrap()
}

fn say(said: &Said) {
    println!("{}", said.line());
}

/// Plays the role that the environment names, and leaves.
pub(crate) fn play(role: &str) {
    let words: Vec<&str> = role.split(' ').collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    let uri = words[words.len() - 1];
    match words[0] {
        "writer" => write(uri, number(1)),
        "reader" => read(uri, number(1), number(2)),
        "check" => check(&open(uri), number(1), number(2)),
        "digest" => digest(&open(uri)),
        other => panic!("no role {other}"),
    }
}

/// Becomes true at the first line that is told.
fn told_to_stop() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    thread::spawn(move || {
        wait();
        flag.store(true, Ordering::Relaxed);
    });
    stop
}

/// Waits for a line.
fn wait() {
    assert!(stdin().lock().read_line(&mut String::new()).unwrap() > 0, "the one who started this is gone");
}

fn write(uri: &str, writer: u64) {
    let store = open(uri);
    let stop = told_to_stop();
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        let step = Step::nth(writer, count);
        for param in 0..Step::FIELDS {
            store.archive(&step.key(param), &step.bytes(param)).unwrap();
        }
        store.flush().unwrap();
        say(&Said::Flushed(count));
        count += 1;
    }
    say(&Said::Count(count));
    wait();
    digest(&store);
}

fn read(uri: &str, reader: u64, writers: u64) {
    let store = open(uri);
    let stop = told_to_stop();
    let (mut fields, mut noise) = (0, reader + 1);
    while !stop.load(Ordering::Relaxed) {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let step = Step { writer: (noise >> 33) % writers, step: (noise >> 45) % Step::STEPS, version: 0 };
        fields += versions(&store, &step).len() as u64;
    }
    say(&Said::Count(fields));
    wait();
    digest(&store);
}

/// Reads what there is of a step and checks every field; the versions found.
fn versions(store: &FieldStore, step: &Step) -> Vec<u64> {
    let version = |field: isotach_fields::Result<isotach_fields::Field>| {
        let field = field.unwrap();
        let param = field.key.get("param").unwrap().parse::<u64>().unwrap() - 130;
        let version = step.version_of(param, &field.bytes);
        version
            .unwrap_or_else(|| panic!("field {} at {:?} is not what was archived", field.key, field.location))
    };
    store.retrieve(&step.request()).unwrap().map(version).collect()
}

/// A reader that starts after the flush `count` of a writer finds all its fields, or later ones.
fn check(store: &FieldStore, writer: u64, count: u64) {
    let step = Step::nth(writer, count);
    let found = versions(store, &step);
    assert_eq!(found.len() as u64, Step::FIELDS, "{step:?} was flushed");
    assert!(found.iter().all(|version| *version >= step.version), "{step:?} was flushed, found {found:?}");
    say(&Said::Done);
}

/// One number for everything that the dataset lists.
fn digest(store: &FieldStore) {
    let everything: Request = "".parse().unwrap();
    let listed = store.list(&everything, ListOptions::default()).unwrap();
    let mut lines: Vec<String> = listed
        .map(|field| field.unwrap())
        .map(|field| format!("{} {:?}", field.key(), field.location()))
        .collect();
    lines.sort();
    say(&Said::Digest(format!("{} fields {:08x}", lines.len(), crc32c(lines.join("\n").as_bytes()))));
}
