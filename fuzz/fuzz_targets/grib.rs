//! Cutting an input into GRIB messages. Those found lie in it, in order and without overlap.
#![no_main]

use isotach_grib::{MessageScanner, SliceScanner};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut end = 0;
    let mut found = Vec::new();
    for message in SliceScanner::new(bytes).flatten() {
        assert!(message.offset >= end);
        end = message.offset + message.bytes.len() as u64;
        assert_eq!(&bytes[message.offset as usize..end as usize], message.bytes);
        found.push(message.bytes);
    }
    let streamed = MessageScanner::new(bytes).flatten().map(|message| message.bytes);
    assert!(streamed.eq(found), "a stream is cut otherwise than a buffer");
});
