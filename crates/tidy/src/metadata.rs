//! What cargo knows of the workspace: its crates, what they depend on, and the licences of all that is built.

use std::{io, path::Path, process::Command};

use serde_json::Value;

/// A package, ours or another's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence expression, or empty.
    pub licence: String,
    /// Whether it belongs to this workspace.
    pub ours: bool,
    /// What it depends on.
    pub dependencies: Vec<Dependency>,
}

/// A dependency as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The package's name.
    pub name: String,
    /// Whether only tests, examples and benchmarks use it.
    pub for_tests: bool,
}

/// Every package that is built on this machine's platform, from `cargo metadata`, without the network.
pub fn packages(root: &Path) -> io::Result<Vec<Package>> {
    let host = host_platform()?;
    let arguments =
        ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &host];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("cargo metadata: {message}run `cargo fetch --locked` first")));
    }
    parse(&serde_json::from_slice(&output.stdout)?)
        .ok_or_else(|| io::Error::other("cargo metadata: unknown form"))
}

/// Without it, cargo would ask for packages of other platforms, which are not fetched.
fn host_platform() -> io::Result<String> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| io::Error::other("rustc -vV names no host"))
}

fn parse(metadata: &Value) -> Option<Vec<Package>> {
    // The resolve graph leaves out what other platforms would need; the list of packages does not.
    let nodes = metadata["resolve"]["nodes"].as_array()?;
    let built: Vec<&str> = nodes.iter().filter_map(|node| node["id"].as_str()).collect();
    let packages = metadata["packages"].as_array()?;
    packages
        .iter()
        .filter(|package| package["id"].as_str().is_some_and(|id| built.contains(&id)))
        .map(package)
        .collect()
}

fn package(value: &Value) -> Option<Package> {
    let dependencies = value["dependencies"].as_array()?.iter().map(|dependency| {
        let for_tests = dependency["kind"].as_str() == Some("dev");
        Some(Dependency { name: dependency["name"].as_str()?.to_owned(), for_tests })
    });
    Some(Package {
        name: value["name"].as_str()?.to_owned(),
        version: value["version"].as_str()?.to_owned(),
        licence: value["license"].as_str().unwrap_or("").to_owned(),
        ours: value["source"].is_null(),
        dependencies: dependencies.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_is_not_built_here_is_left_out() {
        let metadata = serde_json::json!({
            "packages": [
                { "id": "a", "name": "a", "version": "1.0.0", "license": "MIT", "source": null,
                  "dependencies": [{ "name": "b", "kind": null }, { "name": "c", "kind": "dev" }] },
                { "id": "b", "name": "b", "version": "1.0.0", "license": "MIT", "source": "x", "dependencies": [] },
            ],
            "resolve": { "nodes": [{ "id": "a" }] },
        });
        let found = parse(&metadata).unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0].ours && !found[0].dependencies[0].for_tests && found[0].dependencies[1].for_tests);
    }
}
