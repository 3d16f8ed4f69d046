//! The page of the command line says what is true of the definitions.

use clap::{CommandFactory, Parser};

use super::Cli;

const PAGE: &str = include_str!("../../../../docs/cli.md");

/// The command lines of the page's examples, up to a pipe.
fn examples() -> impl Iterator<Item = Vec<&'static str>> {
    let lines = PAGE.lines().filter_map(|line| line.strip_prefix("$ "));
    let lines = lines.filter(|line| line.starts_with("isotach "));
    lines.map(|line| line.split(['|', '>']).next().unwrap_or(line).split_whitespace().collect())
}

#[test]
fn every_example_of_the_page_can_be_typed() {
    for example in examples() {
        if let Err(error) = Cli::try_parse_from(&example) {
            panic!("{example:?}: {error}");
        }
    }
}

#[test]
fn every_command_has_a_section_on_the_page() {
    let headings: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let named: Vec<&str> = headings.iter().flat_map(|heading| heading.split(", ")).collect();
    let mut command = Cli::command();
    command.build();
    let commands =
        command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    let commands: Vec<&str> = commands.map(clap::Command::get_name).collect();
    for command in &commands {
        assert!(named.contains(command), "no section for {command}");
    }
    assert_eq!(named.len(), commands.len(), "{named:?}");
}
