//! `isotach read`: the bytes of fields, one after the other.

use isotach_mars::Request;

use super::{missing::Missing, requests, sink::Sink};
use crate::{
    context,
    failure::{Failure, Outcome, say},
    flags::{PlaceFlags, ReadFlags},
    output::{Bytes, count},
    progress::Progress,
};

/// Retrieves in the request's order, with bounded memory.
pub(crate) fn run(place: &PlaceFlags, flags: &ReadFlags) -> Outcome {
    let requests = requests::given(&flags.requests)?;
    let store = context::open(place)?;
    let mut sink = Sink::open(&flags.output)?;
    let mut progress = Progress::new(None);
    let (mut fields, mut bytes, mut missing) = (0, 0, 0);
    for request in &requests {
        let mut retrieval = store.retrieve(request)?;
        for field in retrieval.by_ref() {
            let field = field?;
            sink.write(&field.bytes)?;
            let length = field.bytes.len() as u64;
            (fields, bytes) = (fields + 1, bytes + length);
            progress.field(length);
        }
        missing += tell_missing(request, retrieval.missing(), &mut progress);
    }
    progress.finish();
    let said = format!("read {}, {}", count(fields, "field"), Bytes(bytes));
    if flags.strict && missing > 0 {
        say(said);
        return Err(Failure::Reported);
    }
    sink.finish()?;
    say(said);
    Ok(())
}

fn tell_missing(request: &Request, found: Option<isotach_fields::Missing>, progress: &mut Progress) -> u64 {
    let missing = Missing { request, found };
    if let Some(text) = missing.text() {
        progress.finish();
        say(text);
    }
    missing.count()
}
