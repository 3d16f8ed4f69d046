//! `isotach copy` and `isotach move`.

use clap::Args;

use super::{LeastFlag, ModifyFlag, Requests};

/// Copy fields to another store, or, changed, within the store
///
/// A key left out of the request matches every value. Of adopted files the bytes are copied.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach copy class=od,date=-1 --to posix:/archive/fields
  isotach copy class=od,date=-1 --modify class=rd,expver=x001")]
pub(crate) struct CopyFlags {
    #[command(flatten)]
    pub(crate) transfer: TransferFlags,
    /// The other store; it must exist. Without it the changed fields are archived in this one
    #[arg(long, value_name = "URI", required_unless_present = "modify")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) change: ModifyFlag,
    /// With --modify: refuse, before anything is visible, what would replace a field of the store or of this command
    ///
    /// All fields are read and changed twice for that. Fields that other programs archive meanwhile are not known.
    #[arg(long, requires = "modify")]
    pub(crate) no_replace: bool,
}

/// Move datasets, or whole collocations of them, to another store
///
/// Copies, compares counts, lengths and checksums, then wipes. Meanwhile the datasets are locked for archiving.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach move class=od,date=20240101 --to posix:/archive/fields")]
pub(crate) struct MoveFlags {
    #[command(flatten)]
    pub(crate) transfer: TransferFlags,
    /// The other store; it must exist
    #[arg(long, value_name = "URI")]
    pub(crate) to: String,
}

/// What both take.
#[derive(Debug, Args)]
pub(crate) struct TransferFlags {
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
