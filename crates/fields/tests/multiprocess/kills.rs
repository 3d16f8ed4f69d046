//! `kill -9` among writers and readers at any moment, again and again.
//!
//! A killed writer's successor continues after the last flush that the dead writer reported. There is no other recovery
//! step.

use std::{thread, time::Duration};

use crate::{
    field::Step,
    launcher::{Child, Said},
    number, roles, seeded,
};

const WRITERS: u64 = 8;
const READERS: u64 = 4;
/// Flushes of a writer in one dataset: all its steps and, once, all of them anew.
const SPAN: u64 = 2 * Step::STEPS;
/// Flushes that are checked at once when their writer was killed. All are checked at the end.
const LATELY: u64 = 4;

/// A writer and its present process.
struct Writer {
    number: u64,
    /// The last flush that it reported.
    flushed: Option<u64>,
    life: Child,
}

impl Writer {
    fn start(number: u64, flushed: Option<u64>, uri: &str) -> Self {
        let first = flushed.map_or(0, |flushed| flushed + 1);
        Self { number, flushed, life: Child::start(&format!("writer {number} {first} {SPAN} {uri}")) }
    }

    /// Kills and restarts it, and checks its last flushes. Returns the number of checked fields.
    fn kill(self, uri: &str) -> (Self, u64) {
        let flushed = self.life.kill().max(self.flushed);
        let begin = flushed.map_or(0, |flushed| flushed.saturating_sub(LATELY));
        let checked = check(self.number, begin, flushed, uri);
        (Self::start(self.number, flushed, uri), checked)
    }
}

/// Checks with a new handle that the flushes of a writer from `begin` on exist. Returns the number of checked fields.
fn check(writer: u64, begin: u64, flushed: Option<u64>, uri: &str) -> u64 {
    let store = roles::open(uri);
    let counts = begin..flushed.map_or(0, |flushed| flushed + 1);
    let steps = counts.map(|count| Step::nth(writer, count, SPAN));
    steps.map(|step| roles::check(&store, step)).count() as u64 * Step::FIELDS
}

#[test]
fn no_flushed_field_is_lost_when_writers_and_readers_are_killed_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    // Runs are written and merged all the time, so that their makers are killed, too.
    let uri = format!("posix:{}/store?checkpoint=16384", folder.path().display());
    kill_again_and_again(&uri, number("ISOTACH_KILLS", 20));
}

/// Runs writers and readers in a new store, and kills some of them so many times.
pub(crate) fn kill_again_and_again(uri: &str, rounds: u64) {
    roles::create(uri);
    let mut random = seeded();
    let start_reader = |reader: u64| Child::start(&format!("reader {reader} {WRITERS} {SPAN} {uri}"));
    let mut writers: Vec<Writer> = (0..WRITERS).map(|writer| Writer::start(writer, None, uri)).collect();
    let mut readers: Vec<Child> = (0..READERS).map(start_reader).collect();
    let (mut killed, mut checked) = (0u64, 0);
    for _ in 0..rounds {
        // Any moment, from that at which a process begins to be.
        thread::sleep(Duration::from_micros(random.below(100_000)));
        for _ in 0..=random.below(3) {
            let victim = random.below(WRITERS + READERS);
            if victim < WRITERS {
                let (next, fields) = writers.remove(victim as usize).kill(uri);
                writers.insert(victim as usize, next);
                checked += fields;
            } else {
                let at = (victim - WRITERS) as usize;
                readers.remove(at).kill();
                readers.insert(at, start_reader(victim));
            }
            killed += 1;
        }
        writers.iter_mut().map(|writer| &mut writer.life).chain(&mut readers).for_each(Child::assert_lives);
    }
    for writer in &mut writers {
        writer.life.send("stop");
        writer.flushed = writer.life.count().checked_sub(1);
    }
    let reads = Child::stop(&mut readers);
    let lives = writers.iter_mut().map(|writer| &mut writer.life);
    let fresh = Child::same_digest(lives.chain(&mut readers), uri);
    for writer in &writers {
        checked += check(writer.number, 0, writer.flushed, uri);
    }
    let flushes: u64 = writers.iter().filter_map(|writer| writer.flushed).map(|last| last + 1).sum();
    println!(
        "{rounds} rounds, {killed} processes killed; {flushes} flushes of {} fields, {checked} fields looked for and \
         found, {reads} fields read by others, {fresh}",
        Step::FIELDS
    );
    assert!(killed >= rounds && flushes >= WRITERS);
    Child::start(&format!("check 0 {} {SPAN} {uri}", writers[0].flushed.unwrap())).expect(&Said::Done);
}
