//! The log: whatever stands in it, verdicts never change as it grows.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isotach_engine_posix::fuzzing::log(bytes));
