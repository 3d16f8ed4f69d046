//! What can be typed: each flag once, its help beside it. One file per command.

mod acl;
mod adopt;
mod axes;
mod change;
mod completions;
mod container;
mod control;
mod copy;
mod demo;
mod destroy;
mod info;
mod init;
mod inspect;
mod intake;
mod least;
mod list;
mod object;
mod overlay;
#[cfg(test)]
mod page;
mod pool;
mod purge;
mod read;
mod request;
mod schema;
mod size;
mod snapshot;
mod stats;
mod verify;
mod wipe;
mod write;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use isotach_bench::{BenchArgs, ReportArgs};

pub(crate) use self::{
    acl::{AclAction, AclFlags, ListFlag, OwnerFlags},
    adopt::AdoptFlags,
    axes::AxesFlags,
    change::{Edits, FilterFlags, ModifyFlag},
    completions::{CompletionsFlags, ManFlags, Target},
    container::{ContainerAction, ContainerFlags},
    control::{Actions, ControlFlags, LockFlags, StatusFlags, UnlockFlags},
    copy::{CopyFlags, MoveFlags, TransferFlags},
    demo::{DemoFlags, DemoWorkerFlags},
    destroy::DestroyFlags,
    info::{InfoFlags, WhereFlags},
    init::InitFlags,
    inspect::InspectFlags,
    intake::IntakeFlags,
    least::LeastFlag,
    list::ListFlags,
    object::{ObjectAction, ObjectFlags, ObjectKind, ObjectName},
    overlay::OverlayFlags,
    pool::{PoolAction, PoolFlags},
    purge::PurgeFlags,
    read::ReadFlags,
    request::{Language, OneRequest, Requests},
    schema::{SchemaAction, SchemaCheck, SchemaFlags, SchemaShow},
    snapshot::{AtFlag, SnapshotAction, SnapshotFlags},
    stats::{DumpFlags, StatsFlags},
    verify::{RepairFlags, VerifyFlags},
    wipe::WipeFlags,
    write::WriteFlags,
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

/// Which store.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PlaceFlags {
    /// The store, as a URI: posix:/data/fields. A path alone, absolute or with ./, is a posix store.
    ///
    /// Without it: --config, then ISOTACH_STORE and ISOTACH_CONFIG in the environment, then ./isotach.yaml, then
    /// isotach/isotach.yaml in the configuration folder of the user (~/.config) or the machine (/etc/xdg).
    #[arg(long, global = true, value_name = "URI", conflicts_with = "config", help_heading = "Which store")]
    pub(crate) store: Option<String>,
    /// A configuration file.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Which store")]
    pub(crate) config: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(InitFlags),
    Write(WriteFlags),
    Adopt(AdoptFlags),
    Read(ReadFlags),
    List(ListFlags),
    Inspect(InspectFlags),
    Axes(AxesFlags),
    Purge(PurgeFlags),
    Wipe(WipeFlags),
    Copy(CopyFlags),
    Move(MoveFlags),
    Overlay(OverlayFlags),
    Snapshot(SnapshotFlags),
    Stats(StatsFlags),
    Dump(DumpFlags),
    Verify(VerifyFlags),
    Repair(RepairFlags),
    Status(StatusFlags),
    Lock(LockFlags),
    Unlock(UnlockFlags),
    Acl(AclFlags),
    Info(InfoFlags),
    Where(WhereFlags),
    Schema(SchemaFlags),
    Pool(PoolFlags),
    Container(ContainerFlags),
    Object(ObjectFlags),
    Demo(DemoFlags),
    DemoWorker(DemoWorkerFlags),
    /// Measure stores as the published method does, beside plain writes and reads, plain files and ECMWF's FDB
    ///
    /// Without a subcommand: archive, retrieve and list on the field API. Studies (field-io, ior, hammer, operational, kernels,
    /// peers, plan) keep a record, of which `isotach report` makes a page.
    Bench(Box<BenchArgs>),
    /// Make a page with plots of what runs of bench have measured
    Report(ReportArgs),
    Completions(CompletionsFlags),
    Man(ManFlags),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

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
}
