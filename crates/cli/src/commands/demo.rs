//! `isotach demo`: writers and readers at work on one forecast, and a map of it.
//!
//! What must stay true: in a store that was named on the command line it touches only its own dataset. A folder that it
//! makes itself is gone when it ends, unless it is to be kept; one that holds anything but a demo's store is left alone.

mod crew;
mod map;
mod plan;
mod reader;
mod report;
mod task;
mod writer;

use std::{path::PathBuf, time::Instant};

use clap::Args;
use isotach_fields::{FieldStore, ListOptions};
use isotach_grib::Eccodes;
use isotach_mars::Request;
use isotach_object::{Error as ObjectError, Label, PoolUri};

use self::{
    crew::Crew,
    plan::{Plan, PlanFlags},
    report::Report,
    task::{Role, Task},
};
use super::destroy::ROOT;
use crate::{
    context::{self, PlaceFlags, not_opened, pool_uri},
    failure::{Failure, Outcome},
    output::{
        Bytes,
        line::{Lines, Shown},
        outln,
        sink::Sink,
        standard_output,
    },
};

/// Archive a small ensemble forecast with several writers, while readers follow it step by step
///
/// Writers and readers are processes. Each writer archives its members and flushes after each step; each reader waits for
/// a step to be complete, reads all of it and checks every field. Then one field is drawn as a map. Without --store the
/// store is the folder demo-store, made anew and removed at the end; one that holds anything but an earlier demo's store
/// is left alone, and the demo refuses to run. With --store the demo runs in that store, which is
/// made if it is not there and stays; only the demo's own dataset (class=rd,expver=demo) is replaced in it.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach demo --members 8 --writers 4 --keep")]
pub(crate) struct DemoFlags {
    #[command(flatten)]
    pub(crate) plan: PlanFlags,
    /// Where the map goes
    #[arg(long, value_name = "FILE", default_value = "demo.png")]
    pub(crate) map: PathBuf,
    /// Leave the store, to try other commands on it
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print one JSON object for each step, and one for all
    #[arg(long)]
    pub(crate) json: bool,
}

/// One writer or reader of the demo; takes its task from standard input
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct DemoWorkerFlags {}

/// The folder of the store that nobody named.
const FOLDER: &str = "demo-store";
/// How many fields are listed at the end.
const LISTED: usize = 5;

/// Runs the demo.
pub(crate) fn run(place: &PlaceFlags, flags: &DemoFlags) -> Outcome {
    let eccodes = Eccodes::load()?;
    let plan = Plan::new(eccodes, &flags.plan)?;
    let is_named = place.store.is_some() || place.config.is_some();
    let place = if is_named { place.clone() } else { own_folder()? };
    let stays = is_named || flags.keep;
    let done = show(&place, flags, &plan, eccodes, stays);
    if stays {
        return done;
    }
    let removed = remove_folder();
    done.and(removed)
}

/// One worker process.
pub(crate) fn work(place: &PlaceFlags) -> Outcome {
    let Task { role, plan } = Task::receive()?;
    match role {
        Role::Writer(number) => writer::run(place, &plan, number),
        Role::Reader => reader::run(place, &plan),
    }
}

fn show(
    place: &PlaceFlags,
    flags: &DemoFlags,
    plan: &Plan,
    eccodes: &'static Eccodes,
    stays: bool,
) -> Outcome {
    // Opened first: that it cannot be written is worth knowing before the forecast is archived.
    let map = Sink::open(&flags.map)?;
    let store = fresh(place, plan)?;
    let mut report = Report::new(plan, flags.json);
    report.introduce(&store)?;
    let begin = Instant::now();
    let mut crew = Crew::start(place, plan)?;
    while let Some(event) = crew.next()? {
        report.take(event)?;
    }
    report.finish(begin.elapsed())?;
    let drawn = draw(&store, plan, eccodes, map)?;
    if flags.json {
        return Ok(());
    }
    list_some(&store, plan)?;
    outln!("\n{}: {drawn}", flags.map.display())?;
    suggest(place, plan, stays)
}

/// The store with nothing of an earlier demo in it.
fn fresh(place: &PlaceFlags, plan: &Plan) -> Outcome<FieldStore> {
    let (config, source) = context::configuration(place)?;
    let registry = context::registry();
    for space in &config.spaces {
        for uri in [&space.catalogue, &space.store] {
            if !registry.engine(uri.scheme())?.capabilities().multi_process {
                let expected = "one that several processes can use, such as posix:/path";
                return Err(Failure::usage(format!("store {uri}: expected {expected}")));
            }
        }
    }
    let store =
        FieldStore::create(&config, &registry).map_err(|error| not_opened(error, &config, &source))?;
    let dataset = store.schema().split(&plan.example_key())?.dataset;
    store.wipe(&Request::from(&dataset), true)?;
    Ok(store)
}

/// The demo's own folder, with nothing in it.
fn own_folder() -> Outcome<PlaceFlags> {
    let uri = own_uri()?;
    match context::registry().engine(uri.scheme())?.create_pool(&uri) {
        Ok(()) => {}
        Err(ObjectError::AlreadyExists { .. }) => remove_folder()?,
        Err(error) => return Err(no_room(&error.to_string())),
    }
    Ok(PlaceFlags { store: Some(uri.to_string()), config: None })
}

fn own_uri() -> Outcome<PoolUri> {
    pool_uri(&format!("posix:{FOLDER}"))
}

/// Removes the demo's own folder, if it is a demo's indeed.
fn remove_folder() -> Outcome {
    let (uri, registry) = (own_uri()?, context::registry());
    let refused = |error: ObjectError| no_room(&error.to_string());
    let labels = registry.open_pool(&uri).and_then(|pool| pool.list_containers()).map_err(refused)?;
    if let Some(stranger) = labels.iter().find(|label| !is_of_a_demo(label)) {
        return Err(no_room(&format!(
            "{FOLDER} holds the container {stranger}, which no demo made: expected an earlier demo's store, or nothing"
        )));
    }
    registry.engine(uri.scheme())?.destroy_pool(&uri).map_err(refused)
}

/// Whether a container is one that a demo makes. A killed one may leave any of them without the others, so what the
/// store says of its datasets is not asked: the label of a dataset's containers begins with its values.
fn is_of_a_demo(label: &Label) -> bool {
    label.as_str() == ROOT || label.as_str().starts_with("rd:demo:")
}

fn no_room(why: &str) -> Failure {
    let advice = format!("move {FOLDER} away, or name another store with --store");
    Failure::failed(format!("{why}; the demo makes its own store in {FOLDER}: {advice}"))
}

/// Reads one field back and draws it.
fn draw(store: &FieldStore, plan: &Plan, eccodes: &'static Eccodes, mut map: Sink) -> Outcome<String> {
    let request = plan.one_field();
    let field = store.retrieve(&request)?.next().transpose()?;
    let field = field.ok_or_else(|| Failure::failed(format!("the field to draw is not there: {request}")))?;
    let grid = eccodes.grid(&field.bytes)?;
    map.write(&map::draw(&grid)?)?;
    map.finish()?;
    let label = &grid.label;
    Ok(format!("a map of {} at {} hPa, read back and decoded", label.name, label.level))
}

fn list_some(store: &FieldStore, plan: &Plan) -> Outcome {
    outln!("\nsome of the fields, as isotach list shows them:")?;
    let mut out = standard_output();
    let mut lines = Lines::default();
    for listed in store.list(&plan.last_step(), ListOptions::default())?.take(LISTED) {
        lines.plain(&mut out, &listed?, Shown::default())?;
    }
    std::io::Write::flush(&mut out)?;
    Ok(())
}

fn suggest(place: &PlaceFlags, plan: &Plan, stays: bool) -> Outcome {
    let store = match (&place.store, &place.config) {
        (Some(uri), _) => format!("--store {uri}"),
        (None, Some(path)) => format!("--config {}", path.display()),
        (None, None) => String::new(),
    };
    if !stays {
        return outln!("The store ({}) is removed; isotach demo --keep leaves it.", Bytes(plan.bytes()));
    }
    outln!("\nto go on:")?;
    outln!("  isotach {store} axes class=rd,expver=demo")?;
    outln!("  isotach {store} read {} -o one.grib", plan.one_field())?;
    outln!("  isotach {store} wipe class=rd,expver=demo")
}
