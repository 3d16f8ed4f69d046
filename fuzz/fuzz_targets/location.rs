//! Locations, pools and object ids as texts. What is taken is the same when it was printed.
#![no_main]

use isotach_fields::Location;
use isotach_object::{Label, ObjectId, PoolUri};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(location) = Location::parse(text, 0, 1, 2) {
        assert_eq!(Location::parse(&location.to_string(), 0, 1, 2).ok(), Some(location));
    }
    if let Ok(uri) = text.parse::<PoolUri>() {
        assert_eq!(uri.to_string().parse::<PoolUri>().ok(), Some(uri));
    }
    let _ = text.parse::<Label>();
    let _ = text.parse::<ObjectId>();
});
