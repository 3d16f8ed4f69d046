//! The rule that every library we depend on directly has its reasons written down.

use crate::{Finding, metadata::Package};

const RULE: &str = "a library has its reasons";
/// The page that has the reasons, from the repository's root.
pub const LIBRARIES_PATH: &str = "docs/decisions/004-libraries.md";

/// Every direct dependency that the page's table does not name in its first column, and every name there that is none.
pub fn check(packages: &[Package], page: &str) -> Vec<Finding> {
    let ours = packages.iter().filter(|package| package.ours);
    let mut used: Vec<&str> =
        ours.flat_map(|package| &package.dependencies).map(|dependency| &*dependency.name).collect();
    used.retain(|name| !packages.iter().any(|package| package.ours && package.name == *name));
    used.sort_unstable();
    used.dedup();
    let named: Vec<(usize, &str)> = named(page);
    let missing = used.iter().filter(|name| !named.iter().any(|(_, known)| known == *name));
    let missing = missing.map(|name| {
        Finding::of(*name, RULE, format!("add it to {LIBRARIES_PATH}: licence, who maintains it, what for"))
    });
    let stale = named.iter().filter(|(_, name)| !used.contains(name));
    let stale = stale.map(|(line, name)| {
        Finding::at(
            LIBRARIES_PATH,
            *line,
            RULE,
            format!("no crate uses `{name}`: remove it, here and in the root manifest"),
        )
    });
    missing.chain(stale).collect()
}

/// The names in backticks in the first column of the table, with their lines.
fn named(page: &str) -> Vec<(usize, &str)> {
    let rows = page.lines().enumerate().filter(|(_, line)| line.starts_with("| `"));
    let names = rows.flat_map(|(index, line)| {
        let column = line.split('|').nth(1).unwrap_or("");
        column.split('`').skip(1).step_by(2).map(move |name| (index + 1, name))
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    #[test]
    fn a_library_without_reasons_and_reasons_without_a_library_are_found() {
        let names = ["isotach-object", "memchr", "other"];
        let dependency = |name: &str| Dependency { name: name.to_owned(), for_tests: false };
        let package = |name: &str, dependencies| Package {
            name: name.to_owned(),
            version: String::new(),
            licence: String::new(),
            ours: true,
            dependencies,
        };
        let packages =
            [package("isotach-grib", names.map(dependency).to_vec()), package("isotach-object", Vec::new())];
        let found = check(&packages, "# Page\n| `memchr`, `gone` | MIT | `else` |\n");
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["other", "docs/decisions/004-libraries.md:2"]);
    }
}
