//! `isotach completions` and `isotach man`.

use clap::{Args, ValueEnum};

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
