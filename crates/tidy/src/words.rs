//! Words and calls that have no place in this repository, each with what to write instead.
//!
//! This file names them, so it is not searched. The change log reports history and may use words of time.

use crate::{Finding, SourceFile};

/// Where a text is banned, the text, and what to write instead.
struct Ban(Scope, &'static str, &'static str);

enum Scope {
    /// A phrase, in any case and between word boundaries, in all but the change log.
    Phrase,
    /// This very text, everywhere.
    Exact,
    /// This very text in Rust, but where macros are defined: what a macro expands to does not always break a lint,
    /// so there an exception cannot be expected.
    Rust,
}

const RULE: &str = "banned word";
const AGES: &str = "it ages; say what is, or what holds and when";
const OPEN_END: &str = "finish it, or say in docs what is not done";
const MACHINE: &str = "it is one machine's; use a temporary folder, a relative path, or /data in examples";

const BANS: [Ban; 26] = [
    Ban(Scope::Phrase, "currently", AGES),
    Ban(Scope::Phrase, "recently", AGES),
    Ban(Scope::Phrase, "nowadays", AGES),
    Ban(Scope::Phrase, "for now", AGES),
    Ban(Scope::Phrase, "for the time being", AGES),
    Ban(Scope::Phrase, "at the moment", AGES),
    Ban(Scope::Phrase, "as of today", AGES),
    Ban(Scope::Phrase, "not yet implemented", AGES),
    Ban(Scope::Phrase, "not yet supported", AGES),
    Ban(Scope::Phrase, "coming soon", AGES),
    Ban(Scope::Phrase, "in a later release", AGES),
    Ban(Scope::Phrase, "next issue", AGES),
    Ban(Scope::Phrase, "work in progress", AGES),
    Ban(Scope::Phrase, "wip", AGES),
    Ban(Scope::Phrase, "as discussed", "say what was decided; docs/decisions keeps why"),
    Ban(Scope::Phrase, "blazing", "give the figure, the command and the machine"),
    Ban(Scope::Exact, "TODO", OPEN_END),
    Ban(Scope::Exact, "FIXME", OPEN_END),
    Ban(Scope::Exact, "XXX", OPEN_END),
    Ban(Scope::Exact, "/work/", MACHINE),
    Ban(Scope::Exact, "/root/", MACHINE),
    Ban(Scope::Exact, "/home/", MACHINE),
    Ban(Scope::Exact, "/tmp/", MACHINE),
    Ban(
        Scope::Rust,
        "#[allow(",
        "#[expect(..., reason = \"...\")], which tells when it is not needed any more",
    ),
    Ban(Scope::Rust, "#![allow(", "#[expect(..., reason = \"...\")] on the item"),
    Ban(Scope::Rust, "#[ignore]", "#[ignore = \"what it needs\"], so that a skipped test is skipped by name"),
];

/// Every banned text in every file.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let searched = files.iter().filter(|file| file.path != "crates/tidy/src/words.rs");
    searched
        .flat_map(|file| file.lines().flat_map(move |(number, line)| in_line(file, number, line)))
        .collect()
}

fn in_line(file: &SourceFile, number: usize, line: &str) -> Vec<Finding> {
    let lower = line.to_lowercase();
    let banned = BANS.iter().filter(|Ban(scope, text, _)| match scope {
        Scope::Phrase => !file.is("CHANGELOG.md") && has_phrase(&lower, text),
        Scope::Exact => has_exact(line, text),
        Scope::Rust => file.is(".rs") && line.contains(text) && !file.defines_macros(),
    });
    banned
        .map(|Ban(_, text, instead)| Finding::at(&file.path, number, RULE, format!("`{text}`: {instead}")))
        .collect()
}

/// Whether the phrase stands there with no letter or digit on either side.
fn has_phrase(line: &str, phrase: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric();
    line.match_indices(phrase)
        .any(|(at, _)| !line[..at].ends_with(is_word) && !line[at + phrase.len()..].starts_with(is_word))
}

/// Whether the text stands there and, where it begins with a letter, is no part of a longer name. A path counts only
/// from its root: `$HOME/work/` is no machine's path.
fn has_exact(line: &str, text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '}' || c == '.';
    line.match_indices(text).any(|(at, _)| {
        let after = &line[at + text.len()..];
        !line[..at].ends_with(is_name)
            && (text.ends_with('/') || !after.starts_with(is_name) || after.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, line: &str) -> usize {
        check(&[SourceFile::new(path, line)]).len()
    }

    #[test]
    fn each_banned_text_is_found_with_its_line() {
        for Ban(_, text, _) in &BANS {
            let file = SourceFile::new("crates/x/src/lib.rs", format!("//! A.\n// {text} \n"));
            let findings = check(&[file]);
            assert!(findings.iter().any(|found| found.place.ends_with("lib.rs:2")), "{text}");
        }
    }

    #[test]
    fn a_longer_word_that_holds_a_banned_one_is_no_breach() {
        assert_eq!(
            found("a.md", "concurrently, wiping, XXXL, HYTODO, target/home/x, ../work/x, $TMPDIR/tmp/x"),
            0
        );
        assert_eq!(found("a.md", "It is Currently so."), 1);
    }

    #[test]
    fn a_macro_may_allow_lints() {
        assert_eq!(found("a.rs", "#[allow(x, reason = \"y\")]"), 1);
        assert_eq!(found("a.rs", "macro_rules! m { () => { #[allow(x, reason = \"y\")] } }"), 0);
    }

    #[test]
    fn the_change_log_may_speak_of_time() {
        assert_eq!(found("CHANGELOG.md", "Recently added"), 0);
        assert_eq!(found("CHANGELOG.md", "TODO"), 1);
    }
}
