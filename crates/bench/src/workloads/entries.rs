//! Many entries in one container: the time to open it and to look up a key.
//!
//! What must stay true: each process that opens it has just been started, and every value is checked. Keys are written in
//! random order, which is the hardest case for runs that are merged.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    time::Instant,
};

use clap::Args;
use isotach_object::{
    Cell, Container, ContainerOptions, KeyValue, Label, ObjectClass, ObjectId, ObjectType, PoolUri, Registry,
    Update,
};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    harness::{
        driver::Driver,
        folders::{self, scratch},
        launcher::{Launcher, Task, this_program},
        output::{json, print_line, table},
        spread::{MIB, median_of},
        usage::{Total, Watch},
    },
};

pub(crate) const NAME: &str = "opener";
/// Entries of one update.
const BATCH: u64 = 1000;
/// Entries between flushes.
const FLUSH_EVERY: u64 = 100_000;
/// Keys that each process looks up. The first is part of opening.
const LOOK_UPS: u64 = 1000;
/// Bytes of a value: about as many as in the index of a field store.
const VALUE: usize = 40;
/// An odd number: multiplication by it permutes the 64-bit numbers.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
/// The goals: seconds for opening and the first look-up, and bytes of memory.
const OPEN_MAX_S: f64 = 0.1;
const MEMORY_MAX: f64 = 200e6;

/// Options of `entries`.
#[derive(Debug, Clone, Args)]
pub(crate) struct EntriesArgs {
    /// The number of entries
    #[arg(default_value_t = 25_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) count: u64,
    /// The folder to measure in, in a temporary folder
    #[arg(long = "where", value_name = "FOLDER", default_value = ".")]
    pub(super) place: PathBuf,
    /// The number of processes that open it, one after the other; the median is shown
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) repetitions: u32,
    /// One JSON object instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

/// The work of a process that opens the container.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Opener {
    pool: String,
    entries: u64,
}

#[derive(Debug, Serialize)]
struct Measured {
    place: String,
    entries: u64,
    fill_s: f64,
    stored_bytes: u64,
    /// Seconds until the first key was found, including the opening of pool and container.
    first_s: f64,
    /// Microseconds of each later look-up.
    look_up_us: f64,
    /// Peak resident memory of a process that opens it.
    rss_mib: f64,
    repetitions: u32,
}

pub(crate) fn run(args: &EntriesArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let folder = scratch(&args.place)?;
    let pool = format!("posix:{}/pool?sync=no", folder.path().display());
    let begin = Instant::now();
    let stored_bytes = fill(&pool, args.count, registry)?;
    let fill_s = begin.elapsed().as_secs_f64();
    let task = Task::new(NAME, &Opener { pool, entries: args.count })?;
    let mut launcher = Launcher::local(this_program()?)?;
    let open = |_| launcher.total(vec![task.clone()]);
    let all = (0..args.repetitions).map(open).collect::<Result<Vec<_>>>()?;
    let median_of = |figure: fn(&Total) -> f64| median_of(&all, figure);
    let measured = Measured {
        place: folders::title(&args.place),
        entries: args.count,
        fill_s,
        stored_bytes,
        first_s: median_of(|total| total.first_s),
        look_up_us: median_of(|total| {
            (total.seconds - total.first_s) * 1e6 / (total.fields - 1).max(1) as f64
        }),
        rss_mib: median_of(|total| total.rss_kb as f64 / 1024.0),
        repetitions: args.repetitions,
    };
    print_line(&if args.json { json(&measured)? } else { text(&measured) }, out)
}

/// Creates the pool and fills its container. Returns the size of the container.
fn fill(pool: &str, count: u64, registry: &Registry) -> Result<u64> {
    let uri: PoolUri = pool.parse()?;
    registry.engine(uri.scheme())?.create_pool(&uri)?;
    let pool = registry.open_pool(&uri)?;
    let label = label()?;
    pool.create_container(&label, &ContainerOptions::default())?;
    let container = pool.open_container(&label)?;
    let mut done = 0;
    while done < count {
        let end = count.min(done + BATCH);
        put(&*container, done..end)?;
        if end / FLUSH_EVERY > done / FLUSH_EVERY || end == count {
            container.flush()?;
            progress(end, count);
        }
        done = end;
    }
    Ok(pool.container_size(&label)?)
}

fn put(container: &dyn Container, numbers: std::ops::Range<u64>) -> Result<()> {
    let entries: Vec<_> = numbers.map(|number| (key(number), value(number))).collect();
    let updates: Vec<_> = entries
        .iter()
        .map(|(key, value)| Update::Put { cell: Cell::kv(object(), key.as_bytes()), value })
        .collect();
    Ok(container.update(&updates)?)
}

/// Shows the progress of filling on a terminal.
fn progress(done: u64, count: u64) {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let end = if done == count { "\n" } else { "" };
        let _ = write!(err, "\r{done} of {count} entries{end}");
    }
}

/// Opens the container and looks keys up.
pub(crate) fn open(opener: &Opener, registry: &Registry, driver: &mut dyn Driver) -> Result<()> {
    let (uri, label) = (opener.pool.parse::<PoolUri>()?, label()?);
    driver.wait_for_start()?;
    let mut watch = Watch::start();
    let container = registry.open_pool(&uri)?.open_container(&label)?;
    let entries = KeyValue::new(&*container, object())?;
    for number in 0..LOOK_UPS {
        let number = number.wrapping_mul(MIX) % opener.entries;
        let found = entries.get(key(number).as_bytes())?;
        if found.as_deref() != Some(&value(number)) {
            return Err(Error::wrong(
                format!("{found:?} for key {}", key(number)),
                format!("{:?}", value(number)),
            ));
        }
        watch.field(VALUE as u64);
    }
    driver.report(&watch.stop(|| ()))
}

fn label() -> Result<Label> {
    Ok("entries".parse()?)
}

fn object() -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1)
}

fn key(number: u64) -> String {
    format!("{:016x}:pl:500:t", number.wrapping_mul(MIX))
}

fn value(number: u64) -> [u8; VALUE] {
    std::array::from_fn(|at| number.to_le_bytes()[at % 8])
}

fn text(measured: &Measured) -> String {
    let verdict =
        |goal: String, reached: bool| format!("{goal}: {}", if reached { "reached" } else { "missed" });
    let open = verdict(format!("less than {} ms", OPEN_MAX_S * 1e3), measured.first_s < OPEN_MAX_S);
    let memory = verdict("less than 200 MB".to_owned(), measured.rss_mib * MIB < MEMORY_MAX);
    let row = |name: &str, figure: String, goal: String| [name.to_owned(), figure, goal];
    let rows = [
        row("entries", measured.entries.to_string(), String::new()),
        row("filled in", format!("{:.1} s", measured.fill_s), String::new()),
        row("takes", format!("{:.0} MiB", measured.stored_bytes as f64 / MIB), String::new()),
        row("open and find the first key", format!("{:.1} ms", measured.first_s * 1e3), open),
        row("find another", format!("{:.1} us", measured.look_up_us), String::new()),
        row("peak memory", format!("{:.1} MiB", measured.rss_mib), memory),
    ];
    let table = table(["of one container", "", "goal"], rows, 3);
    format!("{}\nmedians of {} processes\n{table}", measured.place, measured.repetitions)
}
