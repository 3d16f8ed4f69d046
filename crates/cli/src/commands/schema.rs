//! `isotach schema`: shows schemas and checks them.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use isotach_mars::{Key, Rule, Schema};
use serde_json::{Value, json};

use crate::{
    context::{self, StoreFlags},
    failure::{Failure, Outcome},
    input::read_text,
    output::{count, key_object, outln, print_bytes, print_json},
};

/// Show and check schemas
#[derive(Debug, Args)]
pub(crate) struct SchemaFlags {
    #[command(subcommand)]
    action: SchemaAction,
}

/// An operation on a schema.
#[derive(Debug, Subcommand)]
enum SchemaAction {
    /// Print the schema of the store
    Show(SchemaShow),
    /// Check a schema, and how it splits a key
    Check(SchemaCheck),
}

/// The schema to print.
#[derive(Debug, Args)]
struct SchemaShow {
    /// The standard schema, the default of `init`; needs no store
    #[arg(long)]
    standard: bool,
    /// Print one JSON object: text, and rules with the keys of their dataset, collocation and element
    #[arg(long)]
    json: bool,
}

/// The schema to check.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: isotach schema check schema.txt --key class=od,date=20240101,step=6,param=t"
)]
struct SchemaCheck {
    /// A schema in FDB's language; without it the store's
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show how the schema splits this key
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Shows or checks a schema.
pub(crate) fn run(target: &StoreFlags, flags: &SchemaFlags) -> Outcome {
    match &flags.action {
        SchemaAction::Show(flags) => show(target, flags),
        SchemaAction::Check(flags) => check(target, flags),
    }
}

/// Reads a schema that has at least one rule. An error names file, line and column.
pub(crate) fn read_useful(path: &Path) -> Outcome<Schema> {
    let schema = Schema::parse(&read_text(path)?).map_err(|error| {
        let position = format!("{}:{}:{}", path.display(), error.line, error.column);
        Failure::usage(format!("{position}: expected {}, found {}", error.expected, error.found))
    })?;
    if schema.rules().next().is_none() {
        let message = "a schema of 0 rules accepts no field: expected at least one rule";
        return Err(Failure::usage(message).about(path.display()));
    }
    Ok(schema)
}

fn show(target: &StoreFlags, flags: &SchemaShow) -> Outcome {
    let schema = if flags.standard { Schema::standard() } else { context::open(target)?.schema().clone() };
    if flags.json {
        let rules: Vec<Value> = schema.rules().map(rule_object).collect();
        return print_json(&json!({"text": schema.source(), "rules": rules}));
    }
    print_bytes(schema.source().as_bytes())
}

/// A rule with the names of its keys, level by level.
fn rule_object(rule: &Rule) -> Value {
    let [dataset, collocation, element] =
        rule.levels().map(|level| level.keys().map(|key| key.name.as_str()).collect::<Vec<_>>());
    json!({"line": rule.line, "dataset": dataset, "collocation": collocation, "element": element})
}

fn check(target: &StoreFlags, flags: &SchemaCheck) -> Outcome {
    let (schema, name) = match &flags.file {
        Some(path) => (read_useful(path)?, path.display().to_string()),
        None => (context::open(target)?.schema().clone(), "the schema of the store".to_owned()),
    };
    let rules = schema.rules().count() as u64;
    let Some(text) = &flags.key else {
        return match flags.json {
            true => print_json(&json!({"schema": name, "rules": rules})),
            false => outln!("{name} is valid: {}", count(rules, "rule")),
        };
    };
    let key: Key = text.parse().map_err(|error| Failure::from(error).about("--key"))?;
    let split = schema.split(&key).map_err(Failure::failed)?;
    let levels =
        [("dataset", &split.dataset), ("collocation", &split.collocation), ("element", &split.element)];
    if flags.json {
        let mut object = json!({"schema": name, "rules": rules});
        levels.iter().for_each(|(level, key)| object[*level] = key_object(key));
        return print_json(&object);
    }
    levels.iter().try_for_each(|(level, key)| outln!("{level:<12}{key}"))
}
