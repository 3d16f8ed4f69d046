//! `isotach demo`: writers and readers at work on one forecast, and a map of it.
//!
//! What must stay true: it touches no store that was not named on the command line, and there only its own dataset; the
//! folder it makes is gone when it ends, unless it is to be kept.

mod crew;
mod map;
mod plan;
mod reader;
mod report;
mod task;
mod writer;

use std::{path::Path, time::Instant};

use isotach_fields::{FieldStore, ListOptions};
use isotach_grib::Eccodes;
use isotach_mars::Request;
use isotach_object::PoolUri;

use self::{
    crew::Crew,
    plan::Plan,
    report::Report,
    task::{Role, Task},
};
use super::{line::Lines, sink::Sink};
use crate::{
    context::{self, not_opened, pool_uri},
    failure::{Failure, Outcome},
    flags::{DemoFlags, PlaceFlags},
    output::{Bytes, outln, standard_output},
};

/// The folder of the store that nobody named.
const FOLDER: &str = "demo-store";
/// How many fields are listed at the end.
const LISTED: usize = 5;

/// Runs the demo.
pub(crate) fn run(place: &PlaceFlags, flags: &DemoFlags) -> Outcome {
    let eccodes = Eccodes::load()?;
    let plan = Plan::new(eccodes, flags)?;
    let is_named = place.store.is_some() || place.config.is_some();
    let place = if is_named { place.clone() } else { own_folder()? };
    let done = show(&place, flags, &plan, eccodes);
    if is_named || flags.keep {
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

fn show(place: &PlaceFlags, flags: &DemoFlags, plan: &Plan, eccodes: &'static Eccodes) -> Outcome {
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
    suggest(place, flags, plan)
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

fn own_folder() -> Outcome<PlaceFlags> {
    remove_folder()?;
    Ok(PlaceFlags { store: Some(own_uri()?.to_string()), config: None })
}

fn own_uri() -> Outcome<PoolUri> {
    pool_uri(&format!("posix:{FOLDER}"))
}

/// Removes the demo's own folder, if it is there. A folder that is no pool is left alone.
fn remove_folder() -> Outcome {
    let uri = own_uri()?;
    if Path::new(FOLDER).exists() {
        let removed = context::registry().engine(uri.scheme())?.destroy_pool(&uri);
        removed
            .map_err(|error| Failure::from(error).not_typed().about("cannot make the demo's store anew"))?;
    }
    Ok(())
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
        lines.plain(&mut out, &listed?, false)?;
    }
    std::io::Write::flush(&mut out)?;
    Ok(())
}

fn suggest(place: &PlaceFlags, flags: &DemoFlags, plan: &Plan) -> Outcome {
    let store = match (&place.store, &place.config) {
        (Some(uri), _) => format!("--store {uri}"),
        (None, Some(path)) => format!("--config {}", path.display()),
        (None, None) => String::new(),
    };
    if place.store.as_deref().is_some_and(|uri| uri.ends_with(FOLDER)) && !flags.keep {
        return outln!("The store ({}) is removed; isotach demo --keep leaves it.", Bytes(plan.bytes()));
    }
    outln!("\nto go on:")?;
    outln!("  isotach {store} axes class=rd,expver=demo")?;
    outln!("  isotach {store} read {} -o one.grib", plan.one_field())?;
    outln!("  isotach {store} wipe class=rd,expver=demo")
}
