//! Reads a site from YAML, and refuses one that makes no sense.
//!
//! What must stay true: an error names the file, the line where there is one, and what was expected.

use std::{fmt, num::NonZeroU32, path::Path};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::{Cost, Costs, Redundancy, Site};
use crate::{Error, Result};

impl Site {
    /// Reads a site from YAML; `place` names it in errors.
    pub(crate) fn parse(text: &str, place: &str) -> Result<Self> {
        let site: Self = parse(text, place)?;
        site.check(place)?;
        Ok(site)
    }

    /// Refuses sections without those that they stand on, and figures out of their range.
    fn check(&self, place: &str) -> Result<()> {
        let refuse = |what: &str, expected: &str| Err(Error::invalid(format!("{place}: {what}"), expected));
        let needs_servers = [
            ("services", self.services.is_some()),
            ("metadata", self.metadata.is_some()),
            ("access", self.access.is_some()),
        ];
        if let Some((section, _)) =
            needs_servers.iter().find(|(_, is_there)| *is_there && self.servers.is_none())
        {
            return refuse(&format!("`{section}` without `servers`"), "the section `servers` as well");
        }
        if self.servers.is_some() && self.services.is_none() && self.devices.is_none() {
            return refuse(
                "`servers` without `services` and `devices`",
                "one of them: what do the servers serve?",
            );
        }
        let cores = self.clients.cores_per_node;
        if !(cores.is_finite() && cores > 0.0) {
            return refuse(&format!("clients.cores_per_node is {cores}"), "processors, more than 0");
        }
        if let Some(services) = &self.services
            && !(services.mixed > 0.0 && services.mixed <= 1.0)
        {
            return refuse(&format!("services.mixed is {}", services.mixed), "a part above 0 and at most 1");
        }
        self.costs.check(place)?;
        let asked = self.access.iter().flat_map(|access| [access.write, access.read]);
        let mut counts = asked.flat_map(|asked| [asked.operations, asked.metadata, asked.round_trips]);
        match counts.find(|count| !(count.is_finite() && *count >= 0.0)) {
            Some(count) => refuse(&format!("access has {count} operations"), "a number of 0 or more"),
            None => Ok(()),
        }
    }
}

impl Costs {
    /// Reads the section `costs` of a file that may have others, too.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct File {
            costs: Costs,
        }
        let place = path.display().to_string();
        let costs = parse::<File>(text, &place)?.costs;
        costs.check(&place)?;
        Ok(costs)
    }

    /// Refuses fields that cost nothing.
    fn check(&self, place: &str) -> Result<()> {
        for (what, cost) in [("write", self.write), ("read", self.read)] {
            if cost == Cost::default() {
                return Err(Error::invalid(
                    format!("{place}: costs.{what} is zero"),
                    "the times of a field, as `isotach plan --measure` finds them",
                ));
            }
        }
        Ok(())
    }
}

/// The error of an untagged enum would name neither the key nor the remedy.
impl<'de> Deserialize<'de> for Redundancy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(RedundancyVisitor)
    }
}

const REDUNDANCY: &str =
    "`copies: 2`, or `data: 8` and `parity: 2`, above zero, as `isotach plan --example lustre` prints";

struct RedundancyVisitor;

impl<'de> Visitor<'de> for RedundancyVisitor {
    type Value = Redundancy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDUNDANCY)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Redundancy, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Keys {
            copies: Option<u32>,
            data: Option<u32>,
            parity: Option<u32>,
        }
        let Keys { copies, data, parity } = Keys::deserialize(MapAccessDeserializer::new(map))?;
        let above_zero = |number: Option<u32>| number.and_then(NonZeroU32::new);
        match (copies, data, parity) {
            (Some(_), None, None) => above_zero(copies).map(|copies| Redundancy::Copies { copies }),
            (None, Some(_), Some(_)) => above_zero(data)
                .zip(above_zero(parity))
                .map(|(data, parity)| Redundancy::Parity { data, parity }),
            _ => None,
        }
        .ok_or_else(|| {
            let named = [("copies", copies), ("data", data), ("parity", parity)];
            let given =
                named.iter().filter_map(|(key, number)| number.map(|number| format!("{key}: {number}")));
            A::Error::custom(format!("{{{}}}, expected {REDUNDANCY}", given.collect::<Vec<_>>().join(", ")))
        })
    }
}

/// Errors name the file, the line, the column and what was expected.
fn parse<T: for<'a> Deserialize<'a>>(text: &str, place: &str) -> Result<T> {
    serde_yaml_ng::from_str(text).map_err(|error| {
        let mut message = error.to_string();
        let mut place = place.to_owned();
        if let Some(at) = error.location() {
            message = message.replace(&format!(" at line {} column {}", at.line(), at.column()), "");
            place = format!("{place}:{}:{}", at.line(), at.column());
        }
        match message.split_once(", expected ") {
            Some((what, expected)) => Error::invalid(format!("{place}: {what}"), expected),
            None => Error::invalid(
                format!("{place}: {message}"),
                "a site, as `isotach plan --example lustre` prints one",
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "name: a\nengine: posix\nclients: {nodes: 1, processes_per_node: 2, cores_per_node: 2, source: b}\n\
        costs: {write: {cpu_per_field: 1 us, cpu_per_mib: 2 us}, read: {cpu_per_field: 1 us, cpu_per_mib: 2 us}, source: c}\n";

    fn refused(text: &str) -> String {
        Site::parse(text, "site.yaml").unwrap_err().to_string()
    }

    #[test]
    fn a_site_needs_only_clients_and_costs_and_is_printed_as_it_is_read() {
        let site = Site::parse(LEAST, "site.yaml").unwrap();
        let printed = serde_yaml_ng::to_string(&site).unwrap();
        assert_eq!(Site::parse(&printed, "printed").unwrap(), site);
        assert_eq!(Costs::parse(LEAST, Path::new("site.yaml")).unwrap(), site.costs);
    }

    #[test]
    fn mistakes_in_a_site_are_named_with_place_and_remedy() {
        let unit = LEAST.replace("cpu_per_mib: 2 us", "cpu_per_mib: 2");
        let error = refused(&unit);
        assert!(error.starts_with("site.yaml:4:") && error.contains("expected"), "{error}");
        let word = refused(&format!("{LEAST}disks: 3\n"));
        assert!(word.contains("unknown field `disks`") && word.contains("one of"), "{word}");
        let none = refused(&LEAST.replace("nodes: 1,", ""));
        assert!(none.contains("missing field `nodes`"), "{none}");
        let alone = refused(&format!("{LEAST}metadata: {{servers: 1, operation: 1 ms, source: d}}\n"));
        assert!(alone.contains("`metadata` without `servers`"), "{alone}");
        let cores = refused(&LEAST.replace("cores_per_node: 2", "cores_per_node: 0"));
        assert!(cores.contains("cores_per_node is 0") && cores.contains("more than 0"), "{cores}");
        let zero = refused(&LEAST.replace("nodes: 1,", "nodes: 0,"));
        assert!(zero.contains("clients.nodes") && zero.contains("nonzero"), "{zero}");
    }

    #[test]
    fn a_wrong_redundancy_is_named_with_its_line_and_an_example() {
        let of = |text: &str| refused(&format!("{LEAST}redundancy: {text}\n"));
        for (text, what) in [
            ("{copies: 0}", "redundancy: {copies: 0};"),
            ("{data: 8}", "redundancy: {data: 8};"),
            ("{copies: 2, data: 8, parity: 2}", "redundancy: {copies: 2, data: 8, parity: 2};"),
            ("{}", "redundancy: {};"),
            ("3", "redundancy: invalid type: integer `3`;"),
        ] {
            let error = of(text);
            assert!(
                error.starts_with(&format!("site.yaml:5:13: {what} expected `copies: 2`, or")),
                "{error}"
            );
            assert!(error.contains("--example lustre"), "{error}");
        }
        let word = of("{copie: 2}");
        assert!(word.contains("unknown field `copie`") && word.contains("one of `copies`"), "{word}");
        let number = of("{copies: many}");
        assert!(number.contains("redundancy.copies") && number.contains("many"), "{number}");
        assert!(Site::parse(&format!("{LEAST}redundancy: {{data: 8, parity: 2}}\n"), "a").is_ok());
    }

    #[test]
    fn costs_of_zero_are_refused_in_a_file_of_costs_as_in_a_site() {
        let text = LEAST.replace(
            "read: {cpu_per_field: 1 us, cpu_per_mib: 2 us}",
            "read: {cpu_per_field: 0 s, cpu_per_mib: 0 s}",
        );
        let error = Costs::parse(&text, Path::new("site.yaml")).unwrap_err().to_string();
        assert!(error.starts_with("site.yaml: costs.read is zero") && error == refused(&text), "{error}");
    }
}
