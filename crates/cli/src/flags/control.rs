//! `isotach lock`, `isotach unlock` and `isotach status`.

use clap::Args;

use super::{LeastFlag, OneRequest, Requests};

/// Refuse actions on datasets until they are unlocked
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach lock class=od,date=20240101 --archive --wipe")]
pub(crate) struct LockFlags {
    #[command(flatten)]
    pub(crate) control: ControlFlags,
}

/// Allow actions on datasets again
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach unlock class=od,date=20240101 --archive --wipe")]
pub(crate) struct UnlockFlags {
    #[command(flatten)]
    pub(crate) control: ControlFlags,
}

/// What both take.
#[derive(Debug, Args)]
pub(crate) struct ControlFlags {
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    #[command(flatten)]
    pub(crate) actions: Actions,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}

/// At least one action.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own, as FDB has them")]
pub(crate) struct Actions {
    /// Reading fields
    #[arg(long)]
    pub(crate) retrieve: bool,
    /// Listing fields
    #[arg(long)]
    pub(crate) list: bool,
    /// Archiving and adopting fields
    #[arg(long)]
    pub(crate) archive: bool,
    /// Removing fields
    #[arg(long)]
    pub(crate) wipe: bool,
}

/// Show datasets, when they were made and what they are locked against
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach status class=od")]
pub(crate) struct StatusFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}
