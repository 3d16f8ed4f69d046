//! `isotach read`: the bytes of fields, one after the other.

use std::{
    io::{IsTerminal, Write, stderr, stdout},
    mem,
    path::{Path, PathBuf},
};

use clap::Args;
use isotach_mars::{Key, Match};
use serde_json::{Value, json};

use crate::{
    context::{self, AtFlag, PlaceFlags},
    failure::{Failure, Outcome, say},
    missing::{self, Missing},
    output::{Bytes, count, key_object, sink::Sink},
    progress::Progress,
    requests::{self, OneRequest},
};

/// Retrieve fields, one after the other, in the request's order
///
/// The request names every key that the schema asks for; one that is optional there may be left out. A field that is not
/// there is no error: it is named on standard error.
#[derive(Debug, Args)]
#[command(mut_arg("request", |request| request
    .required_unless_present_any(["file", "extract"])
    .help("Which fields: names with values, as in class=od,step=0/to/24/by/6,param=t/u")))]
#[command(after_help = "Example:
  isotach read class=od,date=-1,time=12,type=fc,levtype=pl,levelist=500,step=6,param=t -o t.grib")]
pub(crate) struct ReadFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    /// Read the fields that have the keys of a file's messages; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["request", "file"])]
    pub(crate) extract: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Where the fields go; - is standard output, which is also taken without this unless it is a terminal
    ///
    /// A file appears, or is replaced, when it is whole and something was found. It keeps its permissions.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Fail, and leave no file, if a field is missing
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object on standard error: fields, bytes, missing, and the first 1000 of the missing keys
    #[arg(long)]
    pub(crate) json: bool,
}

/// How many missing fields are named in JSON.
const MISSING_NAMED_MAX: usize = 1000;

/// Retrieves in the request's order, with bounded memory.
pub(crate) fn run(place: &PlaceFlags, flags: &ReadFlags) -> Outcome {
    let requests = match &flags.extract {
        Some(path) => requests::of_messages(path)?,
        None => requests::given_or_all(&flags.requests)?,
    };
    let output = output_of(flags.output.as_deref())?;
    let store = context::open_at(place, &flags.at)?;
    let mut sink = Sink::open(output)?;
    let mut progress = Progress::new(None);
    let mut is_explained = false;
    let mut summary = Summary { as_json: flags.json, ..Summary::default() };
    requests.for_each(&store, Match::Exact, |request| {
        let before = summary.fields;
        let mut retrieval = store.retrieve(request)?;
        for field in retrieval.by_ref() {
            let field = field?;
            sink.write(&field.bytes)?;
            let length = field.bytes.len() as u64;
            (summary.fields, summary.bytes) = (summary.fields + 1, summary.bytes + length);
            progress.field(length);
        }
        summary.take_missing(Missing { request, found: retrieval.missing() }, &mut progress);
        // Of several requests the first is explained: for the others it is mostly the same.
        if summary.fields == before && !summary.as_json && !mem::replace(&mut is_explained, true) {
            missing::why(&store, request).into_iter().for_each(say);
        }
        Ok(())
    })?;
    progress.finish();
    if flags.strict && summary.missing > 0 {
        summary.tell()?;
        return Err(Failure::Reported);
    }
    if summary.fields > 0 {
        sink.finish()?;
    } else if let Some(left) = sink.give_up().filter(|_| !summary.as_json) {
        say(left);
    }
    summary.tell()
}

/// Where the fields go. Without a word on it they go to standard output, unless a person would see them.
fn output_of(given: Option<&Path>) -> Outcome<&Path> {
    match given {
        Some(path) => Ok(path),
        None if !stdout().is_terminal() => Ok(Path::new("-")),
        None => Err(Failure::usage(
            "standard output is a terminal, and fields are bytes: expected -o FILE, a pipe or file to write to, or -o - to \
             print them all the same; `isotach list` shows which there are",
        )),
    }
}

/// What was read and what was not there.
#[derive(Debug, Default)]
struct Summary {
    fields: u64,
    bytes: u64,
    missing: u64,
    /// The first of the missing fields, for JSON.
    missing_keys: Vec<Key>,
    as_json: bool,
}

impl Summary {
    fn take_missing(&mut self, missing: Missing<'_>, progress: &mut Progress) {
        self.missing = self.missing.saturating_add(missing.count());
        if !self.as_json {
            if let Some(text) = missing.text() {
                progress.finish();
                say(text);
            }
            return;
        }
        let room = MISSING_NAMED_MAX.saturating_sub(self.missing_keys.len());
        let keys = missing.found.map(|found| found.keys).unwrap_or_default();
        self.missing_keys.extend(keys.into_iter().take(room));
    }

    fn tell(&self) -> Outcome {
        if !self.as_json {
            say(format!("read {}, {}", count(self.fields, "field"), Bytes(self.bytes)));
            return Ok(());
        }
        let keys: Vec<Value> = self.missing_keys.iter().map(key_object).collect();
        let object = json!({
            "fields": self.fields,
            "bytes": self.bytes,
            "missing": self.missing,
            "missing_keys": keys,
        });
        // Standard output may be where the fields go.
        writeln!(stderr().lock(), "{object}").map_err(Failure::file("write", "standard error".as_ref()))
    }
}
