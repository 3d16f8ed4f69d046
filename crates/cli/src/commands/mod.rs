//! The command line: one file per command, which holds the command's flags, their help, and the function that runs it.

mod acl;
mod adopt;
mod axes;
mod completions;
mod container;
mod control;
mod copy;
mod demo;
mod destroy;
mod dump;
mod info;
mod init;
mod inspect;
mod list;
mod object;
mod overlay;
mod pool;
mod purge;
mod read;
mod schema;
mod snapshot;
mod stats;
mod verify;
mod where_;
mod wipe;
mod write;

use std::io::stdout;

use clap::{CommandFactory, Parser, Subcommand};
use isotach_bench::{BenchArgs, ReportArgs};

use crate::{
    context::{self, PlaceFlags},
    failure::Outcome,
};

/// Store weather fields, and find them again by what they are.
///
/// A field is named by metadata (class=od,date=20240101,step=6,param=t), never by a file name. Many processes write and
/// read one store at once, without a server and without locks.
#[derive(Debug, Parser)]
#[command(name = "isotach", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 success, 1 failure, 2 a mistake in what was typed.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) place: PlaceFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::InitFlags),
    Write(write::WriteFlags),
    Adopt(adopt::AdoptFlags),
    Read(read::ReadFlags),
    List(list::ListFlags),
    Inspect(inspect::InspectFlags),
    Axes(axes::AxesFlags),
    Purge(purge::PurgeFlags),
    Wipe(wipe::WipeFlags),
    Copy(copy::CopyFlags),
    Move(copy::MoveFlags),
    Overlay(overlay::OverlayFlags),
    Snapshot(snapshot::SnapshotFlags),
    Stats(stats::StatsFlags),
    Dump(dump::DumpFlags),
    Verify(verify::VerifyFlags),
    Repair(verify::RepairFlags),
    Status(control::StatusFlags),
    Lock(control::LockFlags),
    Unlock(control::UnlockFlags),
    Acl(acl::AclFlags),
    Info(info::InfoFlags),
    Where(where_::WhereFlags),
    Schema(schema::SchemaFlags),
    Pool(pool::PoolFlags),
    Container(container::ContainerFlags),
    Object(object::ObjectFlags),
    Demo(demo::DemoFlags),
    DemoWorker(demo::DemoWorkerFlags),
    /// Measure stores as the published method does, beside plain writes and reads, plain files and ECMWF's FDB
    ///
    /// Without a subcommand: archive, retrieve and list on the field API. Studies (field-io, ior, hammer, operational, kernels,
    /// peers, plan) keep a record, of which `isotach report` makes a page.
    Bench(Box<BenchArgs>),
    /// Make a page with plots of what runs of bench have measured
    Report(ReportArgs),
    Completions(completions::CompletionsFlags),
    Man(completions::ManFlags),
}

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
        Command::Completions(flags) => completions::run(&flags, Cli::command()),
        Command::Man(_) => completions::man(Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_of_all_flags_agree_with_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_is_for() {
        let mut command = Cli::command();
        command.build();
        for command in command.get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }

    const PAGE: &str = include_str!("../../../../docs/cli.md");

    /// The command lines of the page's examples, up to a pipe.
    fn examples() -> impl Iterator<Item = Vec<&'static str>> {
        let lines = PAGE.lines().filter_map(|line| line.strip_prefix("$ "));
        let lines = lines.filter(|line| line.starts_with("isotach "));
        lines.map(|line| line.split(['|', '>']).next().unwrap_or(line).split_whitespace().collect())
    }

    #[test]
    fn every_example_of_the_page_can_be_typed() {
        for example in examples() {
            if let Err(error) = Cli::try_parse_from(&example) {
                panic!("{example:?}: {error}");
            }
        }
    }

    #[test]
    fn every_command_has_a_section_on_the_page() {
        let headings: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("### ")).collect();
        let named: Vec<&str> = headings.iter().flat_map(|heading| heading.split(", ")).collect();
        let mut command = Cli::command();
        command.build();
        let commands = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set() && command.get_name() != "help");
        let commands: Vec<&str> = commands.map(clap::Command::get_name).collect();
        for command in &commands {
            assert!(named.contains(command), "no section for {command}");
        }
        assert_eq!(named.len(), commands.len(), "{named:?}");
    }
}
