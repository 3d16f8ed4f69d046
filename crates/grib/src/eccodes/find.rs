//! Where ecCodes may be. Looks at files and the loader only; runs no program.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Eccodes, EccodesError};
use crate::ffi::Api;

/// Names a system's loader may know ecCodes by.
const SYSTEM: [&str; 2] = ["libeccodes.so.0", "libeccodes.so"];
/// Libraries of `eckitlib`, which `eccodeslib` needs and its own search path does not reach.
const ECKIT: [&str; 5] =
    ["libeckit.so", "libeckit_spec.so", "libeckit_maths.so", "libeckit_codec.so", "libeckit_geo.so"];

pub(super) fn find() -> Result<Eccodes, EccodesError> {
    let [named, environment] = ["ISOTACH_ECCODES", "VIRTUAL_ENV"]
        .map(|name| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from));
    search(named, environment.as_deref())
}

/// The first of the places that can be loaded, with `named` alone if there is one.
fn search(named: Option<PathBuf>, environment: Option<&Path>) -> Result<Eccodes, EccodesError> {
    if let Some(path) = named {
        return load(&path).map_err(|reason| EccodesError::Unusable { path, reason });
    }
    let mut tried = Vec::new();
    let system = SYSTEM.map(PathBuf::from);
    for path in system.into_iter().chain(environment.map(wheels).unwrap_or_default()) {
        match load(&path) {
            Ok(eccodes) => return Ok(eccodes),
            Err(reason) => tried.push(reason_with_path(&path, &reason)),
        }
    }
    if environment.is_none() {
        tried.push("no virtual environment is active (VIRTUAL_ENV is not set)".to_owned());
    }
    Err(EccodesError::NotInstalled { tried })
}

fn load(path: &Path) -> Result<Eccodes, String> {
    let needed = beside(path);
    let needed: Vec<&Path> = needed.iter().map(PathBuf::as_path).collect();
    Api::load(path, &needed).map(|api| Eccodes { api, path: path.to_owned() })
}

/// The loader mostly begins with the path itself.
fn reason_with_path(path: &Path, reason: &str) -> String {
    let path = path.to_string_lossy();
    if reason.starts_with(path.as_ref()) { reason.to_owned() } else { format!("{path}: {reason}") }
}

/// The libraries of `eccodeslib` in a virtual environment, the newest Python's first.
fn wheels(environment: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(environment.join("lib"))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3."))
        .map(|entry| entry.path().join("site-packages/eccodeslib"))
        .collect();
    folders.sort();
    folders.reverse();
    let library = |folder: PathBuf| ["lib64", "lib"].map(|lib| folder.join(lib).join("libeccodes.so"));
    folders.into_iter().flat_map(library).filter(|path| path.exists()).collect()
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

    #[test]
    fn a_path_that_is_named_and_wrong_is_not_passed_over() {
        let error = search(Some("/no/such/libeccodes.so".into()), None).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "ISOTACH_ECCODES names /no/such/libeccodes.so, which cannot be loaded as ecCodes: "
            ),
            "{error}"
        );
    }

    #[test]
    fn a_library_that_is_not_eccodes_is_refused() {
        let error = search(Some("libc.so.6".into()), None).unwrap_err();
        assert!(
            matches!(&error, EccodesError::Unusable { reason, .. } if reason.contains("codes_")),
            "{error}"
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
        let environment = tempfile::tempdir().unwrap();
        let packages = environment.path().join("lib/python3.11/site-packages");
        for file in ["eccodeslib/lib64/libeccodes.so", "eckitlib/lib64/libeckit.so"] {
            fs::create_dir_all(packages.join(file).parent().unwrap()).unwrap();
            fs::write(packages.join(file), b"").unwrap();
        }
        let library = packages.join("eccodeslib/lib64/libeccodes.so");
        assert_eq!(wheels(environment.path()), std::slice::from_ref(&library));
        assert_eq!(beside(&library), [packages.join("eckitlib/lib64/libeckit.so")]);
        assert!(beside(Path::new("libeccodes.so.0")).is_empty());
    }
}
