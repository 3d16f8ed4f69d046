//! Requests and keys in the words of MARS, planned by the standard schema.
#![no_main]

use std::sync::LazyLock;

use isotach_mars::{Key, Match, Request, Schema};

static SCHEMA: LazyLock<Schema> = LazyLock::new(Schema::standard);

/// Whether ranges are short. Up to a million values are planned as they should be, which takes a fuzzer seconds.
fn is_short(text: &str) -> bool {
    let text = text.to_lowercase();
    text.match_indices("to").all(|(at, _)| {
        let from =
            text[..at].rsplit(['/', '=', ',']).find(|word| !word.trim().is_empty()).unwrap_or("").trim();
        let to = text[at + 2..].trim_start_matches(|c: char| c == '/' || c.is_whitespace());
        let digits = to.bytes().take_while(u8::is_ascii_digit).count();
        digits <= 3 || digits == from.len() && from.get(..6).is_some_and(|month| to.starts_with(month))
    })
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = Request::parse_many(text);
    if let Ok(request) = text.parse::<Request>()
        && is_short(text)
    {
        let _ = SCHEMA.plans(&request, Match::Exact);
        let _ = SCHEMA.plans(&request, Match::Partial);
    }
    if let Ok(key) = text.parse::<Key>()
        && let Ok(split) = SCHEMA.split(&key)
    {
        // What is canonical stays as it is.
        let again = SCHEMA.split(&split.whole());
        assert_eq!(again.map(|again| again.whole()), Ok(split.whole()));
    }
});
