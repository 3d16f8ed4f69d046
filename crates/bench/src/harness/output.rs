//! The output of figures: lines of JSON, tables, and numbers as text.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use crate::{Error, Result};

/// A value as one line of JSON, without its end.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(io::Error::from).map_err(Error::pipe("encode"))
}

pub(crate) fn print_line(text: &str, out: &mut impl Write) -> Result<()> {
    writeln!(out, "{text}").map_err(Error::Output)
}

/// A table. Columns from number `left` on are aligned to the right.
pub(crate) fn table(
    header: impl IntoIterator<Item: Into<String>>,
    rows: impl IntoIterator<Item: IntoIterator<Item = String>>,
    left: usize,
) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.into_iter().map(Into::into)).add_rows(rows);
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Prints a table without trailing blanks.
pub(crate) fn print_table(table: &Table, out: &mut impl Write) -> io::Result<()> {
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// Bytes in the largest unit of which they are a whole number.
pub(crate) fn size_text(bytes: usize) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// A figure with three digits, or as a whole number: more digits would be noise.
pub(crate) fn short(figure: f64) -> String {
    match figure.abs() {
        size if size >= 100.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}

/// A mark after a figure of processes that did not overlap well.
pub(crate) fn overlap_mark(is_poor: bool) -> &'static str {
    if is_poor { "*" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_figures_are_short() {
        assert_eq!([2 << 30, 1 << 20, 4096, 100].map(size_text), ["2 GiB", "1 MiB", "4 KiB", "100 B"]);
        assert_eq!([123.4, 12.34, 1.234].map(short), ["123", "12.3", "1.23"]);
    }
}
