//! Finds an HDF5 library. It reads folders and calls the loader, and runs no program.
//!
//! What must stay true: a named path is taken and no other. Otherwise the first that can be used is taken: those of the active
//! environments, then the system's.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    thread_local,
};

use super::ffi::Library;
use crate::{Error, Result};

/// The variable that names a library.
const VARIABLE: &str = "ISOTACH_HDF5";
/// Names that a system's loader may know HDF5 by: 2.x, 1.14, 1.12, and Debian's.
const SYSTEM: [&str; 6] = [
    "libhdf5.so.320",
    "libhdf5.so.310",
    "libhdf5.so.200",
    "libhdf5_serial.so.310",
    "libhdf5.so",
    "libhdf5_serial.so",
];
/// Folders of the libraries in PyPI's packages.
const WHEELS: [&str; 3] = ["h5py.libs", "netCDF4.libs", "netcdf4.libs"];

thread_local! {
    static LOADED: std::cell::OnceCell<&'static Library> = const { std::cell::OnceCell::new() };
}

/// The library, which is loaded at the first call.
pub(super) fn library() -> Result<&'static Library> {
    LOADED.with(|loaded| match loaded.get() {
        Some(library) => Ok(*library),
        None => {
            let library: &'static Library = Box::leak(Box::new(search()?));
            Ok(*loaded.get_or_init(|| library))
        }
    })
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn search() -> Result<Library> {
    if let Some(path) = variable(VARIABLE).map(PathBuf::from) {
        return load(&path).map_err(|reason| Error::Unusable { path, reason });
    }
    let mut tried = Vec::new();
    let found = environments().iter().flat_map(|root| libraries_of(root)).collect::<Vec<_>>();
    for path in found.into_iter().chain(SYSTEM.map(PathBuf::from)) {
        match load(&path) {
            Ok(library) => return Ok(library),
            Err(reason) => tried.push(reason_with_path(&path, &reason)),
        }
    }
    Err(Error::NotInstalled { tried })
}

/// Loads a library. Some wheels leave it to Python to load the libraries that it needs, which are in the same folder.
fn load(path: &Path) -> Result<Library, String> {
    let failed = match Library::load(path) {
        Ok(library) => return Ok(library),
        Err(reason) => reason,
    };
    let Some(folder) = path.parent().filter(|folder| folder.extension().is_some_and(|end| end == "libs"))
    else {
        return Err(failed);
    };
    let mut companions: Vec<PathBuf> =
        entries(folder).into_iter().filter(|path| !name_starts(path, "libhdf5")).collect();
    // They need each other, in an order that is not known.
    loop {
        let before = companions.len();
        companions.retain(|companion| !Library::preload(companion));
        if companions.is_empty() || companions.len() == before {
            return Library::load(path);
        }
    }
}

/// The loader mostly begins with the path itself.
fn reason_with_path(path: &Path, reason: &str) -> String {
    let path = path.to_string_lossy();
    if reason.starts_with(path.as_ref()) { reason.to_owned() } else { format!("{path}: {reason}") }
}

/// The active environments: those that are named, and that of the Python first on the search path.
fn environments() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| variable(name).map(PathBuf::from)).collect();
    let folders = variable("PATH").unwrap_or_default();
    let mut pythons = env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| ["python3", "python"].map(|name| folder.join(name)));
    let python = pythons.find(|path| path.is_file());
    roots.extend(python.and_then(|python| python.ancestors().nth(2).map(Path::to_owned)));
    let mut seen: Vec<PathBuf> = Vec::new();
    roots.retain(|root| {
        let root = root.canonicalize().unwrap_or_else(|_| root.clone());
        let is_new = !seen.contains(&root);
        seen.push(root);
        is_new
    });
    roots
}

/// The libraries below the root of an environment: those of PyPI's packages, then one in its `lib`, where conda keeps it. Below `/usr`
/// the latter is the system's own, and is left to the loader.
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

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn name_starts(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
}

fn wheels(environment: &Path) -> Vec<PathBuf> {
    let pythons =
        entries(&environment.join("lib")).into_iter().rev().filter(|path| name_starts(path, "python3"));
    let packages =
        pythons.flat_map(|python| ["site-packages", "dist-packages"].map(|name| python.join(name)));
    let folders = packages.flat_map(|packages| WHEELS.map(|name| packages.join(name)));
    let libraries = folders.flat_map(|folder| entries(&folder));
    libraries.filter(|path| name_starts(path, "libhdf5-") || name_starts(path, "libhdf5.so")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_of_a_wheel_is_found_and_its_companions_are_not() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("lib/python3.11/site-packages/h5py.libs");
        fs::create_dir_all(&folder).unwrap();
        for name in ["libhdf5-1a2b.so.320.0.0", "libhdf5_hl-3c4d.so.320.0.0", "libz-5e6f.so.1"] {
            fs::write(folder.join(name), b"").unwrap();
        }
        assert_eq!(libraries_of(root.path()), [folder.join("libhdf5-1a2b.so.320.0.0")]);
    }

    #[test]
    fn a_library_that_is_not_hdf5_is_refused() {
        let reason = Library::load(Path::new("libc.so.6")).unwrap_err();
        assert!(reason.contains("no HDF5 library"), "{reason}");
    }
}
