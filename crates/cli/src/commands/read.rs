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
    context::{self, AtFlag, StoreFlags},
    failure::{Failure, Outcome, say},
    missing::Missing,
    output::{Bytes, count, key_object, sink::Sink},
    progress::Progress,
    requests::{OptionalRequestFlags, Requests},
};

/// Retrieve fields, one after the other, in the request's order
///
/// The request names every key that the schema asks for; optional keys may be left out. A missing field is no error: it is
/// named on standard error.
#[derive(Debug, Args)]
#[command(mut_arg("request", |request| request
    .required_unless_present_any(["file", "extract"])
    .help("Which fields: names with values, as in class=od,step=0/to/24/by/6,param=t/u")))]
#[command(after_help = "Example:
  isotach read class=od,date=-1,time=12,type=fc,levtype=pl,levelist=500,step=6,param=t -o t.grib")]
pub(crate) struct ReadFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    /// Read the fields that have the keys of a file's messages; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["request", "file", "strict_request"])]
    extract: Option<PathBuf>,
    #[command(flatten)]
    at: AtFlag,
    /// The output; - is standard output, which is also the default unless it is a terminal
    ///
    /// A file appears, or is replaced, when it is complete and at least one field was found. It keeps its permissions.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Fail, and leave no file, if a field is missing
    #[arg(long)]
    strict: bool,
    /// Print one JSON object on standard error: fields, bytes, missing, and the first 1000 of the missing keys
    #[arg(long)]
    json: bool,
}

/// The number of missing fields that are named in JSON.
const MISSING_NAMED_MAX: usize = 1000;

/// Retrieves in the request's order, with bounded memory.
pub(crate) fn run(target: &StoreFlags, flags: &ReadFlags) -> Outcome {
    let requests = match &flags.extract {
        Some(path) => Requests::of_messages(path)?,
        None => flags.requests.parse()?,
    };
    let output = output_of(flags.output.as_deref())?;
    let store = context::open_at(target, &flags.at)?;
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
            progress.add_field(length);
        }
        summary.add_missing(Missing { request, found: retrieval.missing() }, &mut progress);
        // Only the first request is explained: the others mostly fail for the same reason.
        if summary.fields == before && !summary.as_json && !mem::replace(&mut is_explained, true) {
            store.explain(request).into_iter().for_each(say);
        }
        Ok(())
    })?;
    progress.finish();
    if flags.strict && summary.missing > 0 {
        summary.print()?;
        return Err(Failure::Reported);
    }
    if summary.fields > 0 {
        sink.finish()?;
    } else if let Some(line) = sink.unfinished().filter(|_| !summary.as_json) {
        say(line);
    }
    summary.print()
}

/// The output. The default is standard output, unless that is a terminal.
fn output_of(path: Option<&Path>) -> Outcome<&Path> {
    match path {
        Some(path) => Ok(path),
        None if !stdout().is_terminal() => Ok(Path::new("-")),
        None => Err(Failure::usage(
            "standard output is a terminal, and fields are bytes: expected -o FILE, a pipe or file as standard output, or \
             -o - to print them anyway; `isotach list` shows which fields exist",
        )),
    }
}

/// The fields that were read, and those that are missing.
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
    fn add_missing(&mut self, missing: Missing<'_>, progress: &mut Progress) {
        self.missing = self.missing.saturating_add(missing.count());
        if !self.as_json {
            if let Some(text) = missing.text() {
                progress.finish();
                say(text);
            }
            return;
        }
        let more_max = MISSING_NAMED_MAX.saturating_sub(self.missing_keys.len());
        let keys = missing.found.map(|found| found.keys).unwrap_or_default();
        self.missing_keys.extend(keys.into_iter().take(more_max));
    }

    fn print(&self) -> Outcome {
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
        // Standard output may have the fields.
        writeln!(stderr().lock(), "{object}").map_err(Failure::file("write", "standard error".as_ref()))
    }
}
