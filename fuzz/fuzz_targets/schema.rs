//! The schema language. What is taken is taken again as it was kept.
#![no_main]

use isotach_mars::Schema;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(schema) = Schema::parse(text) {
        assert_eq!(Schema::parse(schema.source()).map(|again| again.digest()), Ok(schema.digest()));
    }
});
