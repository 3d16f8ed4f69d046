//! The command line: one file per command, which holds the command's flags, their help, and the function that runs it.

mod acl;
mod adopt;
mod axes;
mod completions;
mod container;
mod control;
mod copy;
mod delete;
mod demo;
mod destroy;
mod dump;
mod h5;
mod index;
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
mod values;
mod verify;
mod where_;
mod wipe;
mod write;

use std::io::stdout;

use clap::{CommandFactory, Parser, Subcommand};
use isotach_bench::{BenchArgs, PlanArgs, ReportArgs};

use crate::{
    context::{self, StoreFlags},
    failure::Outcome,
};

/// Store weather fields, and find them again by what they are.
///
/// A field is named by metadata (class=od,date=20240101,step=6,param=t), never by a file name. Many processes write and
/// read one store at the same time, without a server and without locks.
#[derive(Debug, Parser)]
#[command(name = "isotach", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 success, 1 failure, 2 a usage error.")]
pub(crate) struct Cli {
    #[command(flatten)]
    store: StoreFlags,
    #[command(subcommand)]
    command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
enum Command {
    Init(init::InitFlags),
    Write(write::WriteFlags),
    Adopt(adopt::AdoptFlags),
    Read(read::ReadFlags),
    List(list::ListFlags),
    Values(values::ValuesFlags),
    Inspect(inspect::InspectFlags),
    Axes(axes::AxesFlags),
    Purge(purge::PurgeFlags),
    Wipe(wipe::WipeFlags),
    Delete(delete::DeleteFlags),
    Copy(copy::CopyFlags),
    Move(copy::MoveFlags),
    Overlay(overlay::OverlayFlags),
    Snapshot(snapshot::SnapshotFlags),
    Stats(stats::StatsFlags),
    Index(index::IndexFlags),
    Dump(dump::DumpFlags),
    Verify(verify::VerifyFlags),
    Repair(verify::RepairFlags),
    Status(control::StatusFlags),
    /// Refuse actions on datasets until they are unlocked
    #[command(after_help = "Example: isotach lock class=od,date=20240101 --archive --wipe")]
    Lock(control::ControlFlags),
    /// Allow actions on datasets again
    #[command(after_help = "Example: isotach unlock class=od,date=20240101 --archive --wipe")]
    Unlock(control::ControlFlags),
    Acl(acl::AclFlags),
    Info(info::InfoFlags),
    Where(where_::WhereFlags),
    Schema(schema::SchemaFlags),
    Pool(pool::PoolFlags),
    Container(container::ContainerFlags),
    Object(object::ObjectFlags),
    H5(h5::H5Flags),
    Demo(demo::DemoFlags),
    /// One writer or reader of the demo; takes its task from standard input
    #[command(hide = true)]
    DemoWorker,
    /// Measure stores by the published method, beside plain writes and reads, plain files and ECMWF's FDB
    ///
    /// Without a subcommand: archive, retrieve and list on the field API. Studies (field-io, ior, hammer, operational, kernels,
    /// peers, method, transfer) keep a record, which `isotach report` turns into a page.
    Bench(Box<BenchArgs>),
    /// Predict whether fields fit in a window of time on a site's hardware, and what hardware they need
    ///
    /// A model, not a measurement: `isotach bench` measures, and `isotach bench method` finds how to measure. The site is
    /// described in YAML; four are built in (--example). --measure finds what a field costs on this machine.
    #[command(after_help = "Example: isotach plan nextgenio-daos --volume 180TiB --need")]
    Plan(Box<PlanArgs>),
    /// Create a page with plots of the results of bench
    Report(ReportArgs),
    Completions(completions::CompletionsFlags),
    /// Print the manual page, with every command
    #[command(after_help = "Example: isotach man | man -l -")]
    Man,
}

/// Runs the command.
pub(crate) fn run(cli: Cli) -> Outcome {
    let Cli { store: target, command } = cli;
    match command {
        Command::Init(flags) => init::run(&target, &flags),
        Command::Write(flags) => write::run(&target, &flags),
        Command::Adopt(flags) => adopt::run(&target, &flags),
        Command::Read(flags) => read::run(&target, &flags),
        Command::List(flags) => list::run(&target, &flags),
        Command::Values(flags) => values::run(&target, &flags),
        Command::Inspect(flags) => inspect::run(&target, &flags),
        Command::Axes(flags) => axes::run(&target, &flags),
        Command::Purge(flags) => purge::run(&target, &flags),
        Command::Wipe(flags) => wipe::run(&target, &flags),
        Command::Delete(flags) => delete::run(&target, &flags),
        Command::Copy(flags) => copy::copy(&target, &flags),
        Command::Move(flags) => copy::move_(&target, &flags),
        Command::Overlay(flags) => overlay::run(&target, &flags),
        Command::Snapshot(flags) => snapshot::run(&target, &flags),
        Command::Stats(flags) => stats::run(&target, &flags),
        Command::Index(flags) => index::run(&target, &flags),
        Command::Dump(flags) => dump::run(&target, &flags),
        Command::Verify(flags) => verify::verify(&target, &flags),
        Command::Repair(flags) => verify::repair(&target, &flags),
        Command::Status(flags) => control::status(&target, &flags),
        Command::Lock(flags) => control::run(&target, &flags, true),
        Command::Unlock(flags) => control::run(&target, &flags, false),
        Command::Acl(flags) => acl::run(&target, &flags),
        Command::Info(flags) => info::run(&target, &flags),
        Command::Where(flags) => where_::run(&target, &flags),
        Command::Schema(flags) => schema::run(&target, &flags),
        Command::Pool(flags) => pool::run(&target, &flags),
        Command::Container(flags) => container::run(&target, &flags),
        Command::Object(flags) => object::run(&target, &flags),
        Command::H5(flags) => h5::run(&flags),
        Command::Demo(flags) => demo::run(&target, &flags),
        Command::DemoWorker => demo::work(&target),
        Command::Bench(args) => Ok(isotach_bench::run(&args, &context::registry())?),
        Command::Plan(args) => Ok(isotach_bench::plan(&args, &mut stdout().lock())?),
        Command::Report(args) => Ok(isotach_bench::report(&args, &mut stdout().lock())?),
        Command::Completions(flags) => completions::run(&flags, Cli::command()),
        Command::Man => completions::man(Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_of_all_flags_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_a_description() {
        let mut command = Cli::command();
        command.build();
        for command in command.get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
        }
    }

    const PAGE: &str = include_str!("../../../../docs/cli.md");

    /// The command lines of the examples in docs/cli.md, up to a pipe.
    fn examples() -> impl Iterator<Item = Vec<String>> {
        let lines = PAGE.lines().filter_map(|line| line.strip_prefix("$ "));
        let lines = lines.filter(|line| line.starts_with("isotach "));
        lines.map(|line| {
            let words = shlex::split(line).unwrap_or_else(|| panic!("{line}: quotes that do not match"));
            words.into_iter().take_while(|word| !word.starts_with(['|', '>'])).collect()
        })
    }

    #[test]
    fn every_example_of_the_cli_page_parses() {
        for example in examples() {
            if let Err(error) = Cli::try_parse_from(&example) {
                panic!("{example:?}: {error}");
            }
        }
    }

    #[test]
    fn every_command_has_a_section_on_the_cli_page() {
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
