//! What every `destroy` takes.

use clap::Args;

/// How much is meant.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DestroyFlags {
    /// Remove it; without this only says what would go
    #[arg(long)]
    pub(crate) doit: bool,
    /// Even if a field store rests on it
    #[arg(long)]
    pub(crate) force: bool,
}
