//! What each process does.

use std::{
    io::{BufRead, stdin},
    ops::Range,
    process::exit,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use isotach_engine_kit::random::Seeded;
use isotach_engine_posix::Posix;
use isotach_engine_rados::Rados;
use isotach_fields::{Config, FieldStore, ListOptions, crc32c};
use isotach_mars::Request;
use isotach_object::Registry;
use tempfile::TempDir;

use crate::{ONE, disks, field::Step, history, launcher::Said, limits, steps, wipes};

fn registry() -> Registry {
    Registry::new().with(Arc::new(Posix)).with(Arc::new(Rados::new()))
}

/// The configuration of a place: a URI, or those of catalogue and store with `|` between.
fn config(place: &str) -> Config {
    match place.split_once('|') {
        Some((catalogue, store)) => Config::split(&catalogue.parse().unwrap(), &store.parse().unwrap()),
        None => Config::single(&place.parse().unwrap()),
    }
}

pub(crate) fn create(place: &str) {
    FieldStore::create(&config(place), &registry()).unwrap();
}

/// The URI of a new store with these options, in a folder of its own.
pub(crate) fn new_store(options: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let uri = format!("posix:{}/store?{options}", folder.path().display());
    create(&uri);
    (folder, uri)
}

/// The number of containers of the catalogue.
pub(crate) fn containers(place: &str) -> usize {
    let catalogue = &config(place).spaces[0].catalogue;
    registry().open_pool(catalogue).unwrap().list_containers().unwrap().len()
}

pub(crate) fn open(place: &str) -> FieldStore {
    FieldStore::open(&config(place), &registry()).unwrap()
}

pub(crate) fn say(said: &Said) {
    println!("{}", said.line());
}

/// Runs the role that the environment names, and exits.
pub(crate) fn play(role: &str) {
    let words: Vec<&str> = role.split(' ').collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    let uri = words[words.len() - 1];
    match words[0] {
        "writer" => write(uri, number(1), number(2), number(3)),
        "reader" => read(uri, number(1), 0..number(2), number(3)),
        "large-reader" => read(uri, number(1), Step::LARGE..number(2), number(3)),
        "check" => {
            check(&open(uri), Step::nth(number(1), number(2), number(3)));
            say(&Said::Done);
        }
        "stepper" => steps::archive(uri, number(1)),
        "follower" => steps::follow(uri, number(1), number(2)),
        "historian" => history::play(uri, words[5], number(1), number(2), number(3), number(4)),
        "digest" => digest(&open(uri)),
        "wiper" => wipes::wipe(uri, number(1)),
        "stuck-wiper" => wipes::be_stuck(uri),
        "repairer" => wipes::repair(uri),
        "full" => disks::fill_again_and_again(uri),
        "protected" => disks::write_protect(uri),
        "limited" => limits::open_many(uri),
        "limits" => limits::meet_limits(uri),
        "snapshots" => limits::have_snapshots(uri),
        "few-left" => limits::have_few_left(uri),
        other => panic!("no role {other}"),
    }
}

/// Works on a store until the first line of the standard input. Then reports the count and, after another line, what the
/// store lists.
pub(crate) fn until_stopped(uri: &str, mut count: u64, mut work: impl FnMut(&FieldStore, &mut u64)) {
    let (store, stop) = (open(uri), Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&stop);
    thread::spawn(move || {
        wait();
        flag.store(true, Ordering::Relaxed);
    });
    while !stop.load(Ordering::Relaxed) {
        work(&store, &mut count);
    }
    say(&Said::Count(count));
    wait();
    digest(&store);
}

/// Waits for a line. If the parent process is gone, exits.
fn wait() {
    if stdin().lock().read_line(&mut String::new()).unwrap() == 0 {
        exit(1);
    }
}

/// Archives and flushes from the flush of number `first` on.
fn write(uri: &str, writer: u64, first: u64, span: u64) {
    until_stopped(uri, first, |store, count| {
        let step = Step::nth(writer, *count, span);
        for param in 0..Step::FIELDS {
            store.archive(&step.key(param), &step.bytes(param)).unwrap();
        }
        store.flush().unwrap();
        say(&Said::Flushed(*count));
        *count += 1;
    });
}

/// Reads random steps of these writers, in the datasets that exist.
fn read(uri: &str, reader: u64, writers: Range<u64>, span: u64) {
    let (mut random, mut datasets) = (Seeded(reader + 1), 1);
    until_stopped(uri, 0, |store, fields| {
        let dataset = if span == ONE { 0 } else { random.below(datasets + 1) };
        let writer = writers.start + random.below(writers.end - writers.start);
        let step = random.below(Step::STEPS);
        let found = versions(store, &Step { writer, dataset, step, version: 0 }).len() as u64;
        *fields += found;
        if found > 0 && dataset == datasets {
            datasets += 1;
        }
    });
}

/// Reads a step, checks every field, and returns the versions.
pub(crate) fn versions(store: &FieldStore, step: &Step) -> Vec<u64> {
    let version = |field: isotach_fields::Result<isotach_fields::Field>| {
        let field = field.unwrap();
        let param = field.key.get("param").unwrap().parse::<u64>().unwrap() - 130;
        let is_not = || panic!("field {} at {:?} is not what was archived", field.key, field.location);
        step.version_of(param, &field.bytes).unwrap_or_else(is_not)
    };
    store.retrieve(&step.request()).unwrap().map(version).collect()
}

/// A reader that starts after the flush of a step finds all its fields, or later ones.
pub(crate) fn check(store: &FieldStore, step: Step) {
    let found = versions(store, &step);
    assert_eq!(found.len() as u64, Step::FIELDS, "{step:?} was flushed");
    assert!(found.iter().all(|version| *version >= step.version), "{step:?} was flushed, found {found:?}");
}

/// A digest of everything that the store lists.
fn digest(store: &FieldStore) {
    let everything: Request = "".parse().unwrap();
    let listed = store.list(&everything, ListOptions::default()).unwrap();
    let line = |field: isotach_fields::Listed| format!("{} {:?}", field.key(), field.location());
    let mut lines: Vec<String> = listed.map(|field| line(field.unwrap())).collect();
    lines.sort();
    say(&Said::Digest(format!("{} fields {:08x}", lines.len(), crc32c(lines.join("\n").as_bytes()))));
}
