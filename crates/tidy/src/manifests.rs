//! The rule that versions, lints and dependencies are declared once, in the workspace.

use crate::{Finding, SourceFile};

const RULE: &str = "a crate takes it from the workspace";
/// Lines that every crate's manifest has.
const REQUIRED: [&str; 6] = [
    "version.workspace = true",
    "edition.workspace = true",
    "rust-version.workspace = true",
    "license.workspace = true",
    "publish.workspace = true",
    "[lints]\nworkspace = true",
];

/// Every manifest of a crate that declares for itself what the workspace declares.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let manifests = files.iter().filter(|file| file.path.starts_with("crates/") && file.is("/Cargo.toml"));
    manifests.flat_map(|file| missing(file).into_iter().chain(own_versions(file))).collect()
}

fn missing(file: &SourceFile) -> Vec<Finding> {
    let absent = REQUIRED.iter().filter(|line| !file.text.contains(*line));
    absent
        .map(|line| Finding::at(&file.path, 1, RULE, format!("add `{}`", line.replace('\n', " "))))
        .collect()
}

fn own_versions(file: &SourceFile) -> Vec<Finding> {
    let mut in_dependencies = false;
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        if line.starts_with('[') {
            in_dependencies = line.trim_end_matches(']').ends_with("dependencies");
        } else if in_dependencies && declares_its_own(line) {
            let instead = format!(
                "`{line}`: declare it in the root's [workspace.dependencies], write `.workspace = true`"
            );
            findings.push(Finding::at(&file.path, number, RULE, instead));
        }
    }
    findings
}

/// Whether a line says more than "as the workspace does". A crate may name itself, to switch on features for its tests.
fn declares_its_own(line: &str) -> bool {
    let from_workspace = line.contains("workspace = true") || line.contains("path = \".\"");
    line.contains('=') && !line.starts_with('#') && !from_workspace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_its_own_and_missing_lints_are_found() {
        let text = format!(
            "{}\n[dependencies]\na.workspace = true\nx = {{ path = \".\" }}\nb = \"1\"\n",
            REQUIRED[..5].join("\n")
        );
        let found = check(&[SourceFile::new("crates/x/Cargo.toml", text)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].instead.contains("[lints]") && found[1].place.ends_with(":9"));
    }
}
