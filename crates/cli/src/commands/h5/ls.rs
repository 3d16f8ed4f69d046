//! `isotach h5 ls`: a table of links.

use std::collections::HashMap;

use clap::Args;
use isotach_hdf5::{Kind, Link, Target};
use isotach_hdf5_tools::{Error, Source, find, open, split};
use serde_json::{Map, Value, json};

use super::{describe, maps, site::site};
use crate::{
    failure::{Failure, Outcome, say},
    output::{Bytes, Table, print_json},
};

/// List the links of a group of an HDF5 file
///
/// For each link its name, the kind of its target, extent, datatype, chunk, filters, stored bytes and the number of attributes. An extent that
/// can grow is followed by its greatest lengths, with a star for no limit.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach h5 ls run.h5
  isotach h5 ls run.h5/fields -r --json")]
pub(crate) struct LsFlags {
    /// The file, and a group or another object in it
    #[arg(value_name = "FILE[/PATH]")]
    file: String,
    /// Also list groups within groups
    #[arg(short, long)]
    recursive: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// A row: what is said of a link.
struct Row {
    name: String,
    kind: &'static str,
    /// Where it leads, or the path under which its target is listed already.
    target: Option<String>,
    cells: [String; 6],
    json: Map<String, Value>,
}

/// Walks groups and prints rows.
struct Listing<'l> {
    source: &'l dyn Source,
    flags: &'l LsFlags,
    table: Table,
    is_empty: bool,
    has_failed: bool,
    /// The groups that are listed, with their paths.
    seen: HashMap<u64, String>,
}

/// Prints the table, or JSON as it goes.
pub(crate) fn run(flags: &LsFlags) -> Outcome {
    let site = site()?;
    let (file, path) = split(&site, &flags.file);
    let source = open(&site, file)?;
    let number = find(&*source, path)?;
    let headings = ["name", "kind", "shape", "type", "chunk", "filters", "stored", "attributes"];
    let mut listing = Listing {
        source: &*source,
        flags,
        table: Table::new(headings).right(&[6, 7]),
        is_empty: true,
        has_failed: false,
        seen: HashMap::new(),
    };
    let header = source.header(number)?;
    if header.kind == Kind::Group {
        listing.seen.insert(number, ".".to_owned());
        listing.walk(number)?;
    } else {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let target = Target::Hard { number, kind: header.kind };
        listing.link(name, &Link { target, order: 0, charset: isotach_hdf5::Charset::Utf8 })?;
    }
    if !flags.json && !listing.is_empty {
        listing.table.print()?;
    }
    if listing.has_failed { Err(Failure::Reported) } else { Ok(()) }
}

impl Listing<'_> {
    /// Lists a group and, if asked to, those within it, each behind its own row.
    fn walk(&mut self, group: u64) -> Outcome {
        let mut left: Vec<(String, Link)> = self.source.links(group)?;
        left.reverse();
        while let Some((name, link)) = left.pop() {
            let Some(below) = self.link(name.clone(), &link)?.filter(|_| self.flags.recursive) else {
                continue;
            };
            match self.source.links(below) {
                Ok(links) => {
                    left.extend(
                        links.into_iter().rev().map(|(inner, link)| (format!("{name}/{inner}"), link)),
                    );
                }
                Err(error) => self.failed(&error),
            }
        }
        Ok(())
    }

    /// Shows a link. Returns the group that it leads to, unless that was shown already.
    fn link(&mut self, name: String, link: &Link) -> Outcome<Option<u64>> {
        let mut row =
            Row { name, kind: "soft link", target: None, cells: Default::default(), json: Map::new() };
        let mut group = None;
        match &link.target {
            Target::Soft(path) => {
                row.target = Some(format!("-> {path}"));
                row.json.insert("target".to_owned(), json!(path));
            }
            Target::External { file, path } => {
                row.kind = "external link";
                row.target = Some(format!("-> {file}:{path}"));
                row.json.extend([("file".to_owned(), json!(file)), ("target".to_owned(), json!(path))]);
            }
            Target::User { class, .. } => {
                row.kind = "user-defined link";
                row.json.insert("class".to_owned(), json!(class));
            }
            Target::Hard { number, kind } => {
                row.kind = describe::kind(*kind);
                match self.seen.get(number) {
                    Some(shown) => {
                        row.target = Some(format!("= {shown}"));
                        row.json.insert("same_as".to_owned(), json!(shown));
                    }
                    None => {
                        self.seen.insert(*number, row.name.clone());
                        group = (*kind == Kind::Group).then_some(*number);
                    }
                }
                if let Err(error) = object(self.source, *number, &mut row) {
                    self.failed(&error);
                }
            }
        }
        self.show(row)?;
        Ok(group)
    }

    fn show(&mut self, row: Row) -> Outcome {
        self.is_empty = false;
        let Row { name, kind, target, cells, json } = row;
        if self.flags.json {
            let mut object =
                Map::from_iter([("name".to_owned(), json!(name)), ("kind".to_owned(), json!(kind))]);
            object.extend(json);
            return print_json(&object);
        }
        let name = target.map_or(name.clone(), |target| format!("{name} {target}"));
        self.table.row([name, kind.to_owned()].into_iter().chain(cells));
        Ok(())
    }

    /// An object that cannot be read does not end the listing.
    fn failed(&mut self, error: &Error) {
        say(error);
        self.has_failed = true;
    }
}

/// Fills in what is said of an object.
fn object(source: &dyn Source, number: u64, row: &mut Row) -> Result<(), Error> {
    let header = source.header(number)?;
    let attributes = source.attributes(number)?.len();
    let [shape, datatype, chunk, filters, stored, count] = &mut row.cells;
    *count = attributes.to_string();
    if let Some(types) = maps::types(&header, &row.name)? {
        *datatype = types;
        row.json.insert("type".to_owned(), json!(datatype));
    }
    if header.kind == Kind::Map {
        let keys = source.map_keys(number)?.len();
        *shape = format!("{keys} keys");
        row.json.insert("keys".to_owned(), json!(keys));
    }
    if let Some(data) = &header.data {
        let bytes = source.storage_size(number)?;
        if describe::is_virtual(&header, &row.name)? {
            row.kind = "virtual dataset";
        }
        *shape = describe::shape(&data.space);
        *chunk = describe::chunk_text(data);
        *filters = describe::filters(&data.filters);
        *stored = Bytes(bytes).to_string();
        row.json.extend([
            ("shape".to_owned(), describe::json_shape(&data.space)),
            ("max_shape".to_owned(), describe::json_max(&data.space)),
            ("chunk".to_owned(), json!(describe::chunk(data))),
            ("filters".to_owned(), describe::json_filters(&data.filters)),
            ("stored".to_owned(), json!(bytes)),
        ]);
    }
    row.json.insert("attributes".to_owned(), json!(attributes));
    Ok(())
}
