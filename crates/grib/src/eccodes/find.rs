//! Finds ecCodes and chooses one of several. It reads files and calls the loader, and runs no program.
//!
//! What must stay true: a named path is taken and no other. Otherwise the newest is taken, and of equals the one of the
//! environment before the system's.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs};

use super::{Eccodes, EccodesError};
use crate::ffi::Api;

/// Names a system's loader may know ecCodes by.
const SYSTEM: [&str; 2] = ["libeccodes.so.0", "libeccodes.so"];
/// Libraries of `eckitlib`, which `eccodeslib` needs and its own search path does not reach.
const ECKIT: [&str; 5] =
    ["libeckit.so", "libeckit_spec.so", "libeckit_maths.so", "libeckit_codec.so", "libeckit_geo.so"];

/// A possible ecCodes.
#[derive(Debug)]
struct Candidate {
    /// The owner, in words: "the system's".
    owner: String,
    /// The libraries to try; the first that can be loaded counts.
    libraries: Vec<PathBuf>,
}

/// An ecCodes that was loaded.
struct Loaded<T> {
    owner: String,
    version: i64,
    library: T,
}

/// The environment that the process runs in, if it has named one.
pub(super) static OWN: OnceLock<PathBuf> = OnceLock::new();

pub(super) fn find() -> Result<Eccodes, EccodesError> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
    let named = [
        (OWN.get().map(|root| root.clone().into_os_string()), "that of this process"),
        (variable("VIRTUAL_ENV"), "the virtual environment's (VIRTUAL_ENV)"),
        (variable("CONDA_PREFIX"), "the conda environment's (CONDA_PREFIX)"),
    ];
    let mut candidates = environments(named, variable("PATH"));
    candidates
        .push(Candidate { owner: "the system's".to_owned(), libraries: SYSTEM.map(PathBuf::from).to_vec() });
    search(variable("ISOTACH_ECCODES").map(PathBuf::from), candidates)
}

/// The newest of the candidates that can be loaded, or `named` alone if there is one.
fn search(named: Option<PathBuf>, candidates: Vec<Candidate>) -> Result<Eccodes, EccodesError> {
    if let Some(path) = named {
        return match load(&path) {
            Ok(api) => Ok(Eccodes::new(api, path, "ISOTACH_ECCODES names it".to_owned())),
            Err(reason) => Err(EccodesError::Unusable { path, reason }),
        };
    }
    let mut tried = Vec::new();
    let mut found = Vec::new();
    for Candidate { owner, libraries } in candidates {
        for path in libraries {
            match load(&path) {
                Ok(api) => {
                    found.push(Loaded { owner, version: api.version(), library: (api, path) });
                    break;
                }
                Err(reason) => tried.push(reason_with_path(&path, &reason)),
            }
        }
    }
    if let Some((Loaded { library: (api, path), .. }, why)) = newest(found) {
        return Ok(Eccodes::new(api, path, why));
    }
    if tried.len() == SYSTEM.len() {
        tried.push(
            "no ecCodes in an active environment (VIRTUAL_ENV, CONDA_PREFIX, the python first on PATH)"
                .to_owned(),
        );
    }
    Err(EccodesError::NotInstalled { tried })
}

/// The newest, of equals the first, and why it was taken.
fn newest<T>(mut found: Vec<Loaded<T>>) -> Option<(Loaded<T>, String)> {
    let best = found.iter().map(|found| found.version).max()?;
    let at = found.iter().position(|found| found.version == best)?;
    let taken = found.remove(at);
    let mut why = taken.owner.clone();
    for other in &found {
        let relation = if other.version < best { "newer than" } else { "as new as" };
        let version = super::version_text(other.version);
        why.push_str(&format!(", {relation} {version}, {}", other.owner));
    }
    Some((taken, why))
}

fn load(path: &Path) -> Result<Api, String> {
    let needed = beside(path);
    let needed: Vec<&Path> = needed.iter().map(PathBuf::as_path).collect();
    Api::load(path, &needed)
}

/// The loader mostly begins with the path itself.
fn reason_with_path(path: &Path, reason: &str) -> String {
    let path = path.to_string_lossy();
    if reason.starts_with(path.as_ref()) { reason.to_owned() } else { format!("{path}: {reason}") }
}

/// The environments that are active and hold a library, each once: those that are named, with their owners, and that of the
/// Python first on the search path.
fn environments<R: AsRef<OsStr>, const N: usize>(
    named: [(Option<R>, &str); N],
    search_path: Option<impl AsRef<OsStr>>,
) -> Vec<Candidate> {
    let named = named.into_iter();
    let named = named.filter_map(|(root, owner)| Some((PathBuf::from(root?.as_ref()), owner.to_owned())));
    let mut named: Vec<(PathBuf, String)> = named.collect();
    if let Some(python) = search_path.and_then(|folders| first_python(folders.as_ref())) {
        let owner = format!("that of the Python first on PATH, {}", python.display());
        named.extend(python.ancestors().nth(2).map(|root| (root.to_owned(), owner)));
    }
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut candidates = Vec::new();
    for (root, owner) in named {
        let root = root.canonicalize().unwrap_or(root);
        let libraries = libraries_of(&root);
        if !libraries.is_empty() && !seen.contains(&root) {
            candidates.push(Candidate { owner, libraries });
        }
        seen.push(root);
    }
    candidates
}

fn first_python(search_path: &OsStr) -> Option<PathBuf> {
    let names = |folder: PathBuf| ["python3", "python"].map(|name| folder.join(name));
    env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .flat_map(names)
        .find(|path| path.is_file())
}

/// The ecCodes below the root of an environment: PyPI's `eccodeslib`, the newest Python's first, then a library in its
/// `lib`, where conda keeps it. Below `/usr` the latter is the system's own, and is left to the loader.
fn libraries_of(root: &Path) -> Vec<PathBuf> {
    let is_system = root == Path::new("/usr") || root == Path::new("/");
    let mut found = wheels(root);
    if is_system {
        found.extend(wheels(Path::new("/usr/local")));
    } else {
        found.extend(SYSTEM.map(|name| root.join("lib").join(name)).into_iter().find(|path| path.exists()));
    }
    found
}

/// The libraries of `eccodeslib` in an environment, the newest Python's first.
fn wheels(environment: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(environment.join("lib"))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
        .map(|entry| entry.path())
        .collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(minor_version(folder)));
    let packages = |folder: PathBuf| ["site-packages", "dist-packages"].map(|name| folder.join(name));
    let library = |packages: PathBuf| {
        ["lib64", "lib"].map(|lib| packages.join("eccodeslib").join(lib).join("libeccodes.so"))
    };
    let all = folders.into_iter().flat_map(packages).flat_map(library);
    all.filter(|path| path.exists()).collect()
}

/// 11 of `python3.11`; 0 of `python3`.
fn minor_version(folder: &Path) -> u32 {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit_once('.').and_then(|(_, minor)| minor.parse().ok()).unwrap_or(0)
}

/// The libraries of the package `eckitlib` installed beside the `eccodeslib` that `path` lies in, if so.
fn beside(path: &Path) -> Vec<PathBuf> {
    let Some(packages) = path.ancestors().nth(3) else { return Vec::new() };
    let found = |lib: &str| {
        let folder = packages.join("eckitlib").join(lib);
        ECKIT.map(|name| folder.join(name)).into_iter().filter(|path| path.exists()).collect::<Vec<_>>()
    };
    let lib64 = found("lib64");
    if lib64.is_empty() { found("lib") } else { lib64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An environment in which these files stand.
    fn environment(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
        root
    }

    fn owners(virtual_env: Option<&Path>, conda: Option<&Path>, search_path: Option<&str>) -> Vec<String> {
        let named = [
            (virtual_env, "the virtual environment's (VIRTUAL_ENV)"),
            (conda, "the conda environment's (CONDA_PREFIX)"),
        ];
        environments(named, search_path).into_iter().map(|place| place.owner).collect()
    }

    #[test]
    fn a_path_that_is_named_and_wrong_is_not_passed_over() {
        let system =
            Candidate { owner: "the system's".to_owned(), libraries: vec!["libeccodes.so.0".into()] };
        let error = search(Some("/no/such/libeccodes.so".into()), vec![system]).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "ISOTACH_ECCODES names /no/such/libeccodes.so, which cannot be loaded as ecCodes: "
            ),
            "{error}"
        );
    }

    #[test]
    fn a_library_that_is_not_eccodes_is_refused() {
        let error = search(Some("libc.so.6".into()), Vec::new()).unwrap_err();
        assert!(
            matches!(&error, EccodesError::Unusable { reason, .. } if reason.contains("codes_")),
            "{error}"
        );
    }

    #[test]
    fn the_newest_is_taken_and_the_environment_before_an_equal_system() {
        let taken = |versions: &[(&str, i64)]| {
            let found = versions.iter().map(|(owner, version)| {
                let owner = (*owner).to_owned();
                Loaded { owner, version: *version, library: () }
            });
            newest(found.collect()).map(|(_, why)| why)
        };
        assert_eq!(taken(&[]), None);
        assert_eq!(taken(&[("the system's", 22_800)]).unwrap(), "the system's");
        assert_eq!(
            taken(&[("the environment's", 25_000), ("the system's", 22_800)]).unwrap(),
            "the environment's, newer than 2.28.0, the system's"
        );
        assert_eq!(
            taken(&[("the environment's", 22_301), ("the system's", 22_800)]).unwrap(),
            "the system's, newer than 2.23.1, the environment's"
        );
        assert_eq!(
            taken(&[("the environment's", 22_800), ("the system's", 22_800)]).unwrap(),
            "the environment's, as new as 2.28.0, the system's"
        );
    }

    #[test]
    fn a_missing_library_names_both_packages_and_the_places_tried() {
        let tried = vec!["libeccodes.so.0: cannot open".to_owned()];
        let text = EccodesError::NotInstalled { tried }.to_string();
        for part in ["apt install libeccodes0", "pip install eccodeslib", "libeccodes.so.0: cannot open"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn wheels_are_found_in_a_virtual_environment_with_eckit_beside_them() {
        let root = environment(&[
            "lib/python3.9/site-packages/eccodeslib/lib64/libeccodes.so",
            "lib/python3.11/site-packages/eccodeslib/lib64/libeccodes.so",
            "lib/python3.11/site-packages/eckitlib/lib64/libeckit.so",
        ]);
        let packages = root.path().join("lib/python3.11/site-packages");
        let library = packages.join("eccodeslib/lib64/libeccodes.so");
        assert_eq!(wheels(root.path())[0], library, "the newest Python's first");
        assert_eq!(beside(&library), [packages.join("eckitlib/lib64/libeckit.so")]);
        assert!(beside(Path::new("libeccodes.so.0")).is_empty());
    }

    #[test]
    fn active_environments_are_known_by_their_variables_and_by_the_first_python() {
        let library = "lib/python3.11/site-packages/eccodeslib/lib64/libeccodes.so";
        let (one, other) = (environment(&[library]), environment(&[library, "bin/python3"]));
        let conda = environment(&["lib/libeccodes.so"]);
        let nothing = environment(&["bin/other"]);
        let folders = [&nothing, &other].map(|root| root.path().join("bin").display().to_string()).join(":");
        assert_eq!(
            owners(Some(one.path()), Some(conda.path()), None),
            ["the virtual environment's (VIRTUAL_ENV)", "the conda environment's (CONDA_PREFIX)"]
        );
        let python = other.path().join("bin/python3");
        assert_eq!(
            owners(None, None, Some(&folders)),
            [format!("that of the Python first on PATH, {}", python.display())]
        );
        assert_eq!(
            owners(Some(other.path()), None, Some(&folders)),
            ["the virtual environment's (VIRTUAL_ENV)"],
            "one environment counts once"
        );
        assert!(owners(Some(nothing.path()), None, None).is_empty());
    }
}
