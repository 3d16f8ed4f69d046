//! The `isotach` program: parses what was typed, calls the library, prints, and maps results to exit codes.
//!
//! - `flags`: every flag, defined once, with its help. Help, manual page and completions come from there.
//! - `commands`: one file per command. What is worth testing below printing belongs in the library.
//!
//! What must stay true: exit code 0 is success, 1 a failure, 2 a mistake in what was typed; a mistake of the user never
//! prints a backtrace; a reader that goes away (`isotach list | head`) ends the program without a word.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod commands;
mod context;
mod failure;
mod flags;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use crate::flags::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
