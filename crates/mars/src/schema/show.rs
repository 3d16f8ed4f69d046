//! A schema as text that reads back as an equal schema.

use std::fmt::{self, Write};

use super::tree::{Condition, Node, Predicate, Tree};

pub(super) fn tree(tree: &Tree, out: &mut impl Write) -> fmt::Result {
    for (name, kind) in &tree.types {
        writeln!(out, "{name}: {kind};")?;
    }
    for dataset in &tree.datasets {
        writeln!(out)?;
        node(dataset, 0, out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn node(rule: &Node, depth: usize, out: &mut impl Write) -> fmt::Result {
    let indent = depth * 4;
    write!(out, "{:indent$}[", "")?;
    for (name, kind) in &rule.types {
        write!(out, " {name}: {kind};")?;
    }
    for (index, key) in rule.predicates.iter().enumerate() {
        out.write_str(if index == 0 { " " } else { ", " })?;
        predicate(key, out)?;
    }
    for child in &rule.children {
        writeln!(out)?;
        node(child, depth + 1, out)?;
    }
    out.write_str(" ]")
}

pub(super) fn predicate(key: &Predicate, out: &mut impl Write) -> fmt::Result {
    out.write_str(&key.name)?;
    if let Some(kind) = key.kind {
        write!(out, ": {kind}")?;
    }
    match &key.condition {
        Condition::Present => Ok(()),
        Condition::OneOf(values) => write!(out, "={}", values.join("/")),
        Condition::NoneOf(values) => write!(out, "=!{}", values.join("/")),
        Condition::Optional(default) => write!(out, "?{default}"),
        Condition::Hidden(default) => write!(out, "-{default}"),
    }
}
