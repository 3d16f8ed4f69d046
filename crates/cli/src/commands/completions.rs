//! `isotach completions` and `isotach man`: made from the definitions of the flags.

use std::io::{Write, stdout};

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};

use crate::{
    failure::Outcome,
    flags::{Cli, CompletionsFlags, Target},
};

/// Prints what was asked for.
pub(crate) fn run(flags: &CompletionsFlags) -> Outcome {
    let shell = match flags.target {
        Target::Bash => Shell::Bash,
        Target::Zsh => Shell::Zsh,
        Target::Fish => Shell::Fish,
        Target::Man => return man(),
    };
    // The generator panics on a pipe that is gone, so it writes to memory.
    let mut text = Vec::new();
    generate(shell, &mut Cli::command(), "isotach", &mut text);
    print(&text)
}

/// Prints the manual page: the program, then each command.
pub(crate) fn man() -> Outcome {
    let mut command = Cli::command();
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
