//! Superblocks of pools and containers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| isotach_engine_posix::fuzzing::superblock(bytes));
