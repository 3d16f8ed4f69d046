//! The rule that no more than three files of a crate import each other in a circle.
//!
//! File A imports file B if A names something that is defined in B. A name that another file exports again counts for the file
//! that defines it. A file that only exports a name again does not import it. Tests do not count.

mod read;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};

use crate::{SourceFile, ratchet::Measure};
use read::{Names, Path};

/// The most files that may import each other in a circle.
pub const CIRCLE_FILES_MAX: usize = 3;

/// The crates with circles of more than [`CIRCLE_FILES_MAX`] files, each with the number of files in such circles.
pub fn circles(files: &[SourceFile]) -> Vec<Measure> {
    let measured = crates(files).into_iter().map(|(name, files)| {
        let circles = circles_of(&files);
        let size = circles.iter().map(Vec::len).sum();
        let list: Vec<String> = circles.iter().map(|circle| circle.join(", ")).collect();
        Measure::new("circle", &format!("crates/{name}"), 1, size).with_details(list.join("; "))
    });
    measured.filter(|measure| measure.size > 0).collect()
}

/// The text of each file of a crate, by its module.
type Crate<'f> = BTreeMap<Path, &'f str>;

fn crates(files: &[SourceFile]) -> BTreeMap<&str, Crate<'_>> {
    let mut crates: BTreeMap<&str, Crate<'_>> = BTreeMap::new();
    for file in files {
        let Some((name, inside)) =
            file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        let Some(stem) = inside.strip_suffix(".rs") else { continue };
        let mut module: Path = stem.split('/').map(str::to_owned).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            module.pop();
        }
        crates.entry(name).or_default().insert(module, &file.text);
    }
    crates
}

fn circles_of(files: &Crate<'_>) -> Vec<Vec<String>> {
    let names: BTreeMap<&Path, Names> =
        files.iter().map(|(module, text)| (module, read::read(module, text))).collect();
    let tests: Vec<Path> = names
        .iter()
        .flat_map(|(module, names)| {
            names.test_modules.iter().map(|name| [module.as_slice(), std::slice::from_ref(name)].concat())
        })
        .collect();
    let is_test = |module: &Path| tests.iter().any(|test| module.starts_with(test));
    let edges: BTreeMap<&Path, BTreeSet<&Path>> = names
        .keys()
        .filter(|module| !is_test(module))
        .map(|module| (*module, imported(module, &names)))
        .collect();
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        edges.keys().map(|from| (*from, reachable(from, &edges))).collect();
    let mut circles: Vec<Vec<String>> = reached
        .iter()
        .map(|(from, all)| {
            all.iter().filter(|to| reached.get(*to).is_some_and(|back| back.contains(from))).collect()
        })
        .map(|circle: Vec<_>| circle.into_iter().map(|module| title(module)).collect())
        .filter(|circle: &Vec<String>| circle.len() > CIRCLE_FILES_MAX)
        .collect();
    circles.sort();
    circles.dedup();
    circles
}

fn title(module: &Path) -> String {
    if module.is_empty() { "the root".to_owned() } else { module.join("/") }
}

fn reachable<'n>(from: &'n Path, edges: &BTreeMap<&'n Path, BTreeSet<&'n Path>>) -> BTreeSet<&'n Path> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        open.extend(edges.get(module).into_iter().flatten().copied().filter(|next| reached.insert(*next)));
    }
    reached
}

/// The files that define what the file of `module` names.
fn imported<'n>(module: &Path, names: &BTreeMap<&'n Path, Names>) -> BTreeSet<&'n Path> {
    let own = &names[module];
    let imports = own.imports.iter().filter(|(_, _, exported)| !exported).map(|(_, path, _)| path);
    let defining = imports.chain(&own.inline).filter_map(|path| defining_file(module, path, names, 0));
    defining.filter(|file| *file != module).collect()
}

/// The file that defines what `path` means in `module`; `None` where that is a module itself or another crate's.
fn defining_file<'n>(
    module: &Path,
    path: &Path,
    names: &BTreeMap<&'n Path, Names>,
    depth: usize,
) -> Option<&'n Path> {
    const REEXPORTS_MAX: usize = 16;
    let first = path.first().filter(|_| depth < REEXPORTS_MAX)?;
    let (file, rest) = if first == "crate" {
        let known = (0..path.len()).rev().find_map(|end| names.get_key_value(&path[1..=end].to_vec()))?;
        (known, &path[1 + known.0.len()..])
    } else {
        (names.get_key_value(module)?, path.as_slice())
    };
    let ((file, names_of_file), name) = (file, rest.first()?);
    if let Some((_, target, _)) =
        names_of_file.imports.iter().find(|(known, target, _)| known == name && target != path)
    {
        return defining_file(file, &[target, &rest[1..]].concat(), names, depth + 1);
    }
    if first == "crate" {
        return Some(*file);
    }
    let child = [&["crate".to_owned()], module.as_slice(), path].concat();
    names
        .contains_key(&child[1..=module.len() + 1].to_vec())
        .then(|| defining_file(module, &child, names, depth + 1))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<(usize, String)> {
        let files: Vec<SourceFile> = files
            .iter()
            .map(|(path, text)| SourceFile::new(format!("crates/x/src/{path}.rs"), *text))
            .collect();
        circles(&files).into_iter().map(|measure| (measure.size, measure.details)).collect()
    }

    #[test]
    fn a_circle_of_four_files_is_found_and_one_of_three_is_not() {
        let mut files = [
            ("lib", "mod a; mod b; mod c; mod d;"),
            ("a", "use crate::b::B;"),
            ("b", "fn f() -> super::c::C {}"),
            ("c/mod", "use super::d;\nfn f() -> d::D {}"),
            ("d", "use crate::a::A;"),
        ];
        assert_eq!(found(&files), [(4, "a, b, c, d".to_owned())]);
        files[3].1 = "use crate::a::A;";
        assert!(found(&files).is_empty());
    }

    #[test]
    fn a_name_that_is_exported_again_counts_for_the_file_that_defines_it() {
        let files = [
            ("lib", "mod a; mod b; mod c; mod d; pub use a::A; use b::B as Other; pub struct Root;"),
            ("a", "use crate::Other;"),
            ("b", "use super::c::C;"),
            ("c", "use super::d::D;"),
            ("d", "use crate::A;"),
        ];
        assert_eq!(found(&files), [(4, "a, b, c, d".to_owned())], "the root is not one of them");
    }

    #[test]
    fn tests_and_modules_that_are_only_named_are_no_imports() {
        let files = [
            ("lib", "mod a; mod b; mod c; mod d;"),
            ("a", "use crate::b::B;"),
            ("b", "use crate::c::C;"),
            ("c", "use crate::d::D;"),
            ("d", "use crate::a;\n#[cfg(test)]\nmod tests { use crate::a::A; }"),
        ];
        assert!(found(&files).is_empty());
    }
}
