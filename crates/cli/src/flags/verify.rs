//! `isotach verify` and `isotach repair`.

use clap::Args;

use super::{AtFlag, OneRequest};

/// Look whether everything is as it was stored, and say what is not
///
/// Looks at the files of each dataset of the request (of all datasets without one), at its index, and whether the bytes
/// of each field are there. With --at at those of a snapshot, though they were wiped. Changes nothing; others may read and write meanwhile. Exit code 1 if anything is damaged.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach verify class=od,date=-1 --data")]
pub(crate) struct VerifyFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Also read the bytes of every field and compare their checksums
    #[arg(long)]
    pub(crate) data: bool,
    /// Print one JSON object for each damage, and one for the sum
    #[arg(long)]
    pub(crate) json: bool,
}

/// Set aside what verify finds damaged, as far as nothing is lost by it
///
/// Says what it would do; --doit does it. Nothing is deleted. A damaged file that can be made anew is moved into the
/// folder aside of the pool. The entry of a field whose bytes are damaged is written into a note there, and taken out of the index: it is
/// then missing instead of corrupt, and can be archived again. A log that has lost its end is restored as far as other files prove
/// it; stored bytes that no entry names are copied into the folder aside. Exit code 1 if damage is left.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach repair class=od,date=-1 --data --doit")]
pub(crate) struct RepairFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    /// Also repair fields whose bytes do not have their checksum
    #[arg(long)]
    pub(crate) data: bool,
    /// Do it
    #[arg(long)]
    pub(crate) doit: bool,
    /// Print one JSON object for each damage
    #[arg(long)]
    pub(crate) json: bool,
}
