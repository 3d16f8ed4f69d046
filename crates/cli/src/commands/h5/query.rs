//! `isotach h5 query`: elements and objects that pass a condition.

use std::{io::Write as _, sync::Arc};

use clap::Args;
use isotach_hdf5::{Condition, Findings, Kind, Object, Run, Selection, Unsearched};
use isotach_hdf5_tools::ModelFile;
use serde_json::json;

use super::{
    describe,
    site::{Rights, object},
    values::Values,
};
use crate::{
    failure::{Failure, Outcome, say},
    output::{Table, count, outln, print_json, standard_output},
};

/// How many elements are shown without --all.
const SHOWN: u64 = 100;
/// How many bytes of elements are read at once; one element may have more.
const PIECE: u64 = 4 << 20;
/// How many runs are read at once.
const RUNS: usize = 1 << 16;

/// Find elements of a dataset, or objects in a group, that pass a condition
///
/// Of a dataset the elements are shown with their places, of a group the objects in and below it, with the number of elements that pass if the
/// condition is on elements. An index makes it faster: see isotach h5 index. Conditions:
///
/// value > 280   value in 100..500   value is nan   wind.speed != 0   state = "good"   name like "temp*"   @units = "K"   has @units
///
/// They are combined by and, or, not and brackets.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach h5 query run.h5 fields/t 'value > 310 or value is nan'
  isotach h5 query run.h5 stations 'temperature > 280 and pressure in 100..500' --count
  isotach h5 query run.h5 / '@units = \"K\" and value < 200'")]
pub(crate) struct QueryFlags {
    /// The file
    file: String,
    /// The dataset or group in it
    #[arg(value_name = "PATH")]
    path: String,
    /// The condition
    condition: String,
    /// Print only how many there are
    #[arg(long)]
    count: bool,
    /// Show all elements, not the first 100
    #[arg(long)]
    all: bool,
    /// Print one JSON object a line, and at the end of elements how many more there are
    #[arg(long)]
    json: bool,
}

/// Prints what was found.
pub(crate) fn run(flags: &QueryFlags) -> Outcome {
    let condition = Condition::parse(&flags.condition).map_err(Failure::usage)?;
    let object = object(&flags.file, &flags.path, Rights::Read)?;
    if object.kind() == Kind::Dataset {
        let selection = object.select(&condition)?;
        if flags.count {
            return outln!("{}", selection.count());
        }
        return elements(flags, &object, &selection);
    }
    objects(flags, &object, &condition)
}

fn objects(flags: &QueryFlags, group: &Object, condition: &Condition) -> Outcome {
    let Findings { found, unsearched } = group.find(condition)?;
    if flags.count {
        warn(&unsearched);
        return outln!("{}", found.len());
    }
    let mut table = Table::new(["path", "kind", "elements"]).right(&[2]);
    for hit in &found {
        let (kind, elements) =
            (describe::kind(hit.object.kind()), hit.selection.as_ref().map(Selection::count));
        if flags.json {
            print_json(&json!({"path": hit.path, "kind": kind, "elements": elements}))?;
        }
        let elements = elements.map(|elements| elements.to_string()).unwrap_or_default();
        table.row([hit.path.clone(), kind.to_owned(), elements]);
    }
    if flags.json {
        let line = |one: &Unsearched| {
            let kind = describe::kind(one.object.kind());
            print_json(&json!({"path": one.path, "kind": kind, "not_searched": one.why}))
        };
        return unsearched.iter().try_for_each(line);
    }
    if !found.is_empty() {
        table.print()?;
    }
    warn(&unsearched);
    Ok(())
}

/// Says of which datasets nobody knows whether they pass.
fn warn(unsearched: &[Unsearched]) {
    let line = |one: &Unsearched| say(format_args!("not searched: {}: {}", one.path, one.why));
    unsearched.iter().for_each(line);
}

/// The runs of a selection that are not read yet.
struct Runs<'r> {
    runs: &'r [Run],
    /// How many elements of the first of them were read.
    first: u64,
    /// How many elements are read at most.
    left: u64,
}

impl Runs<'_> {
    /// The next runs, of so many elements at most. None at the end.
    fn take(&mut self, most: u64) -> Vec<Run> {
        let (mut some, mut room) = (Vec::new(), most.min(self.left));
        while let [run, rest @ ..] = self.runs
            && room > 0
            && some.len() < RUNS
        {
            let count = (run.count - self.first).min(room);
            some.push(Run { first: run.first + self.first, count });
            (room, self.left, self.first) = (room - count, self.left - count, self.first + count);
            if self.first == run.count {
                (self.runs, self.first) = (rest, 0);
            }
        }
        some
    }
}

fn elements(flags: &QueryFlags, object: &Object, selection: &Selection) -> Outcome {
    let source = ModelFile::new(Arc::clone(object.file()));
    let header = object.header()?;
    let datatype = describe::datatype_of(&header, &flags.path)?;
    let form = datatype.map(|datatype| datatype.file_form()).transpose().ok().flatten();
    let form = form.ok_or_else(|| Failure::failed(format!("{}: its datatype cannot be read", flags.path)))?;
    let (mut values, mut out) = (Values::new(&source), standard_output());
    let size = form.size.max(1) as usize;
    let shown = if flags.all { selection.count() } else { SHOWN };
    let mut left = Runs { runs: selection.runs(), first: 0, left: shown };
    loop {
        let some = left.take((PIECE / size as u64).max(1));
        if some.is_empty() {
            break;
        }
        let mut bytes = vec![0; some.iter().map(|run| run.count as usize * size).sum()];
        object.read(&some, &mut bytes)?;
        let places = some.iter().flat_map(|run| run.first..run.first + run.count);
        for (at, element) in places.zip(bytes.chunks_exact(size)) {
            let value = values.read(&form, element, &flags.path)?;
            let place = selection.place(at);
            if flags.json {
                writeln!(out, "{}", json!({"place": place, "value": values.json(&value)?}))?;
            } else {
                let place: Vec<String> = place.iter().map(u64::to_string).collect();
                writeln!(out, "[{}] {}", place.join(","), values.text(&value)?)?;
            }
        }
    }
    let more = if flags.all { 0 } else { selection.count().saturating_sub(SHOWN) };
    if flags.json {
        writeln!(out, "{}", json!({"more": more}))?;
    } else {
        let more = if more > 0 { format!(", the last {more} not shown") } else { String::new() };
        let work = selection.work();
        let chunks = count(work.skipped + work.by_bins + work.scanned, "chunk");
        let how = format!("{} read, {} by bins", work.scanned, work.by_bins);
        writeln!(out, "{}{more} (of {chunks} {how})", count(selection.count(), "element"))?;
    }
    Ok(out.flush()?)
}
