//! A process that is stopped in the middle of its work, and continues later.

use std::{thread, time::Duration};

use rustix::process::Signal;

use crate::{ONE, field::Step, launcher::Child, number, roles, seeded};

const WRITERS: u64 = 4;
/// The flushes of the others while one is stopped: enough for the log to need runs.
const FLUSHES: u64 = 40;

#[test]
fn a_stopped_writer_delays_no_other_process_and_goes_on_later() {
    let (_folder, uri) = roles::new_store("checkpoint=16384");
    let (rounds, mut random) = (number("ISOTACH_STOPS", 10), seeded());
    let mut writers = Child::start_all(0..WRITERS, |writer| format!("writer {writer} 0 {ONE} {uri}"));
    let mut others = 0;
    for _ in 0..rounds {
        let at = random.below(WRITERS) as usize;
        writers[at].wait_flushed(0);
        // Any moment of its work.
        thread::sleep(Duration::from_micros(random.below(30_000)));
        writers[at].signal(Signal::STOP);
        for other in (0..WRITERS as usize).filter(|other| *other != at) {
            let next = writers[other].last_flushed().map_or(0, |last| last + FLUSHES);
            writers[other].wait_flushed(next);
            others += FLUSHES;
        }
        // A process that starts meanwhile sees everything that was flushed.
        for (number, writer) in writers.iter_mut().enumerate() {
            let Some(last) = writer.last_flushed() else { continue };
            roles::check(&roles::open(&uri), Step::nth(number as u64, last, ONE));
        }
        writers[at].signal(Signal::CONT);
        let next = writers[at].last_flushed().map_or(0, |last| last + 5);
        writers[at].wait_flushed(next);
    }
    let mut flushed = Vec::new();
    for writer in &mut writers {
        writer.send("stop");
        flushed.push(writer.count());
    }
    Child::same_digest(writers.iter_mut(), &uri);
    let store = roles::open(&uri);
    for (number, flushed) in flushed.iter().enumerate() {
        for count in (0..*flushed).rev().take(Step::STEPS as usize) {
            roles::check(&store, Step::nth(number as u64, count, ONE));
        }
    }
    println!("{rounds} times one of {WRITERS} writers stopped; meanwhile {others} flushes of the others");
}
