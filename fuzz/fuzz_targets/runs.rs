//! Runs: their index, their blocks and their entries.
#![no_main]

use isotach_engine_posix::fuzzing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzzing::run_index(bytes);
    fuzzing::run(bytes);
    fuzzing::entry(bytes);
});
