//! The YAML configuration, ours and FDB's. A schema by a path is left out: it would be read.
#![no_main]

use std::path::Path;

use isotach_fields::Config;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if !text.contains("schema") {
        let _ = Config::parse(text, Path::new("fuzzed.yaml"));
    }
});
