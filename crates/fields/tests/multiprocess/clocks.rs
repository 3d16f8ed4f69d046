//! Processes whose clocks jump by hours, back and forth, at every reading.
//!
//! Only optimizations depend on time: which process writes a run, and when leftovers of killed processes are swept. The
//! clock is a small C library that is preloaded into the processes.

use std::{env, path::Path, process::Command};

use isotach_needs::{Need, skip};

use crate::{field::Step, launcher::Child, number, roles};

const WRITERS: u64 = 4;
/// Flushes of a writer in one dataset, so that all create datasets at the same time, again and again.
const SPAN: u64 = 10;

/// Builds the clock; `None` without a C compiler.
fn build(folder: &Path) -> Option<std::path::PathBuf> {
    let library = folder.join("jumping_clock.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/multiprocess/jumping_clock.c");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
    built.is_ok_and(|status| status.success()).then_some(library)
}

#[test]
fn nothing_is_lost_or_held_up_when_clocks_jump_back_and_forth() {
    let (folder, uri) = roles::new_store("checkpoint=16384");
    let Some(clock) = build(folder.path()) else {
        return skip(Need::Compiler, "there is no C compiler to build a wrong clock with");
    };
    let start = |role: &str| {
        let mut command = Command::new(env::current_exe().unwrap());
        Child::start_by(command.env("LD_PRELOAD", &clock), &format!("{role} {uri}"))
    };
    let flushes = number("ISOTACH_CLOCK_FLUSHES", 100);
    let mut writers: Vec<Child> =
        (0..WRITERS).map(|writer| start(&format!("writer {writer} 0 {SPAN}"))).collect();
    let mut reader = start(&format!("reader 0 {WRITERS} {SPAN}"));
    writers.iter_mut().for_each(|writer| writer.wait_flushed(flushes));
    let (store, mut fields) = (roles::open(&uri), 0);
    reader.send("stop");
    let reads = reader.count();
    for (number, writer) in writers.iter_mut().enumerate() {
        writer.send("stop");
        for count in 0..writer.count() {
            roles::check(&store, Step::nth(number as u64, count, SPAN));
            fields += Step::FIELDS;
        }
    }
    let digest = Child::same_digest(writers.iter_mut().chain([&mut reader]), &uri);
    println!("{fields} fields flushed and found, {reads} read meanwhile, {digest}");
}
