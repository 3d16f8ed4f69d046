//! How long files and functions are, in lines.
//!
//! Functions are found by their layout: the repository is formatted by rustfmt and ruff, so a Rust function ends at the
//! closing brace in the column where it began, and a Python function where the indentation falls back.

use crate::{SourceFile, ratchet::Measure};

/// The longest file, in lines, that needs no entry in the ratchet.
pub const FILE_LINES_MAX: usize = 500;
/// The longest function, in lines from its signature to its end, that needs no entry in the ratchet.
pub const FUNCTION_LINES_MAX: usize = 70;

/// The files that are too long.
pub fn files(files: &[SourceFile]) -> Vec<Measure> {
    let code = files.iter().filter(|file| file.is(".rs") || file.is(".py"));
    let measured = code.map(|file| Measure::new("file", &file.path, 1, file.text.lines().count()));
    measured.filter(|measure| measure.size > FILE_LINES_MAX).collect()
}

/// The functions that are too long.
pub fn functions(files: &[SourceFile]) -> Vec<Measure> {
    let all = files.iter().flat_map(|file| {
        let found = if file.is(".rs") {
            rust_functions(file)
        } else if file.is(".py") {
            python_functions(file)
        } else {
            Vec::new()
        };
        found
            .into_iter()
            .map(|(line, name, size)| Measure::new("function", &format!("{}::{name}", file.path), line, size))
    });
    all.filter(|measure| measure.size > FUNCTION_LINES_MAX).collect()
}

/// Line, name and length of each function with a body.
fn rust_functions(file: &SourceFile) -> Vec<(usize, &str, usize)> {
    let lines: Vec<&str> = file.text.lines().collect();
    let starts = lines.iter().enumerate().filter_map(|(at, line)| Some((at, rust_function_name(line)?)));
    starts.filter_map(|(at, name)| Some((at + 1, name, rust_function_end(&lines[at..])?))).collect()
}

/// The name after `fn`, with any modifiers before it (`pub(crate) const unsafe extern "C" fn`).
fn rust_function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let modifiers = ["pub", "const", "async", "unsafe", "extern", "\"C\""];
    let is_modifier = |word: &str| {
        modifiers.contains(&word) || word.starts_with("pub(") || word == "super)" || word == "self)"
    };
    if !before.split_whitespace().all(is_modifier) {
        return None;
    }
    after.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

/// The number of lines of the function whose signature begins the slice; `None` if it has no body.
fn rust_function_end(lines: &[&str]) -> Option<usize> {
    let column = indentation(lines.first()?);
    let mut in_body = false;
    for (at, line) in lines.iter().enumerate() {
        let here = line.trim_end();
        if !in_body && here.ends_with(';') && indentation(line) == column {
            return None;
        }
        if !in_body && here.ends_with('}') {
            return Some(at + 1);
        }
        if in_body && indentation(line) == column && here.trim_start().starts_with('}') {
            return Some(at + 1);
        }
        in_body |= here.ends_with('{') && (at == 0 || indentation(line) == column);
    }
    None
}

/// Line, name and length of each function.
fn python_functions(file: &SourceFile) -> Vec<(usize, &str, usize)> {
    let lines: Vec<&str> = file.text.lines().collect();
    let name =
        |line: &&str| -> Option<usize> { line.trim_start().starts_with("def ").then(|| indentation(line)) };
    let starts = lines.iter().enumerate().filter_map(|(at, line)| Some((at, name(line)?)));
    starts
        .map(|(at, column)| {
            let name = lines[at].trim_start()[4..].split('(').next().unwrap_or("");
            (at + 1, name, python_function_end(&lines[at..], column))
        })
        .collect()
}

fn python_function_end(lines: &[&str], column: usize) -> usize {
    let is_outside =
        |line: &str| !line.trim().is_empty() && indentation(line) <= column && !line.trim().starts_with(')');
    let next = lines.iter().skip(1).position(|line| is_outside(line)).map_or(lines.len(), |at| at + 1);
    let blank = lines[..next].iter().rev().take_while(|line| line.trim().is_empty()).count();
    next - blank
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rust_function_is_measured_from_signature_to_brace() {
        let text = "fn a() {}\ntrait T {\n    fn none(\n        x: u8,\n    );\n    pub(crate) fn b(\n        x: u8,\n    ) -> u8\n    where\n        u8: Copy,\n    {\n        if x > 0 {\n        }\n        x\n    }\n}\n";
        assert_eq!(rust_functions(&SourceFile::new("a.rs", text)), [(1, "a", 1), (6, "b", 10)]);
    }

    #[test]
    fn a_python_function_is_measured_to_its_last_line() {
        let text = "def a(\n    x,\n):\n    if x:\n\n        return 1\n\n\nclass B:\n    def c(self):\n        pass\n";
        assert_eq!(python_functions(&SourceFile::new("a.py", text)), [(1, "a", 6), (10, "c", 2)]);
    }

    #[test]
    fn only_long_functions_and_files_are_reported() {
        let long = format!("//! A.\nfn long() {{\n{}}}\n", "    x();\n".repeat(FUNCTION_LINES_MAX));
        let files_under_test = [SourceFile::new("a.rs", long), SourceFile::new("b.rs", "fn short() {}\n")];
        let found = functions(&files_under_test);
        assert_eq!(found, [Measure::new("function", "a.rs::long", 2, FUNCTION_LINES_MAX + 2)]);
        assert_eq!(files(&[SourceFile::new("c.rs", "x\n".repeat(FILE_LINES_MAX + 1))]).len(), 1);
    }
}
