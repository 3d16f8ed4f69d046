//! Output: lines of fields, JSON objects, tables, sizes and rates, and output files.

mod atomic_file;
pub(crate) mod line;
pub(crate) mod sink;
mod table;
mod units;
mod write_behind;

use std::{
    fmt,
    io::{BufWriter, Stdout, Write, stdout},
};

use isotach_mars::Key;
use serde::Serialize;
use serde_json::{Map, Value, json};

pub(crate) use self::{
    table::Table,
    units::{Bytes, Rate, count, seconds, utc},
};
use crate::failure::Outcome;

/// Standard output with a large buffer. Flush it before the command ends, so that an error is reported.
pub(crate) fn standard_output() -> BufWriter<Stdout> {
    BufWriter::with_capacity(256 << 10, stdout())
}

/// Writes all bytes to standard output.
pub(crate) fn print_bytes(bytes: &[u8]) -> Outcome {
    let mut out = stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Prints a line, as `println!` does, but returns an error where `println!` panics.
macro_rules! outln {
    ($($part:tt)*) => { $crate::output::print_line(format_args!($($part)*)) };
}
pub(crate) use outln;

/// Prints a line.
pub(crate) fn print_line(line: fmt::Arguments<'_>) -> Outcome {
    print_bytes(format!("{line}\n").as_bytes())
}

/// Prints a value as one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Outcome {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    print_bytes(&line)
}

/// Prints what was done with an object.
pub(crate) fn print_done(as_json: bool, done: &str, kind: &str, name: &str) -> Outcome {
    match as_json {
        true => print_json(&json!({(kind): name, "done": done})),
        false => outln!("{done} {kind} {name}"),
    }
}

/// Prints that an object was created.
pub(crate) fn print_created(as_json: bool, kind: &str, name: &str) -> Outcome {
    // Scripts read this value, so it stays as it is.
    print_done(as_json, if as_json { "made" } else { "created" }, kind, name)
}

/// A key as an object, in the order of the key.
pub(crate) fn key_object(key: &Key) -> Value {
    let pairs = key.iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_object_keeps_the_order_and_omits_absent_values() {
        let key = Key::new().with("step", "6").with("levelist", "").with("class", "od");
        assert_eq!(key_object(&key).to_string(), r#"{"step":"6","class":"od"}"#);
    }
}
