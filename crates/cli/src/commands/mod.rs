//! The commands: each calls the library and prints what it says.

mod absent;
mod acl;
mod adopt;
mod axes;
mod change;
mod completions;
mod container;
mod control;
mod copy;
mod daos_container;
mod demo;
mod destroy;
mod draft;
mod dump;
mod info;
mod ingest;
mod init;
mod input;
mod inspect;
mod line;
mod list;
mod missing;
mod noticed;
mod object;
pub(crate) mod overlay;
mod pool;
mod purge;
mod read;
mod requests;
mod schema;
mod sink;
mod snapshot;
mod stats;
mod verify;
mod where_;
mod whole;
mod wipe;
mod write;

use std::io::stdout;

use crate::{
    context,
    failure::Outcome,
    flags::{Cli, Command},
};

/// Runs what was typed.
pub(crate) fn run(cli: Cli) -> Outcome {
    let Cli { place, command } = cli;
    match command {
        Command::Init(flags) => init::run(&place, &flags),
        Command::Write(flags) => write::run(&place, &flags),
        Command::Adopt(flags) => adopt::run(&place, &flags),
        Command::Read(flags) => read::run(&place, &flags),
        Command::List(flags) => list::run(&place, &flags),
        Command::Inspect(flags) => inspect::run(&place, &flags),
        Command::Axes(flags) => axes::run(&place, &flags),
        Command::Purge(flags) => purge::run(&place, &flags),
        Command::Wipe(flags) => wipe::run(&place, &flags),
        Command::Copy(flags) => copy::copy(&place, &flags),
        Command::Move(flags) => copy::move_(&place, &flags),
        Command::Overlay(flags) => overlay::run(&place, &flags),
        Command::Snapshot(flags) => snapshot::run(&place, &flags),
        Command::Stats(flags) => stats::run(&place, &flags),
        Command::Dump(flags) => dump::run(&place, &flags),
        Command::Verify(flags) => verify::verify(&place, &flags),
        Command::Repair(flags) => verify::repair(&place, &flags),
        Command::Status(flags) => control::status(&place, &flags),
        Command::Lock(flags) => control::run(&place, &flags.control, true),
        Command::Unlock(flags) => control::run(&place, &flags.control, false),
        Command::Acl(flags) => acl::run(&place, &flags),
        Command::Info(flags) => info::run(&place, &flags),
        Command::Where(flags) => where_::run(&place, &flags),
        Command::Schema(flags) => schema::run(&place, &flags),
        Command::Pool(flags) => pool::run(&place, &flags),
        Command::Container(flags) => container::run(&place, &flags),
        Command::Object(flags) => object::run(&place, &flags),
        Command::Demo(flags) => demo::run(&place, &flags),
        Command::DemoWorker(_) => demo::work(&place),
        Command::Bench(args) => Ok(isotach_bench::run(&args, &context::registry())?),
        Command::Report(args) => Ok(isotach_bench::report(&args, &mut stdout().lock())?),
        Command::Completions(flags) => completions::run(&flags),
        Command::Man(_) => completions::man(),
    }
}
