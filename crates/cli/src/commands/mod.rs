//! The commands: each calls the library and prints what it says.

mod init;
mod inspect;
mod line;
mod list;
mod missing;
mod read;
mod requests;
mod sink;
mod whole;
mod wipe;
mod write;

use crate::{
    failure::Outcome,
    flags::{Cli, Command},
};

/// Runs what was typed.
pub(crate) fn run(cli: Cli) -> Outcome {
    let Cli { place, command } = cli;
    match command {
        Command::Init(flags) => init::run(&place, &flags),
        Command::Write(flags) => write::run(&place, &flags),
        Command::Read(flags) => read::run(&place, &flags),
        Command::List(flags) => list::run(&place, &flags),
        Command::Inspect(flags) => inspect::run(&place, &flags),
        Command::Wipe(flags) => wipe::run(&place, &flags),
    }
}
