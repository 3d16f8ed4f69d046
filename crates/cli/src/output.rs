//! How things are printed: streams of lines, JSON objects, tables, sizes and rates for people.

mod json;
mod table;
mod units;

use std::io::{BufWriter, Stdout, stdout};

pub(crate) use self::{
    json::{json_text, key_object, print_json, push_json_text},
    table::Table,
    units::{Bytes, Rate, count, seconds, utc},
};

/// Standard output, written in large steps. Flush it before the command ends, so that a failure is told.
pub(crate) fn standard_output() -> BufWriter<Stdout> {
    BufWriter::with_capacity(256 << 10, stdout())
}
