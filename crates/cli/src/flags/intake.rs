//! What the commands take that take in messages.

use clap::Args;

/// How messages are taken in.
#[derive(Debug, Args)]
pub(crate) struct IntakeFlags {
    /// Keys laid over those that the messages carry, as class=rd,expver=x001
    ///
    /// A key that names a field whole needs no message at all: a FILE that is one GRIB message, or no GRIB, is then
    /// taken under it as it is, without ecCodes. An empty value takes a key away.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Refuse, before anything is visible, what would replace a field of the store or of this command
    ///
    /// All keys are looked at first, so the input is read twice; a stream is kept in a temporary file. Fields that other
    /// programs archive meanwhile are not known. With --skip-bad, fields that were in the store before stay, the others are taken
    /// in, and of several messages with one key the last counts.
    #[arg(long)]
    pub(crate) no_replace: bool,
    /// Go on after a message that is broken, cannot be decoded or does not fit the schema
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
