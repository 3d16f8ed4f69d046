//! How things are printed: streams of lines, JSON objects, tables, sizes and rates for people.

mod atomic_file;
mod json;
pub(crate) mod line;
pub(crate) mod sink;
mod table;
mod units;

use std::{
    fmt,
    io::{BufWriter, Stdout, Write, stdout},
};

use serde_json::json;

use crate::failure::Outcome;

pub(crate) use self::{
    json::{json_text, key_object, print_json, push_json_text},
    table::Table,
    units::{Bytes, Rate, count, seconds, utc},
};

/// Standard output, written in large steps. Flush it before the command ends, so that a failure is told.
pub(crate) fn standard_output() -> BufWriter<Stdout> {
    BufWriter::with_capacity(256 << 10, stdout())
}

/// As `println!`, which panics when nobody reads standard output or its device is full; this fails.
macro_rules! outln {
    ($($part:tt)*) => { $crate::output::print_line(format_args!($($part)*)) };
}
pub(crate) use outln;

/// Prints a line.
pub(crate) fn print_line(line: fmt::Arguments<'_>) -> Outcome {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Says what was done with something.
pub(crate) fn print_done(as_json: bool, done: &str, what: &str, name: &str) -> Outcome {
    if as_json {
        return print_json(&json!({(what): name, "done": done}));
    }
    outln!("{done} {what} {name}")
}
