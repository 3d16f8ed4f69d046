//! The `isotach` program: parses the command line, calls the library, prints, and maps results to exit codes.
//!
//! `commands` has one file per command: its flags, their help, and the function that runs it. The manual page and the
//! completions come from the same definitions. Logic that can be tested without printing belongs in the library.
//!
//! What must stay true: exit code 0 is success, 1 a failure, 2 a usage error. A mistake of the user never prints a
//! backtrace. When the reader of standard output exits (`isotach list | head`), the program ends quietly.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod commands;
mod context;
mod failure;
mod input;
mod intake;
mod missing;
mod output;
mod progress;
mod requests;

use std::process::ExitCode;

use clap::Parser;

use crate::commands::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
