//! `isotach copy` and `isotach move`.

use clap::Args;

use super::Requests;

/// Copy fields to another store
///
/// A key left out of the request matches every value. Of adopted files the bytes are copied.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach copy class=od,date=-1 --to posix:/archive/fields")]
pub(crate) struct CopyFlags {
    #[command(flatten)]
    pub(crate) transfer: TransferFlags,
}

/// Move datasets, or whole collocations of them, to another store
///
/// Copies, compares counts, lengths and checksums, then wipes. Meanwhile the datasets are locked for archiving.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach move class=od,date=20240101 --to posix:/archive/fields")]
pub(crate) struct MoveFlags {
    #[command(flatten)]
    pub(crate) transfer: TransferFlags,
}

/// What both take.
#[derive(Debug, Args)]
pub(crate) struct TransferFlags {
    #[command(flatten)]
    pub(crate) requests: Requests,
    /// The other store; it must exist
    #[arg(long, value_name = "URI")]
    pub(crate) to: String,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
