//! `isotach schema`: shows schemas and checks them.

use std::{
    io::{Write, stdout},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use isotach_mars::{Key, Rule, Schema};
use serde_json::{Value, json};

use crate::{
    context::{self, PlaceFlags},
    failure::{Failure, Outcome},
    input::text_of,
    output::{count, key_object, outln, print_json},
};

/// Show and check schemas
#[derive(Debug, Args)]
pub(crate) struct SchemaFlags {
    #[command(subcommand)]
    pub(crate) action: SchemaAction,
}

/// What to do with a schema.
#[derive(Debug, Subcommand)]
pub(crate) enum SchemaAction {
    /// Print the schema of the store
    Show(SchemaShow),
    /// Check a schema, and how it splits a key
    Check(SchemaCheck),
}

/// Which schema to print.
#[derive(Debug, Args)]
pub(crate) struct SchemaShow {
    /// The standard schema, which `init` takes if it is given none; needs no store
    #[arg(long)]
    pub(crate) standard: bool,
    /// Print one JSON object: text, and rules with the keys of their dataset, collocation and element
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which schema to check.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: isotach schema check schema.txt --key class=od,date=20240101,step=6,param=t"
)]
pub(crate) struct SchemaCheck {
    /// A schema in FDB's language; without it the store's
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Show how the schema splits this key
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shows or checks.
pub(crate) fn run(place: &PlaceFlags, flags: &SchemaFlags) -> Outcome {
    match &flags.action {
        SchemaAction::Show(flags) => show(place, flags),
        SchemaAction::Check(flags) => check(place, flags),
    }
}

/// The schema of a file; a mistake is told by file, line and column.
pub(crate) fn read(path: &Path) -> Outcome<Schema> {
    Schema::parse(&text_of(path)?).map_err(|error| {
        let place = format!("{}:{}:{}", path.display(), error.line, error.column);
        Failure::usage(format!("{place}: expected {}, found {}", error.expected, error.found))
    })
}

/// The schema of a file that has a rule.
pub(crate) fn read_useful(path: &Path) -> Outcome<Schema> {
    let schema = read(path)?;
    if schema.rules().next().is_none() {
        let message = "a schema of 0 rules can take no field: expected at least one rule";
        return Err(Failure::usage(message).about(path.display()));
    }
    Ok(schema)
}

fn show(place: &PlaceFlags, flags: &SchemaShow) -> Outcome {
    let schema = if flags.standard { Schema::standard() } else { context::open(place)?.schema().clone() };
    if flags.json {
        let rules: Vec<Value> = schema.rules().map(rule_object).collect();
        return print_json(&json!({"text": schema.source(), "rules": rules}));
    }
    let mut out = stdout().lock();
    out.write_all(schema.source().as_bytes())?;
    out.flush()?;
    Ok(())
}

/// A rule with the names of its keys, level by level.
fn rule_object(rule: &Rule) -> Value {
    let [dataset, collocation, element] =
        rule.levels().map(|level| level.keys().map(|key| key.name.as_str()).collect::<Vec<_>>());
    json!({"line": rule.line, "dataset": dataset, "collocation": collocation, "element": element})
}

fn check(place: &PlaceFlags, flags: &SchemaCheck) -> Outcome {
    let (schema, name) = match &flags.file {
        Some(path) => (read_useful(path)?, path.display().to_string()),
        None => (context::open(place)?.schema().clone(), "the schema of the store".to_owned()),
    };
    let rules = schema.rules().count() as u64;
    let Some(text) = &flags.key else {
        if flags.json {
            return print_json(&json!({"schema": name, "rules": rules}));
        }
        return outln!("{name} is good: {}", count(rules, "rule"));
    };
    let key: Key = text.parse().map_err(|error| Failure::from(error).about("--key"))?;
    let split = schema.split(&key).map_err(Failure::failed)?;
    let levels =
        [("dataset", &split.dataset), ("collocation", &split.collocation), ("element", &split.element)];
    if flags.json {
        let [dataset, collocation, element] = levels.map(|(_, key)| key_object(key));
        return print_json(&json!({
            "schema": name,
            "rules": rules,
            "dataset": dataset,
            "collocation": collocation,
            "element": element,
        }));
    }
    for (level, key) in levels {
        outln!("{level:<12}{key}")?;
    }
    Ok(())
}
