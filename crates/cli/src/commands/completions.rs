//! `isotach completions` and `isotach man`: made from the definitions of the flags.

use std::io::{Write, stdout};

use clap::{Args, Command, ValueEnum};
use clap_complete::{Shell, generate};

use crate::failure::Outcome;

/// Print the completions of a shell, or the manual page
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach completions bash > /etc/bash_completion.d/isotach")]
pub(crate) struct CompletionsFlags {
    /// For what
    pub(crate) target: Target,
}

/// What is printed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Target {
    /// GNU bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
    /// The manual page, as `isotach man` prints it
    Man,
}

/// Print the manual page, with every command
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach man | man -l -")]
pub(crate) struct ManFlags {}

/// Prints what was asked for.
pub(crate) fn run(flags: &CompletionsFlags, mut command: Command) -> Outcome {
    let shell = match flags.target {
        Target::Bash => Shell::Bash,
        Target::Zsh => Shell::Zsh,
        Target::Fish => Shell::Fish,
        Target::Man => return man(command),
    };
    // The generator panics on a pipe that is gone, so it writes to memory.
    let mut text = Vec::new();
    generate(shell, &mut command, "isotach", &mut text);
    print(&text)
}

/// Prints the manual page: the program, then each command.
pub(crate) fn man(mut command: Command) -> Outcome {
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for command in
        command.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set())
    {
        section(command, &mut page)?;
    }
    print(&page)
}

/// A command as sections of the page, and its own commands after it.
fn section(command: &Command, page: &mut Vec<u8>) -> Outcome {
    let man = clap_mangen::Man::new(command.clone());
    writeln!(page, ".SH \"{}\"", command.get_bin_name().unwrap_or(command.get_name()).to_uppercase())?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        section(below, page)?;
    }
    Ok(())
}

fn print(text: &[u8]) -> Outcome {
    let mut out = stdout().lock();
    out.write_all(text)?;
    out.flush()?;
    Ok(())
}
