//! The rule that every file begins by saying what it is for.

use crate::{Finding, SourceFile};

const RULE: &str = "a file says what it is for";

/// A Rust file begins with `//!`, a Python file with a docstring, a script or configuration with a comment, a page with a title, before
/// which a notebook has its format.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    files
        .iter()
        .filter_map(|file| wrong_head(file).map(|instead| Finding::at(&file.path, 1, RULE, instead)))
        .collect()
}

fn wrong_head(file: &SourceFile) -> Option<&'static str> {
    let mut lines = file.text.lines().skip_while(|line| line.starts_with("#!/"));
    let first = lines.next().unwrap_or("");
    let is_script = file.path.starts_with("scripts/") || file.path.starts_with(".ci/") || file.is("Makefile");
    if file.is(".rs") {
        (!first.starts_with("//! ")).then_some("begin with `//! `: what it is for and what must stay true")
    } else if file.is(".py") {
        (!first.starts_with("\"\"\""))
            .then_some("begin with a docstring: what it is for and what must stay true")
    } else if is_script {
        (!first.starts_with("# ")).then_some("begin with a comment: what it is for and how to call it")
    } else if file.is(".md") {
        (!title(&file.text).starts_with("# ")).then_some("begin with a title, `# `")
    } else {
        None
    }
}

/// A page from its title on, without the format of a notebook between lines of `---`.
fn title(page: &str) -> &str {
    let format = page.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    format.map_or(page, |(_, rest)| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_head_is_found_and_one_with_a_head_is_not() {
        let bad = [
            ("a.rs", "use std::fs;\n"),
            ("a.py", "import os\n"),
            ("scripts/a.sh", "#!/bin/sh\ntrue\n"),
            ("a.md", "Hi"),
            ("b.md", "---\nfile_format: mystnb\n---\n\nHi"),
        ];
        let good = [
            ("a.rs", "//! A.\n"),
            ("a.py", "\"\"\"A.\"\"\"\n"),
            ("scripts/a.sh", "#!/bin/sh\n# A.\n"),
            ("a.md", "# A"),
            ("b.md", "---\nfile_format: mystnb\n---\n\n# A"),
            ("a.toml", ""),
        ];
        for (path, text) in bad {
            assert_eq!(check(&[SourceFile::new(path, text)]).len(), 1, "{path}");
        }
        for (path, text) in good {
            assert!(check(&[SourceFile::new(path, text)]).is_empty(), "{path}");
        }
    }
}
