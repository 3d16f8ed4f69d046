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
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::commands::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    raise_limit_of_open_files();
    match commands::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Raises the limit of open files as far as the system lets this process. The usual one is low for the sake of programs that call `select`.
fn raise_limit_of_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // If that fails, the lower limit stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
