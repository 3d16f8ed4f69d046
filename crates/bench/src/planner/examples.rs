//! The sites that are built in.

use super::site::Site;
use crate::{Error, Result};

/// Their names, as `--example` takes them.
pub(crate) const NAMES: [&str; 4] = ["nextgenio-daos", "lustre", "ceph", "two-cpus"];

/// The YAML of an example.
///
/// # Errors
/// No example has this name.
pub(super) fn text(name: &str) -> Result<&'static str> {
    match name {
        "nextgenio-daos" => Ok(include_str!("examples/nextgenio-daos.yaml")),
        "lustre" => Ok(include_str!("examples/lustre.yaml")),
        "ceph" => Ok(include_str!("examples/ceph.yaml")),
        "two-cpus" => Ok(include_str!("examples/two-cpus.yaml")),
        other => {
            Err(Error::invalid(format!("the example {other:?}"), format!("one of {}", NAMES.join(", "))))
        }
    }
}

/// An example as a site.
pub(super) fn site(name: &str) -> Result<Site> {
    Site::parse(text(name)?, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_site_that_names_its_sources() {
        for name in NAMES {
            let site = site(name).unwrap();
            assert!(site.clients.source.len() > 20 && site.costs.source.len() > 20, "{name}");
        }
        assert!(site("other").unwrap_err().to_string().contains("one of nextgenio-daos, lustre"));
    }
}
