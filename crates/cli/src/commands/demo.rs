//! `isotach demo`: writers and readers of one forecast in parallel, and a map of one field.
//!
//! What must stay true: in a store that the user named, the demo changes only its own dataset. A folder that it created is
//! removed at the end, unless the user keeps it. A folder that holds anything but a demo's store is left alone.

mod map;
mod plan;
mod report;
mod worker;
mod workers;

use std::{io::Write, path::PathBuf, time::Instant};

use clap::Args;
use isotach_fields::{FieldStore, ListOptions};
use isotach_grib::Eccodes;
use isotach_mars::Request;
use isotach_object::{Error as ObjectError, Label, PoolUri};

use self::{
    plan::{Plan, PlanFlags},
    report::Report,
    workers::Workers,
};
use super::destroy::ROOT;
use crate::{
    context::{self, StoreFlags, not_opened, pool_uri},
    failure::{Failure, Outcome},
    output::{
        Bytes,
        line::{LineOptions, Lines},
        outln,
        sink::Sink,
        standard_output,
    },
};

pub(crate) use self::worker::run as work;

/// Archive a small ensemble forecast with several writers, while readers follow it step by step
///
/// Writers and readers are processes. Each writer archives its members and flushes after each step; each reader waits until
/// a step is complete, reads all of it and checks every field. Then one field is drawn as a map. Without --store the store
/// is the folder demo-store, which is created and removed at the end. If that folder holds anything but an earlier demo's
/// store, it is left alone, and the demo refuses to run. With --store the demo runs in that store, which is created if it
/// does not exist, and stays; only the demo's own dataset (class=rd,expver=demo) is replaced in it.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach demo --members 8 --writers 4 --keep")]
pub(crate) struct DemoFlags {
    #[command(flatten)]
    plan: PlanFlags,
    /// The file for the map
    #[arg(long, value_name = "FILE", default_value = "demo.png")]
    map: PathBuf,
    /// Keep the store, to try other commands on it
    #[arg(long)]
    keep: bool,
    /// Print one JSON object for each step, and one for all
    #[arg(long)]
    json: bool,
}

/// The folder of the default store.
const FOLDER: &str = "demo-store";
/// The number of fields that are listed at the end.
const LISTED: usize = 5;

/// Runs the demo.
pub(crate) fn run(target: &StoreFlags, flags: &DemoFlags) -> Outcome {
    let eccodes = Eccodes::load()?;
    let plan = Plan::new(eccodes, &flags.plan)?;
    let is_named = target.store.is_some() || target.config.is_some();
    let target = if is_named { target.clone() } else { create_folder()? };
    let is_kept = is_named || flags.keep;
    let done = play(&target, flags, &plan, eccodes, is_kept);
    if is_kept {
        return done;
    }
    let removed = remove_folder();
    done.and(removed)
}

fn play(
    target: &StoreFlags,
    flags: &DemoFlags,
    plan: &Plan,
    eccodes: &'static Eccodes,
    is_kept: bool,
) -> Outcome {
    // Opened first, so that an unwritable path is reported before the forecast is archived.
    let map = Sink::open(&flags.map)?;
    let store = clean_store(target, plan)?;
    let mut report = Report::new(plan, flags.json);
    report.begin(&store)?;
    let begin = Instant::now();
    let mut workers = Workers::start(target, plan)?;
    while let Some(event) = workers.next()? {
        report.add(event)?;
    }
    report.finish(begin.elapsed())?;
    let drawn = draw(&store, plan, eccodes, map)?;
    if flags.json {
        return Ok(());
    }
    outln!("\nsome of the fields, as isotach list shows them:")?;
    let mut out = standard_output();
    let mut lines = Lines::default();
    for listed in store.list(&plan.last_step(), ListOptions::default())?.take(LISTED) {
        lines.plain(&mut out, &listed?, LineOptions::default())?;
    }
    out.flush()?;
    outln!("\n{}: {drawn}", flags.map.display())?;
    suggest(target, plan, is_kept)
}

/// The store without the fields of an earlier demo.
fn clean_store(target: &StoreFlags, plan: &Plan) -> Outcome<FieldStore> {
    let (config, source) = context::configuration(target)?;
    let registry = context::registry();
    for uri in config.spaces.iter().flat_map(|space| [&space.catalogue, &space.store]) {
        if !registry.engine(uri.scheme())?.capabilities().multi_process {
            let expected = "one that several processes can use, such as posix:/path";
            return Err(Failure::usage(format!("store {uri}: expected {expected}")));
        }
    }
    let store =
        FieldStore::create(&config, &registry).map_err(|error| not_opened(error, &config, &source))?;
    let dataset = store.schema().split(&plan.example_key())?.dataset;
    store.wipe(&Request::from(&dataset), true)?;
    Ok(store)
}

/// Creates the demo's own folder, or empties it.
fn create_folder() -> Outcome<StoreFlags> {
    let uri = folder_uri()?;
    match context::registry().engine(uri.scheme())?.create_pool(&uri) {
        Ok(()) => {}
        Err(ObjectError::AlreadyExists { .. }) => remove_folder()?,
        Err(error) => return Err(folder_refused(error)),
    }
    Ok(StoreFlags { store: Some(uri.to_string()), config: None })
}

fn folder_uri() -> Outcome<PoolUri> {
    pool_uri(&format!("posix:{FOLDER}"))
}

/// Removes the demo's own folder, if it holds nothing but a demo's store.
fn remove_folder() -> Outcome {
    let (uri, registry) = (folder_uri()?, context::registry());
    let labels = registry.open_pool(&uri).and_then(|pool| pool.list_containers()).map_err(folder_refused)?;
    if let Some(label) = labels.iter().find(|label| !is_of_a_demo(label)) {
        return Err(folder_refused(format!(
            "{FOLDER} holds the container {label}, which is not of a demo: expected an earlier demo's store, or nothing"
        )));
    }
    registry.engine(uri.scheme())?.destroy_pool(&uri).map_err(folder_refused)
}

/// Whether a container is of a demo. A killed demo may leave any of its containers without the others. So the list of
/// datasets proves nothing, but the label of a dataset's container begins with the values of its key.
fn is_of_a_demo(label: &Label) -> bool {
    label.as_str() == ROOT || label.as_str().starts_with("rd:demo:")
}

fn folder_refused(why: impl std::fmt::Display) -> Failure {
    let advice = format!("move {FOLDER} away, or name another store with --store");
    Failure::failed(format!("{why}; the demo creates its own store in {FOLDER}: {advice}"))
}

/// Reads one field and draws it.
fn draw(store: &FieldStore, plan: &Plan, eccodes: &'static Eccodes, mut map: Sink) -> Outcome<String> {
    let request = plan.one_field();
    let field = store.retrieve(&request)?.next().transpose()?;
    let field = field.ok_or_else(|| Failure::failed(format!("the field to draw is missing: {request}")))?;
    let grid = eccodes.grid(&field.bytes)?;
    map.write(&map::draw(&grid)?)?;
    map.finish()?;
    let label = &grid.label;
    Ok(format!("a map of {} at {} hPa, read back and decoded", label.name, label.level))
}

fn suggest(target: &StoreFlags, plan: &Plan, is_kept: bool) -> Outcome {
    let store = match (&target.store, &target.config) {
        (Some(uri), _) => format!("--store {uri}"),
        (None, Some(path)) => format!("--config {}", path.display()),
        (None, None) => String::new(),
    };
    if !is_kept {
        return outln!("The store ({}) is removed; isotach demo --keep keeps it.", Bytes(plan.bytes()));
    }
    outln!("\nto continue:")?;
    outln!("  isotach {store} axes class=rd,expver=demo")?;
    outln!("  isotach {store} read {} -o one.grib", plan.one_field())?;
    outln!("  isotach {store} wipe class=rd,expver=demo")
}
