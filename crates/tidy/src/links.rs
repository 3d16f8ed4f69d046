//! The rule that a reference leads somewhere: relative links in Markdown, with their anchors, and pages that code names.
//!
//! This file names pages that are not there, to test the rule, so it is the one that is not searched.

use std::collections::BTreeSet;

use crate::{Finding, SourceFile};

const RULE: &str = "a link leads somewhere";

/// Every relative link or mention of a page that leads nowhere. `exists` answers for paths from the root, since a link
/// may lead to a picture or a folder.
pub fn check(files: &[SourceFile], exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path != "crates/tidy/src/links.rs") {
        for (number, line) in prose(file) {
            let targets = if file.is(".md") { markdown_targets(line) } else { Vec::new() };
            let links = targets.into_iter().filter_map(|target| wrong_link(files, file, target, &exists));
            let pages = page_mentions(line).into_iter().filter(|page| !exists(page));
            let pages = pages.map(|page| format!("there is no `{page}`"));
            findings.extend(links.chain(pages).map(|instead| Finding::at(&file.path, number, RULE, instead)));
        }
    }
    findings
}

/// The lines outside Markdown's code fences; all lines of other files.
fn prose(file: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    file.lines().filter(move |(_, line)| {
        let fence = file.is(".md") && line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// What stands in `](...)` and is no address elsewhere.
fn markdown_targets(line: &str) -> Vec<&str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:")).collect()
}

/// Pages named in text, as in `docs/FORMAT.md`; a link's target is not text.
fn page_mentions(line: &str) -> Vec<&str> {
    let mentions = line.match_indices("docs/").filter(|(at, _)| !line[..*at].ends_with(['/', '-', '_', '(']));
    let pages = mentions.filter_map(|(at, _)| {
        let end = line[at..].find(|c: char| !(c.is_ascii_alphanumeric() || "/_-.".contains(c)));
        let page = &line[at..end.map_or(line.len(), |end| at + end)];
        page.find(".md").map(|dot| &page[..dot + 3])
    });
    pages.collect()
}

fn wrong_link(
    files: &[SourceFile],
    file: &SourceFile,
    target: &str,
    exists: &impl Fn(&str) -> bool,
) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { file.path.clone() } else { resolve(&file.path, path) };
    if !exists(&path) {
        return Some(format!("`{target}` is meant to be `{path}`, which does not exist"));
    }
    let page = files.iter().find(|page| page.path == path && page.is(".md"))?;
    let known = anchors(page);
    (!anchor.is_empty() && !known.contains(anchor)).then(|| format!("`{path}` has no heading `#{anchor}`"))
}

/// A path relative to a file, from the root.
fn resolve(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The anchors of a page's headings: lower case, letters, digits and `-`, spaces as `-`.
fn anchors(page: &SourceFile) -> BTreeSet<String> {
    let headings = prose(page).filter(|(_, line)| line.starts_with('#'));
    let slug = |heading: &str| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(|(_, line)| slug(line.trim_start_matches('#').trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_nowhere_is_found_and_one_with_a_good_anchor_is_not() {
        let page = SourceFile::new(
            "docs/a.md",
            "# A\n## The log, and why\n[x](../README.md) [y](b.md#1-b) [z](#the-log-and-why)\n",
        );
        let other = SourceFile::new(
            "docs/b.md",
            "# B\n[n](c.md)\n[n](a.md#nothing)\n```\n[fine](in-a-fence.md)\n```\n## 1. B\n",
        );
        let code = SourceFile::new("a.rs", "//! See `docs/a.md` and `docs/gone.md`.\n");
        let found =
            check(&[page, other, code], |path| ["README.md", "docs/a.md", "docs/b.md"].contains(&path));
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["docs/b.md:2", "docs/b.md:3", "a.rs:1"], "{found:?}");
    }
}
