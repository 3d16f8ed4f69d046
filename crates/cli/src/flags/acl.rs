//! `isotach acl`, and the flags by which other commands say who may do what.

use clap::{Args, Subcommand};

/// An access control list, as DAOS writes it or as the mode of a file.
#[derive(Debug, Args)]
pub(crate) struct ListFlag {
    /// Who may do what: entries A:FLAGS:WHO:LETTERS with commas between, as in A::alice@:rw,A:G:GROUP@:r. Who is
    /// OWNER@, GROUP@, EVERYONE@ or a name with @, G marks groups; r reads, w writes
    #[arg(long, value_name = "LIST")]
    pub(crate) acl: Option<String>,
    /// Who may do what, as a file's mode: 750
    #[arg(long, value_name = "MODE", conflicts_with = "acl")]
    pub(crate) mode: Option<String>,
}

/// Whose something is to be.
#[derive(Debug, Args)]
pub(crate) struct OwnerFlags {
    /// The user who owns it. In a file system root alone gives what is his to others
    #[arg(long, value_name = "USER")]
    pub(crate) owner: Option<String>,
    /// Its group
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Option<String>,
}

/// Show or set who may read and write a store and its datasets
///
/// Without a request it is the store itself, whose list every new dataset comes to have.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach acl set --acl A:G:writers@:rw,A::EVERYONE@:r")]
pub(crate) struct AclFlags {
    #[command(subcommand)]
    pub(crate) action: AclAction,
    /// Print one JSON object for each container
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with lists.
#[derive(Debug, Subcommand)]
pub(crate) enum AclAction {
    /// Show owner, group and list
    Get {
        /// Which datasets, as in class=od,date=20240101; without it the store itself
        request: Option<String>,
    },
    /// Put another list, owner or group in the place of what was there
    Set {
        /// Which datasets, as in class=od,date=20240101; without it the store itself, and new datasets
        request: Option<String>,
        #[command(flatten)]
        list: ListFlag,
        #[command(flatten)]
        owner: OwnerFlags,
    },
}
