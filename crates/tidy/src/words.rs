//! Words and calls that have no place in this repository, each with what to write instead.
//!
//! This file names them, so it is not searched. The change log reports history and may use words of time.

use crate::{Finding, SourceFile};

/// A text that is banned, and where.
struct Ban {
    text: &'static str,
    instead: &'static str,
    scope: Scope,
}

#[derive(Clone, Copy, PartialEq)]
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

const fn phrase(text: &'static str, instead: &'static str) -> Ban {
    Ban { text, instead, scope: Scope::Phrase }
}

const fn exact(text: &'static str, instead: &'static str) -> Ban {
    Ban { text, instead, scope: Scope::Exact }
}

const fn rust(text: &'static str, instead: &'static str) -> Ban {
    Ban { text, instead, scope: Scope::Rust }
}

const BANS: [Ban; 26] = [
    phrase("currently", AGES),
    phrase("recently", AGES),
    phrase("nowadays", AGES),
    phrase("for now", AGES),
    phrase("for the time being", AGES),
    phrase("at the moment", AGES),
    phrase("as of today", AGES),
    phrase("not yet implemented", AGES),
    phrase("not yet supported", AGES),
    phrase("coming soon", AGES),
    phrase("in a later release", AGES),
    phrase("next issue", AGES),
    phrase("work in progress", AGES),
    phrase("wip", AGES),
    phrase("as discussed", "say what was decided; docs/decisions keeps why"),
    phrase("blazing", "give the figure, the command and the machine"),
    exact("TODO", OPEN_END),
    exact("FIXME", OPEN_END),
    exact("XXX", OPEN_END),
    exact("/work/", MACHINE),
    exact("/root/", MACHINE),
    exact("/home/", MACHINE),
    exact("/tmp/", MACHINE),
    rust("#[allow(", "#[expect(..., reason = \"...\")], which tells when it is not needed any more"),
    rust("#![allow(", "#[expect(..., reason = \"...\")] on the item"),
    rust("#[ignore]", "#[ignore = \"what it needs\"], so that a skipped test is skipped by name"),
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
    let banned = BANS.iter().filter(|ban| match ban.scope {
        Scope::Phrase => !file.is("CHANGELOG.md") && has_phrase(&lower, ban.text),
        Scope::Exact => has_exact(line, ban.text),
        Scope::Rust => file.is(".rs") && line.contains(ban.text) && !file.defines_macros(),
    });
    banned
        .map(|ban| Finding::at(&file.path, number, RULE, format!("`{}`: {}", ban.text, ban.instead)))
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
        for ban in &BANS {
            let file = SourceFile::new("crates/x/src/lib.rs", format!("//! A.\n// {} \n", ban.text));
            let findings = check(&[file]);
            assert!(findings.iter().any(|found| found.place.ends_with("lib.rs:2")), "{}", ban.text);
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
