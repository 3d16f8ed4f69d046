//! `isotach completions` and `isotach man`: generated from the definitions of the flags.

use std::io::Write;

use clap::{Args, Command, ValueEnum};
use clap_complete::{Shell, generate};

use crate::{failure::Outcome, output::print_bytes};

/// Print the completions of a shell, or the manual page
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach completions bash > /etc/bash_completion.d/isotach")]
pub(crate) struct CompletionsFlags {
    /// For what
    format: Format,
}

/// The format of the output.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// GNU bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
    /// The manual page, as `isotach man` prints it
    Man,
}

/// Prints the completions of a shell, or the manual page.
pub(crate) fn run(flags: &CompletionsFlags, mut command: Command) -> Outcome {
    let shell = match flags.format {
        Format::Bash => Shell::Bash,
        Format::Zsh => Shell::Zsh,
        Format::Fish => Shell::Fish,
        Format::Man => return man(command),
    };
    // The generator panics on a closed pipe, so it writes to memory.
    let mut text = Vec::new();
    generate(shell, &mut command, "isotach", &mut text);
    print_bytes(&text)
}

/// Prints the manual page: the program, then each command.
pub(crate) fn man(mut command: Command) -> Outcome {
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        section(command, &mut page)?;
    }
    print_bytes(&page)
}

/// A command as sections of the page, followed by its subcommands.
fn section(command: &Command, page: &mut Vec<u8>) -> Outcome {
    if command.get_name() == "help" {
        return Ok(());
    }
    let man = clap_mangen::Man::new(command.clone());
    writeln!(page, ".SH \"{}\"", command.get_bin_name().unwrap_or(command.get_name()).to_uppercase())?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    command.get_subcommands().try_for_each(|below| section(below, page))
}
