//! The paths that a Rust file names, without its tests.

use super::tokens::tokens;

/// A path through modules, as its segments.
pub(super) type Path = Vec<String>;

/// What a file says about other files.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Each import, by the name that it has in the file: the name, the whole path, and whether it is exported again.
    pub(super) imports: Vec<(String, Path, bool)>,
    /// The paths in code, outside of imports.
    pub(super) inline: Vec<Path>,
    /// The modules that exist only for tests.
    pub(super) test_modules: Vec<String>,
}

/// Reads the file of `module`. Paths that begin with `self` or `super` are made absolute: they begin with `crate`.
pub(super) fn read(module: &[String], text: &str) -> Names {
    let tokens = tokens(text);
    let mut reader = Reader { module: module.to_vec(), names: Names::default() };
    reader.items(&tokens);
    reader.names
}

struct Reader {
    /// The module that is being read: the file's, or one with a body inside the file.
    module: Path,
    names: Names,
}

impl Reader {
    fn items(&mut self, tokens: &[&str]) {
        let mut at = 0;
        let mut exported = false;
        while at < tokens.len() {
            let rest = &tokens[at..];
            at += match rest {
                ["#", "[", "cfg", "(", "test", ..] | ["#", "[", "cfg", "(", "all", "(", "test", ..] => {
                    let (item, length) = item(rest);
                    if let ["mod", name, ";"] = item[item.len().saturating_sub(3)..] {
                        self.names.test_modules.push(name.to_owned());
                    }
                    length
                }
                ["mod", name, "{", ..] => {
                    let body = balanced(&rest[2..]);
                    self.module.push((*name).to_owned());
                    self.items(&rest[3..2 + body]);
                    self.module.pop();
                    2 + body
                }
                ["use", ..] => {
                    let end = rest.iter().position(|token| *token == ";").unwrap_or(rest.len());
                    self.tree(&[], &rest[1..end], exported);
                    end
                }
                ["pub", "(", ..] => {
                    exported = true;
                    1 + balanced(&rest[1..])
                }
                [first, "::", ..] if is_name(first) => {
                    let path = path(rest);
                    let length = path.len() * 2 - 1;
                    self.names.inline.push(self.absolute(&path));
                    length
                }
                [token, ..] => {
                    exported = *token == "pub";
                    1
                }
                [] => 1,
            };
        }
    }

    /// Adds the imports of a tree: `a::{b, c as d}`.
    fn tree(&mut self, before: &[&str], tokens: &[&str], exported: bool) {
        let path = path(tokens);
        let whole: Vec<&str> = before.iter().chain(&path).copied().collect();
        let rest = &tokens[(path.len() * 2).saturating_sub(1).min(tokens.len())..];
        match rest.strip_prefix(&["::"]).unwrap_or(rest) {
            ["{", inside @ .., "}"] => {
                for branch in branches(inside) {
                    self.tree(&whole, branch, exported);
                }
            }
            ["as", name] => self.import(name, &whole, exported),
            _ => self.import(whole.last().copied().unwrap_or_default(), &whole, exported),
        }
    }

    fn import(&mut self, name: &str, whole: &[&str], exported: bool) {
        let itself = whole.last() == Some(&"self");
        let whole = if itself && whole.len() > 1 { &whole[..whole.len() - 1] } else { whole };
        let name = if name == "self" { whole.last().copied().unwrap_or_default() } else { name };
        self.names.imports.push((name.to_owned(), self.absolute(whole), exported));
    }

    fn absolute(&self, path: &[&str]) -> Path {
        let ups = path.iter().take_while(|part| **part == "super").count();
        let is_relative = ups > 0 || path.first() == Some(&"self");
        let base = if is_relative { &self.module[..self.module.len().saturating_sub(ups)] } else { &[] };
        let rest = &path[ups.max(usize::from(is_relative))..];
        let root = is_relative.then(|| "crate".to_owned());
        root.into_iter()
            .chain(base.iter().cloned())
            .chain(rest.iter().map(|part| (*part).to_owned()))
            .collect()
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The names at the start, joined by `::`.
fn path<'t>(tokens: &[&'t str]) -> Vec<&'t str> {
    let mut names = Vec::new();
    let mut rest = tokens;
    while let [name, tail @ ..] = rest {
        if !is_name(name) && *name != "*" {
            break;
        }
        names.push(*name);
        match tail {
            ["::", tail @ ..] => rest = tail,
            _ => break,
        }
    }
    names
}

/// The tokens between commas that stand in no braces.
fn branches<'a, 't>(tokens: &'a [&'t str]) -> Vec<&'a [&'t str]> {
    let mut depth = 0;
    let parts = tokens.split(|token| {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        *token == "," && depth == 0
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// How many tokens reach from an opening bracket to the one that closes it.
fn balanced(tokens: &[&str]) -> usize {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.map_or(tokens.len(), |end| end + 1)
}

/// The item at the start with its attributes, to its `;` or its body, and its length.
fn item<'a, 't>(tokens: &'a [&'t str]) -> (&'a [&'t str], usize) {
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at] {
            ";" => return (&tokens[..=at], at + 1),
            "{" => {
                let end = at + balanced(&tokens[at..]);
                return (&tokens[..end], end);
            }
            "(" | "[" => at += balanced(&tokens[at..]),
            _ => at += 1,
        }
    }
    (tokens, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(paths: impl IntoIterator<Item = Path>) -> Vec<String> {
        paths.into_iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn imports_and_paths_are_read_and_those_of_tests_are_not() {
        let code = "pub(crate) use self::a::{B, c::{self, D as E}};\nuse std::io;\nfn f() -> super::G { h::i() }\n\
                    mod j { use super::K; }\n#[cfg(test)]\nmod tests { use crate::l::M; }\n#[cfg(test)] mod n;";
        let names = read(&["x".into(), "y".into()], code);
        let imports: Vec<String> = names
            .imports
            .iter()
            .map(|(name, path, exported)| format!("{name} {} {exported}", path.join("::")))
            .collect();
        let expected = [
            "B crate::x::y::a::B true",
            "c crate::x::y::a::c true",
            "E crate::x::y::a::c::D true",
            "io std::io false",
            "K crate::x::y::K false",
        ];
        assert_eq!(imports, expected);
        assert_eq!(text(names.inline), ["crate::x::G", "h::i"]);
        assert_eq!(names.test_modules, ["n"]);
    }
}
