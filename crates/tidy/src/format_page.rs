//! The rule that what the posix engine writes is on the page that specifies it.
//!
//! Looked for are the magic texts (`b"ISOT...."`), the numbers of kinds and operations (`const NAME: u8` and `u16`), and
//! the sections of the page that code refers to. Sizes and offsets are for the independent reader in the tests to check.

use crate::{Finding, SourceFile};

const RULE: &str = "what is on disk is on the page";
/// The page, from the repository's root.
pub const FORMAT_PATH: &str = "docs/FORMAT.md";
/// Where the code of the format is.
const CODE: &str = "crates/engine-posix/src/";

/// Everything on disk that `page` does not name.
pub fn check(files: &[SourceFile], page: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is(".rs")) {
        for (number, line) in file.lines().take_while(|(_, line)| *line != "#[cfg(test)]") {
            let mut report = |instead: String| findings.push(Finding::at(&file.path, number, RULE, instead));
            if let Some(section) = section(line).filter(|section| !has_section(page, section)) {
                report(format!("{FORMAT_PATH} has no section {section}"));
            }
            if !file.path.starts_with(CODE) {
                continue;
            }
            if let Some(magic) = magic(line).filter(|magic| !page.contains(magic)) {
                report(format!("{FORMAT_PATH} does not name the magic `{magic}`"));
            }
            if let Some((name, value)) = tag(line).filter(|(name, value)| !has_tag(page, name, value)) {
                let words = name.to_lowercase().replace('_', " ");
                report(format!("{FORMAT_PATH} has no line with `{words}` and {value}"));
            }
        }
    }
    findings
}

/// The section in a mention such as "FORMAT.md section 7".
fn section(line: &str) -> Option<&str> {
    let rest = line.split("FORMAT.md section ").nth(1)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.')).filter(|section| !section.is_empty())
}

fn has_section(page: &str, section: &str) -> bool {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings
        .filter_map(|line| line.trim_start_matches('#').split_whitespace().next())
        .any(|number| number.trim_end_matches('.') == section)
}

fn magic(line: &str) -> Option<&str> {
    let rest = line.split("b\"ISOT").nth(1)?;
    let end = rest.find('"')?;
    let start = line.len() - rest.len() - "ISOT".len();
    Some(&line[start..line.len() - rest.len() + end])
}

/// Name and literal of a constant of one or two bytes.
fn tag(line: &str) -> Option<(&str, &str)> {
    let declaration = line.split("const ").nth(1)?;
    let (name, rest) = declaration.split_once(": ")?;
    let value = rest.strip_prefix("u8 = ").or_else(|| rest.strip_prefix("u16 = "))?;
    Some((name, value.trim_end().trim_end_matches(';')))
}

/// Whether a line of the page has both the name, in words or as it is, and the number.
fn has_tag(page: &str, name: &str, value: &str) -> bool {
    let words = name.to_lowercase().replace('_', " ");
    page.lines().any(|line| {
        let plain = line.to_lowercase().replace(['_', '-'], " ");
        let numbers = plain.split(|c: char| !c.is_ascii_alphanumeric());
        plain.contains(&words) && numbers.into_iter().any(|number| number == value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Format\n## 1. Files\nThe magic is `ISOTLOG1`.\n## 2. Frames\n| 2 | put extent |\n| 0x8000 | optional |\n";

    fn found(line: &str) -> usize {
        check(&[SourceFile::new("crates/engine-posix/src/x.rs", line)], PAGE).len()
    }

    #[test]
    fn constants_missing_on_the_page_are_found() {
        assert_eq!(found("const MAGIC: &[u8; 8] = b\"ISOTRUN1\";"), 1);
        assert_eq!(found("const PUT_EXTENT: u8 = 3;"), 1, "another number");
        assert_eq!(found("pub(super) const PUNCH: u8 = 2;"), 1, "another name");
        assert_eq!(found("//! As FORMAT.md section 3 has it."), 1);
    }

    #[test]
    fn constants_on_the_page_are_accepted() {
        assert_eq!(found("const MAGIC: &[u8; 8] = b\"ISOTLOG1\";"), 0);
        assert_eq!(found("pub(super) const PUT_EXTENT: u8 = 2;\npub const OPTIONAL: u16 = 0x8000;"), 0);
        assert_eq!(found("//! See FORMAT.md section 2."), 0);
        assert_eq!(found("#[cfg(test)]\nconst OTHER: u8 = 9;"), 0);
    }
}
