//! Many entries in one container: what it takes to open it and to look a key up.
//!
//! What must stay true: each opening is by a process that has just been started, and every value is checked. Keys are put in
//! no order, which is the hardest case for runs that are merged.

use std::{
    io::{IsTerminal, Write},
    time::Instant,
};

use comfy_table::{Table, presets};
use isotach_object::{
    Cell, Container, ContainerOptions, KeyValue, Label, ObjectClass, ObjectId, ObjectType, PoolUri, Registry,
    Update,
};
use serde::Serialize;

use crate::{
    EntriesArgs, Error, OpenerArgs, Result,
    harness::{
        machine,
        measure::Watch,
        protocol,
        results::median,
        team::{self, Line},
    },
    workloads::suite::scratch,
};

/// Entries that are given to the engine at once.
const BATCH: u64 = 1000;
/// Entries between flushes.
const FLUSH_EVERY: u64 = 100_000;
/// Keys that each process looks up, the first of which counts for the opening.
const LOOK_UPS: u64 = 1000;
/// Bytes of a value: about what the index of a field store has.
const VALUE: usize = 40;
/// An odd number: multiplying by it puts numbers in another order and makes no two the same.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
/// Seconds that opening and the first look-up may take, and bytes of memory.
const OPEN_MAX_S: f64 = 0.1;
const MEMORY_MAX: f64 = 200e6;

/// What was measured.
#[derive(Debug, Serialize)]
struct Measured {
    place: String,
    entries: u64,
    /// Seconds that filling took.
    fill_s: f64,
    /// What the container takes.
    stored_bytes: u64,
    /// Seconds until the first key was found: opening the pool and the container included.
    first_s: f64,
    /// Microseconds of each look-up after that.
    look_up_us: f64,
    /// Peak resident memory of a process that opens it.
    rss_mib: f64,
    repetitions: u32,
}

/// Fills a container and measures openings of it.
pub(crate) fn run(args: &EntriesArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let folder = scratch(&args.place)?;
    let pool = format!("posix:{}/pool?sync=no", folder.path().display());
    let begin = Instant::now();
    let stored_bytes = fill(&pool, args.count, registry)?;
    let fill_s = begin.elapsed().as_secs_f64();
    let line: Line =
        ["opener".into(), pool.into(), args.count.to_string().into(), LOOK_UPS.to_string().into()].into();
    let all = (0..args.repetitions)
        .map(|_| team::run(std::slice::from_ref(&line), team::On::Nothing))
        .collect::<Result<Vec<_>>>()?;
    let median_of = |figure: fn(&team::Total) -> f64| median(all.iter().map(figure).collect());
    let measured = Measured {
        place: machine::place(&args.place),
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
    let shown = match args.json {
        true => {
            serde_json::to_string(&measured).map_err(std::io::Error::from).map_err(Error::pipe("encode"))?
        }
        false => text(&measured),
    };
    writeln!(out, "{shown}").map_err(Error::Output)
}

/// Makes the pool and its container; gives what it takes.
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

/// Shows how far filling is, to whoever looks on.
fn progress(done: u64, count: u64) {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let end = if done == count { "\n" } else { "" };
        let _ = write!(err, "\r{done} of {count} entries{end}");
    }
}

/// Opens the container and looks keys up.
pub(crate) fn open(args: &OpenerArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let (uri, label) = (args.pool.parse::<PoolUri>()?, label()?);
    protocol::wait_for_go(out)?;
    let mut watch = Watch::start();
    let container = registry.open_pool(&uri)?.open_container(&label)?;
    let entries = KeyValue::new(&*container, object())?;
    for number in 0..args.look_ups {
        let number = number.wrapping_mul(MIX) % args.count;
        let found = entries.get(key(number).as_bytes())?;
        if found.as_deref() != Some(&value(number)) {
            return Err(Error::wrong(
                format!("{found:?} for key {}", key(number)),
                format!("{:?}", value(number)),
            ));
        }
        watch.field(VALUE as u64);
    }
    protocol::report(out, &watch.stop(|| ()))
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
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(["of one container", "", "goal"]);
    let verdict =
        |goal: String, reached: bool| format!("{goal}: {}", if reached { "reached" } else { "missed" });
    table.add_row(["entries".to_owned(), measured.entries.to_string(), String::new()]);
    table.add_row(["filled in".to_owned(), format!("{:.1} s", measured.fill_s), String::new()]);
    let stored = measured.stored_bytes as f64 / f64::from(1 << 20);
    table.add_row(["takes".to_owned(), format!("{stored:.0} MiB"), String::new()]);
    let open = verdict(format!("less than {} ms", OPEN_MAX_S * 1e3), measured.first_s < OPEN_MAX_S);
    table.add_row([
        "open and find the first key".to_owned(),
        format!("{:.1} ms", measured.first_s * 1e3),
        open,
    ]);
    table.add_row(["find another".to_owned(), format!("{:.1} us", measured.look_up_us), String::new()]);
    let memory = verdict("less than 200 MB".to_owned(), measured.rss_mib * f64::from(1 << 20) < MEMORY_MAX);
    table.add_row(["peak memory".to_owned(), format!("{:.1} MiB", measured.rss_mib), memory]);
    format!("{}\nmedians of {} processes\n{table}", measured.place, measured.repetitions)
}
