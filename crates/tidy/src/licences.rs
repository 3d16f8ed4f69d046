//! The rule that all we build with may be used and passed on freely.
//!
//! The licences that are allowed stand in `deny.toml`, once, for cargo-deny and for this rule, which holds where
//! cargo-deny is not installed.

use crate::{Finding, metadata::Package};

const RULE: &str = "a library's licence is on the list";

/// The list `allow = [...]` of `deny.toml`.
pub fn allowed(deny: &str) -> Vec<String> {
    let list = deny.split("\nallow = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or("");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Every package whose licence is not covered by the list.
pub fn check(packages: &[Package], allowed: &[String]) -> Vec<Finding> {
    let refused = packages.iter().filter(|package| !covers(allowed, &package.licence));
    refused
        .map(|package| {
            let place = format!("{} {}", package.name, package.version);
            let instead =
                format!("`{}`: use another library, or decide on the licence in deny.toml", package.licence);
            Finding::of(place, RULE, instead)
        })
        .collect()
}

/// Whether a licence expression can be met with allowed licences alone. `AND` binds more tightly than `OR`; a slash is
/// the old way to write `OR`; an exception (`WITH`) only adds rights.
fn covers(allowed: &[String], expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let verdict = any(allowed, &words, &mut at);
    verdict && at == words.len()
}

fn any(allowed: &[String], words: &[&str], at: &mut usize) -> bool {
    let mut verdict = all(allowed, words, at);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        verdict |= all(allowed, words, at);
    }
    verdict
}

fn all(allowed: &[String], words: &[&str], at: &mut usize) -> bool {
    let mut verdict = one(allowed, words, at);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        verdict &= one(allowed, words, at);
    }
    verdict
}

fn one(allowed: &[String], words: &[&str], at: &mut usize) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let verdict = any(allowed, words, at);
        *at += 1;
        return verdict;
    }
    if words.get(*at) == Some(&"WITH") {
        *at += 2;
    }
    allowed.iter().any(|licence| licence == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_covered_when_one_choice_is_allowed_as_a_whole() {
        let list = allowed("[licenses]\nallow = [\n  \"MIT\", # free\n  \"Apache-2.0\",\n]\n");
        assert_eq!(list, ["MIT", "Apache-2.0"]);
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "(MIT OR X) AND Apache-2.0",
            "Unlicense/MIT",
            "Apache-2.0 WITH LLVM-exception OR X",
        ] {
            assert!(covers(&list, good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND X", "(MIT OR X) AND Y", "MIT X", "( MIT"] {
            assert!(!covers(&list, bad), "{bad}");
        }
    }
}
