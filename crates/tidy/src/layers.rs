//! The rule that no crate depends upwards.
//!
//! The layers are those of the picture in docs/concepts.md. A crate depends only on layers below its own, and `isotach-fields`
//! knows no engine but in its tests, because a registry, filled by the program, maps a URI's scheme to an engine.

use crate::{Finding, metadata::Package};

const RULE: &str = "no crate depends upwards";

/// The crates of each layer, from the bottom up. A crate that checks the others stands beside them.
const LAYERS: [&[&str]; 10] = [
    &["isotach-needs"],
    &["isotach-object", "isotach-daos-abi", "isotach-c-export", "isotach-mars", "isotach-tidy"],
    &["isotach-engine-kit"],
    &["isotach-object-conformance", "isotach-grib", "isotach-hdf5-types"],
    &["isotach-engine-posix", "isotach-engine-rados", "isotach-engine-daos"],
    &["isotach-fields", "isotach-tree"],
    &["isotach-bench", "isotach-open"],
    &["isotach-capi-kit", "isotach-hdf5", "isotach-values"],
    &["isotach-hdf5-tools"],
    &[
        "isotach-cli",
        "isotach-capi",
        "isotach-libfdb5",
        "isotach-python",
        "isotach-libdaos",
        "isotach-hdf5-vol",
    ],
];

/// The layer of the field store, above the engines.
const FIELDS: usize = 5;

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|crates| crates.contains(&name))
}

/// Every dependency between our crates that does not point down.
pub fn check(packages: &[Package]) -> Vec<Finding> {
    let ours: Vec<&Package> = packages.iter().filter(|package| package.ours).collect();
    let mut findings = Vec::new();
    for package in &ours {
        let Some(own) = layer(&package.name) else {
            findings.push(Finding::of(&package.name, RULE, "name its layer in crates/tidy/src/layers.rs"));
            continue;
        };
        for dependency in &package.dependencies {
            let Some(other) = layer(&dependency.name).filter(|_| dependency.name != package.name) else {
                continue;
            };
            let engine_in_fields = own == FIELDS && other == FIELDS - 1 && !dependency.for_tests;
            if other >= own {
                let instead = format!("`{}` is not below it; move what is shared down", dependency.name);
                findings.push(Finding::of(&package.name, RULE, instead));
            } else if engine_in_fields {
                let instead = format!("`{}` is an engine; take it from the registry", dependency.name);
                findings.push(Finding::of(&package.name, RULE, instead));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    fn found(name: &str, dependency: &str, for_tests: bool) -> usize {
        let dependencies = vec![Dependency { name: dependency.to_owned(), for_tests }];
        let (version, licence) = (String::new(), String::new());
        check(&[Package { name: name.to_owned(), version, licence, ours: true, dependencies }]).len()
    }

    #[test]
    fn a_dependency_that_points_up_or_aside_is_found_even_in_tests() {
        assert_eq!(found("isotach-object", "isotach-engine-posix", true), 1);
        assert_eq!(found("isotach-mars", "isotach-object", false), 1);
        assert_eq!(found("isotach-engine-posix", "isotach-object", false), 0);
        assert_eq!(found("isotach-object", "thiserror", false), 0);
        assert_eq!(
            found("isotach-object", "isotach-object", true),
            0,
            "a crate's tests may switch on its features"
        );
    }

    #[test]
    fn fields_may_know_an_engine_only_in_its_tests() {
        assert_eq!(found("isotach-fields", "isotach-engine-posix", false), 1);
        assert_eq!(found("isotach-fields", "isotach-engine-posix", true), 0);
    }

    #[test]
    fn a_crate_without_a_layer_is_found() {
        assert_eq!(found("isotach-other", "thiserror", false), 1);
    }
}
