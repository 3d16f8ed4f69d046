//! The ratchet: a list of what breaks a rule of size. It may only become shorter, and its numbers smaller.
//!
//! `tidy-ratchet.txt` has one entry a line: kind, what, size. A thing without an entry must obey the rule. A thing with an entry
//! must have exactly its size: a larger one is refused, and when it shrinks the entry must shrink, too.

use std::collections::BTreeMap;

use crate::{Finding, SourceFile};

const RULE: &str = "the ratchet only tightens";
/// The file of the entries, from the repository's root.
pub const RATCHET_PATH: &str = "crates/tidy/tidy-ratchet.txt";

/// Something that breaks a rule of size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// `file`, `function`, `unsafe`, `circle` or `name`.
    pub kind: &'static str,
    /// The path, `path::name` of a function, or the folder of a crate.
    pub what: String,
    /// Where it begins, counted from 1.
    pub line: usize,
    /// Its size, in the unit of the kind: lines, uses, files, or tests.
    pub size: usize,
    /// What a report adds: the files of a circle, say.
    pub details: String,
}

impl Measure {
    /// A measured thing.
    pub fn new(kind: &'static str, what: &str, line: usize, size: usize) -> Self {
        Self { kind, what: what.to_owned(), line, size, details: String::new() }
    }

    /// Adds details for the report.
    #[must_use]
    pub fn with_details(mut self, details: String) -> Self {
        self.details = details;
        self
    }

    fn key(&self) -> String {
        format!("{} {}", self.kind, self.what)
    }
}

/// The files that ask to be let off the ban on unsafe code, with the number of times they do.
pub fn unsafe_uses(files: &[SourceFile]) -> Vec<Measure> {
    let asks = |line: &str| line.contains("expect(unsafe_code") && !line.contains("line.contains");
    let rust = files.iter().filter(|file| file.is(".rs"));
    let measured = rust.map(|file| {
        let lines: Vec<usize> =
            file.lines().filter(|(_, line)| asks(line)).map(|(number, _)| number).collect();
        Measure::new("unsafe", &file.path, lines.first().copied().unwrap_or(1), lines.len())
    });
    measured.filter(|measure| measure.size > 0).collect()
}

/// Compares what was measured with the list.
pub fn check(measures: &[Measure], ratchet: &str) -> Vec<Finding> {
    let (mut entries, mut findings) = parse(ratchet);
    for measure in measures {
        let path = measure.what.split("::").next().unwrap_or(&measure.what);
        let instead = match entries.remove(&measure.key()) {
            Some(entry) if entry.size == measure.size => continue,
            Some(entry) if entry.size > measure.size => {
                format!("well done: in {RATCHET_PATH}:{} write {}", entry.line, measure.size)
            }
            Some(entry) => format!(
                "{} grew from {} to {}; {}",
                measure.key(),
                entry.size,
                measure.size,
                advice(measure.kind)
            ),
            None => format!("{} has {}; {}", measure.key(), measure.size, advice(measure.kind)),
        };
        let details = if measure.details.is_empty() { "" } else { ": " };
        findings.push(Finding::at(
            path,
            measure.line,
            RULE,
            format!("{instead}{details}{}", measure.details),
        ));
    }
    let stale = entries.iter().map(|(key, entry)| {
        Finding::at(
            RATCHET_PATH,
            entry.line,
            RULE,
            format!("well done: `{key}` keeps to the rule; remove its entry"),
        )
    });
    findings.extend(stale);
    findings
}

fn advice(kind: &str) -> &'static str {
    match kind {
        "file" => "a file has one subject and at most 500 lines: split it",
        "function" => {
            "a function has at most 70 lines: keep the branches in the parent, move the rest to helpers"
        }
        "circle" => {
            "at most three files import each other in a circle: move what both need to a file below them"
        }
        "name" => "the name of a test has at most 80 characters: say the behaviour in fewer words",
        _ => "keep unsafe code in one place: use the safe wrapper that exists, or add an entry with a review",
    }
}

struct Entry {
    size: usize,
    line: usize,
}

fn parse(ratchet: &str) -> (BTreeMap<String, Entry>, Vec<Finding>) {
    let mut entries = BTreeMap::new();
    let mut findings = Vec::new();
    for (index, text) in ratchet.lines().enumerate() {
        let line = index + 1;
        if text.starts_with('#') || text.is_empty() {
            continue;
        }
        let entry = text.rsplit_once(' ').and_then(|(key, size)| Some((key, size.parse().ok()?)));
        let Some((key, size)) = entry else {
            findings.push(Finding::at(RATCHET_PATH, line, RULE, "an entry is `kind what size`"));
            continue;
        };
        if entries.insert(key.to_owned(), Entry { size, line }).is_some() {
            findings.push(Finding::at(
                RATCHET_PATH,
                line,
                RULE,
                format!("`{key}` has two entries; keep one"),
            ));
        }
    }
    (entries, findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(size: usize, ratchet: &str) -> Vec<String> {
        let measures = if size > 0 { vec![Measure::new("file", "a.rs", 1, size)] } else { Vec::new() };
        check(&measures, ratchet).into_iter().map(|finding| finding.instead).collect()
    }

    #[test]
    fn a_listed_size_may_stay_but_not_grow() {
        assert!(verdict(600, "# sizes\n\nfile a.rs 600\n").is_empty());
        assert!(verdict(601, "file a.rs 600\n")[0].contains("grew from 600 to 601"));
        assert!(verdict(600, "")[0].contains("split it"));
    }

    #[test]
    fn an_entry_must_shrink_with_its_file() {
        assert!(verdict(550, "file a.rs 600\n")[0].contains("write 550"));
        assert!(verdict(0, "file a.rs 600\n")[0].contains("remove its entry"));
    }

    #[test]
    fn an_entry_that_cannot_be_read_is_a_finding() {
        assert_eq!(verdict(0, "file a.rs many\n"), ["an entry is `kind what size`"]);
        assert!(verdict(600, "file a.rs 600\nfile a.rs 600\n")[0].contains("two entries"));
    }
}
