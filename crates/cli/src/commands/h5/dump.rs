//! `isotach h5 dump`: values of attributes, datasets and maps.

use std::{
    collections::HashSet,
    io::{BufWriter, Stdout, Write},
};

use clap::Args;
use isotach_hdf5::{Header, Kind, Space, Target};
use isotach_hdf5_tools::{Block, Error, Source, find, open};
use isotach_hdf5_types::Datatype;
use serde_json::{Map, Value as Json, json};

use super::{
    describe, maps,
    site::site,
    values::{Values, nested},
};
use crate::{
    failure::{Failure, Outcome, say},
    output::standard_output,
};

/// How many elements are shown without --all.
const SHOWN: u64 = 100;
/// How many elements are on a line.
const ON_A_LINE: u64 = 10;
/// How many bytes of elements are read at once.
const PIECE: u64 = 4 << 20;

/// Show the values of attributes, datasets and maps of an HDF5 file
///
/// References are shown as paths, enumerations by their names. Of more than 100 elements, or keys of a map, the first 100 are shown.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach h5 dump run.h5 --attributes-only
  isotach h5 dump run.h5 /fields/t /fields/u --all")]
pub(crate) struct DumpFlags {
    /// The file
    file: String,
    /// Objects in it, with what is below them [default: the whole file]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Show no elements of datasets
    #[arg(short, long)]
    attributes_only: bool,
    /// Show all elements
    #[arg(long)]
    all: bool,
    /// Print one JSON object a line for each object: path, kind, type, shape, attributes, values or the entries of a map, and more for those not
    /// shown
    #[arg(long)]
    json: bool,
}

/// Shows objects.
struct Dump<'d> {
    source: &'d dyn Source,
    flags: &'d DumpFlags,
    values: Values<'d>,
    out: BufWriter<Stdout>,
    /// The objects that were shown.
    seen: HashSet<u64>,
    has_failed: bool,
}

/// Prints the objects as it goes, with bounded memory.
pub(crate) fn run(flags: &DumpFlags) -> Outcome {
    let source = open(&site()?, &flags.file)?;
    let whole = ["/".to_owned()];
    let paths = if flags.paths.is_empty() { &whole[..] } else { &flags.paths };
    // A wrong path is an error before anything is printed.
    let found: Result<Vec<u64>, Error> = paths.iter().map(|path| find(&*source, path)).collect();
    let mut dump = Dump {
        source: &*source,
        flags,
        values: Values::new(&*source),
        out: standard_output(),
        seen: HashSet::new(),
        has_failed: false,
    };
    for (number, path) in found?.into_iter().zip(paths) {
        dump.walk(number, format!("/{}", path.trim_matches('/')))?;
    }
    dump.out.flush()?;
    if dump.has_failed { Err(Failure::Reported) } else { Ok(()) }
}

/// An error of the file is reported, and the next object is shown. An error of standard output ends the command.
enum Stop {
    File(Error),
    Output(Failure),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error.into())
    }
}

impl From<isotach_hdf5::Error> for Stop {
    fn from(error: isotach_hdf5::Error) -> Self {
        Self::File(error.into())
    }
}

impl Dump<'_> {
    /// Shows an object and what is below it, each object once.
    fn walk(&mut self, number: u64, path: String) -> Outcome {
        let mut left = vec![(number, path)];
        while let Some((number, path)) = left.pop() {
            if !self.seen.insert(number) {
                continue;
            }
            match self.object(number, &path) {
                Ok(links) => left.extend(links.into_iter().rev()),
                Err(Stop::Output(failure)) => return Err(failure),
                Err(Stop::File(error)) => {
                    self.out.flush()?;
                    say(format_args!("{path}: {error}"));
                    self.has_failed = true;
                }
            }
        }
        Ok(())
    }

    /// Shows an object. Returns the objects that its links lead to.
    fn object(&mut self, number: u64, path: &str) -> Result<Vec<(u64, String)>, Stop> {
        let header = self.source.header(number)?;
        let datatype = describe::datatype_of(&header, path)?;
        if self.flags.json {
            self.json(number, path, &header, datatype.as_ref())?;
        } else {
            self.text(number, path, &header, datatype.as_ref())?;
        }
        if header.kind != Kind::Group {
            return Ok(Vec::new());
        }
        let above = path.trim_end_matches('/');
        let below = self.source.links(number)?.into_iter().filter_map(|(name, link)| match link.target {
            Target::Hard { number, .. } => Some((number, format!("{above}/{name}"))),
            _ => None,
        });
        Ok(below.collect())
    }

    fn text(
        &mut self,
        number: u64,
        path: &str,
        header: &Header,
        datatype: Option<&Datatype>,
    ) -> Result<(), Stop> {
        write!(self.out, "{} {path}", describe::kind(header.kind))?;
        if let Some(types) = maps::types(header, path)? {
            write!(self.out, "  {types}")?;
        }
        if let Some(data) = &header.data {
            write!(self.out, "  {}", describe::shape(&data.space))?;
        }
        writeln!(self.out)?;
        for name in self.source.attributes(number)? {
            let (values, more) = self.attribute(number, &name, |values, value| values.text(value))?;
            let text = match &values {
                (Space::Null, _) => "null".to_owned(),
                (Space::Scalar, values) => values.join(", "),
                (Space::Simple { .. }, values) => format!("[{}]", values.join(", ")),
            };
            writeln!(self.out, "  @{name}: {text}{}", more_text(more))?;
        }
        if header.kind == Kind::Map && !self.flags.attributes_only {
            return self.entries(number, path, header);
        }
        let Some(data) = header.data.as_ref().filter(|_| !self.flags.attributes_only) else { return Ok(()) };
        if !self.is_readable(header, path)? {
            writeln!(self.out, "  (the elements of a virtual dataset are in other datasets)")?;
            return Ok(());
        }
        let dims = data.space.dims().to_vec();
        let row = dims.last().copied().unwrap_or(1).max(1);
        let mut on_line = 0;
        let more = self.elements(number, path, header, datatype, &mut |dump, at, value| {
            let text = dump.values.text(value)?;
            if at % row % ON_A_LINE != 0 {
                write!(dump.out, ", {text}")?;
                return Ok(());
            }
            let end = if on_line > 0 { "\n" } else { "" };
            on_line += 1;
            write!(dump.out, "{end}  {}{text}", place(at, &dims))?;
            Ok(())
        })?;
        if on_line > 0 {
            writeln!(self.out)?;
        }
        if more > 0 {
            writeln!(self.out, " {}", more_text(more))?;
        }
        Ok(())
    }

    /// Shows the keys and values of a map, one a line.
    fn entries(&mut self, number: u64, path: &str, header: &Header) -> Result<(), Stop> {
        let entries = maps::Entries::new(self.source, number, header, path, self.most())?;
        for key in &entries.keys {
            let (key, value) = entries.entry(key)?;
            let (key, value) = (self.values.text(&key)?, self.values.text(&value)?);
            writeln!(self.out, "  {key}: {value}")?;
        }
        if entries.more > 0 {
            writeln!(self.out, "  and {} more keys (--all shows them)", entries.more)?;
        }
        Ok(())
    }

    /// The same as JSON, without the brace at the end.
    fn json_entries(&mut self, number: u64, path: &str, header: &Header) -> Result<(), Stop> {
        let entries = maps::Entries::new(self.source, number, header, path, self.most())?;
        let mut shown = Vec::with_capacity(entries.keys.len());
        for key in &entries.keys {
            let (key, value) = entries.entry(key)?;
            shown.push(json!({"key": self.values.json(&key)?, "value": self.values.json(&value)?}));
        }
        Ok(write!(self.out, ",\"entries\":{},\"more\":{}", Json::Array(shown), entries.more)?)
    }

    /// How many keys of a map are shown.
    fn most(&self) -> Option<u64> {
        (!self.flags.all).then_some(SHOWN)
    }

    fn json(
        &mut self,
        number: u64,
        path: &str,
        header: &Header,
        datatype: Option<&Datatype>,
    ) -> Result<(), Stop> {
        let mut object = Map::from_iter([
            ("path".to_owned(), json!(path)),
            ("kind".to_owned(), json!(describe::kind(header.kind))),
        ]);
        if let Some(types) = maps::types(header, path)? {
            object.insert("type".to_owned(), json!(types));
        }
        if let Some(data) = &header.data {
            object.insert("shape".to_owned(), describe::json_shape(&data.space));
        }
        let mut attributes = Map::new();
        for name in self.source.attributes(number)? {
            let ((space, values), _) = self.attribute(number, &name, |values, value| values.json(value))?;
            let value = match &space {
                Space::Null => Json::Null,
                Space::Scalar => values.into_iter().next().unwrap_or_default(),
                Space::Simple { dims, .. } => nested(values, dims),
            };
            attributes.insert(name, value);
        }
        object.insert("attributes".to_owned(), Json::Object(attributes));
        let head = Json::Object(object).to_string();
        write!(self.out, "{}", head.trim_end_matches('}'))?;
        // An empty object of attributes has lost its brace, too.
        let braces = head.len() - head.trim_end_matches('}').len();
        write!(self.out, "{}", "}".repeat(braces.saturating_sub(1)))?;
        if header.data.is_some() && !self.flags.attributes_only && self.is_readable(header, path)? {
            write!(self.out, ",\"values\":[")?;
            let more = self.elements(number, path, header, datatype, &mut |dump, at, value| {
                let comma = if at == 0 { "" } else { "," };
                let value = dump.values.json(value)?;
                write!(dump.out, "{comma}{value}")?;
                Ok(())
            });
            // The line stays JSON if an element cannot be read.
            let more = match more {
                Ok(more) => more,
                Err(stop) => {
                    writeln!(self.out, "],\"failed\":true}}")?;
                    return Err(stop);
                }
            };
            write!(self.out, "],\"more\":{more}")?;
        }
        if header.kind == Kind::Map && !self.flags.attributes_only {
            self.json_entries(number, path, header)?;
        }
        Ok(writeln!(self.out, "}}")?)
    }

    /// Whether the elements of a dataset can be shown.
    fn is_readable(&self, header: &Header, path: &str) -> Result<bool, Error> {
        Ok(self.source.reads_virtual() || !describe::is_virtual(header, path)?)
    }

    /// The elements of an attribute that are shown, and how many more it has.
    fn attribute<T>(
        &mut self,
        number: u64,
        name: &str,
        shown: impl Fn(&mut Values<'_>, &isotach_hdf5_types::Value) -> Result<T, Error>,
    ) -> Result<((Space, Vec<T>), u64), Error> {
        let attribute = self.source.attribute(number, name)?;
        let form = file_form(&describe::datatype(&attribute.datatype, name)?, name)?;
        let count = attribute.space.count()?;
        let most = if self.flags.all { count } else { count.min(SHOWN) };
        let elements = attribute.value.chunks_exact(form.size as usize).take(most as usize);
        let mut values = Vec::new();
        for element in elements {
            let value = self.values.read(&form, element, name)?;
            values.push(shown(&mut self.values, &value)?);
        }
        Ok(((attribute.space, values), count - most))
    }

    /// Calls `each` with the elements of a dataset that are shown, and their numbers. Returns how many more there are.
    fn elements(
        &mut self,
        number: u64,
        path: &str,
        header: &Header,
        datatype: Option<&Datatype>,
        each: &mut dyn FnMut(&mut Self, u64, &isotach_hdf5_types::Value) -> Result<(), Stop>,
    ) -> Result<u64, Stop> {
        let (Some(data), Some(datatype)) = (&header.data, datatype) else { return Ok(0) };
        let count = data.space.count()?;
        let most = if self.flags.all { count } else { count.min(SHOWN) };
        let form = file_form(datatype, path)?;
        let piece = (PIECE / u64::from(form.size)).clamp(1, most.max(1));
        let whole = if matches!(data.space, Space::Null) {
            Block::whole(&[0])
        } else {
            Block::whole(data.space.dims())
        };
        let mut at = 0;
        for block in whole.cut(piece) {
            let elements = self.source.read(number, &block)?;
            for element in elements.chunks_exact(form.size as usize) {
                if at == most {
                    return Ok(count - most);
                }
                let value = self.values.read(&form, element, path)?;
                each(self, at, &value)?;
                at += 1;
            }
        }
        Ok(count - at)
    }
}

fn file_form(datatype: &Datatype, place: &str) -> Result<Datatype, Error> {
    datatype.file_form().map_err(|source| Error::Datatype { place: place.to_owned(), source })
}

/// The place of an element, as in `[2,10] `; nothing in a scalar.
fn place(mut element: u64, dims: &[u64]) -> String {
    let mut place: Vec<String> = Vec::with_capacity(dims.len());
    for length in dims.iter().rev() {
        place.push((element % (*length).max(1)).to_string());
        element /= (*length).max(1);
    }
    place.reverse();
    if place.is_empty() { String::new() } else { format!("[{}] ", place.join(",")) }
}

fn more_text(more: u64) -> String {
    match more {
        0 => String::new(),
        1 => " and 1 more element (--all shows it)".to_owned(),
        more => format!(" and {more} more elements (--all shows them)"),
    }
}
