//! Tables.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, TableStyle, presets};

use super::print_bytes;
use crate::failure::Outcome;

/// A line below the headings, and no other lines.
const STYLE: TableStyle = presets::NOTHING.header_separator(LineStyle::none().fill('─').junction('─'));

/// A table with a heading. Columns are left-aligned unless `right` names them.
#[derive(Debug)]
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// An empty table with these columns.
    pub(crate) fn new<'h>(headings: impl IntoIterator<Item = &'h str>) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(STYLE);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(headings.into_iter().collect::<Vec<_>>());
        table.column_iter_mut().for_each(|column| {
            column.set_padding((0, 2));
        });
        Self(table)
    }

    /// Right-aligns these columns, counted from 0.
    pub(crate) fn right(mut self, columns: &[usize]) -> Self {
        for column in columns {
            if let Some(column) = self.0.column_mut(*column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.add_row(cells.into_iter().collect::<Vec<_>>());
    }

    /// Prints the table.
    pub(crate) fn print(&self) -> Outcome {
        let lines: String = self.0.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        print_bytes(lines.as_bytes())
    }
}
