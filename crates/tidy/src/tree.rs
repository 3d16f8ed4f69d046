//! The text files of the repository.
//!
//! Build output and caches are known by their `CACHEDIR.TAG`, Python environments by their `pyvenv.cfg`; folders whose
//! name begins with a dot are left out, but for `.ci`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A file and its text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Relative to the repository's root, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// The ends of names that make a file ours to check; files without an extension are known by their whole name.
const TEXT_FILES: [&str; 14] = [
    ".rs",
    ".py",
    ".md",
    ".toml",
    ".yaml",
    ".yml",
    ".sh",
    ".conf.in",
    "Makefile",
    "scripts/ceph-dev",
    "scripts/fuzz",
    "scripts/setup",
    "scripts/with-eccodes",
    ".ci/run",
];

impl SourceFile {
    /// A file with this text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Whether the name ends so.
    pub fn is(&self, extension: &str) -> bool {
        self.path.ends_with(extension)
    }

    /// Whether it is Rust code that writes Rust code.
    pub fn defines_macros(&self) -> bool {
        self.is(".rs") && self.text.contains("macro_rules!")
    }

    /// The lines with their numbers, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// The root of the repository in which this crate was built.
pub fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every text file under `root`, in order of path.
pub fn source_files(root: &Path) -> io::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    collect(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<SourceFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && !is_foreign(&entry.path(), &name) {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file() && TEXT_FILES.iter().any(|end| path.ends_with(end)) {
            files.push(SourceFile::new(path, fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}

/// Whether a folder holds output of tools, or foreign code.
fn is_foreign(folder: &Path, name: &str) -> bool {
    let hidden = name.starts_with('.') && name != ".ci";
    hidden
        || name == "__pycache__"
        || folder.join("CACHEDIR.TAG").exists()
        || folder.join("pyvenv.cfg").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_finds_this_file_and_no_build_output() {
        let files = source_files(&repository_root()).unwrap();
        assert!(files.iter().any(|file| file.path == "crates/tidy/src/tree.rs"));
        assert!(files.iter().any(|file| file.path == ".ci/run"));
        assert!(
            !files.iter().any(|file| file.path.starts_with("target/") || file.path.starts_with(".venv/"))
        );
    }
}
