//! Curves: the bandwidth of writing and of reading by servers, by client nodes for each server, or by processes.

use std::num::NonZeroU32;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::{
    demand::{Use, demands},
    model::{Limit, predict},
    need::with,
    site::Site,
};
use crate::{Error, Result};

/// A point with this part of the best is as good, as in `bench method`.
const AS_GOOD: f64 = 0.95;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Curve {
    /// Server nodes, with as many client nodes for each as the site has
    Servers,
    /// Client nodes for each server node
    Ratio,
    /// Processes on the client nodes of the site
    Processes,
}

impl Curve {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Servers => "servers",
            Self::Ratio => "ratio",
            Self::Processes => "processes",
        }
    }

    /// The points that are shown if none are given.
    pub(super) fn usual(self) -> &'static [f64] {
        match self {
            Self::Servers => &[1.0, 2.0, 4.0, 8.0, 12.0, 16.0],
            Self::Ratio => &[0.5, 1.0, 2.0, 3.0, 4.0],
            Self::Processes => &[1.0, 2.0, 4.0, 8.0, 16.0],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) at: f64,
    pub(super) client_nodes: u32,
    pub(super) processes: f64,
    /// Bytes in a second, and what sets the bound.
    pub(super) write: (f64, Limit),
    pub(super) read: (f64, Limit),
}

impl Point {
    /// One figure for both: their geometric mean.
    fn rate(&self) -> f64 {
        (self.write.0 * self.read.0).sqrt()
    }

    pub(super) fn json(&self, curve: Curve, bytes: f64, site: &Site, is_knee: bool) -> Value {
        json!({
            "site": site.name,
            "field_bytes": bytes,
            curve.name(): self.at,
            "client_nodes": self.client_nodes,
            "processes": self.processes,
            "write_bytes_per_s": self.write.0,
            "write_limit": self.write.1.name(site.engine),
            "read_bytes_per_s": self.read.0,
            "read_limit": self.read.1.name(site.engine),
            "is_knee": is_knee,
        })
    }
}

/// The points of a curve, with fields of so many bytes.
///
/// # Errors
/// Servers or a ratio for a site without servers, or a part of a process.
pub(super) fn points(site: &Site, curve: Curve, at: &[f64], bytes: f64) -> Result<Vec<Point>> {
    at.iter().map(|at| point(site, curve, *at, bytes)).collect()
}

fn point(site: &Site, curve: Curve, at: f64, bytes: f64) -> Result<Point> {
    let servers = site.servers.as_ref().map(|servers| servers.nodes);
    let own = f64::from(site.clients.nodes.get());
    let sized = match (curve, servers) {
        (Curve::Processes, _) => site.clone(),
        (_, None) => {
            let what = format!("--curve {} for {}, which has no servers", curve.name(), site.name);
            return Err(Error::invalid(what, "--curve processes, or a site with servers"));
        }
        (Curve::Servers, Some(servers)) => {
            let ratio = own / f64::from(servers.get());
            with(site, whole((at * ratio).round().max(1.0)), Some(whole_number(at)?))
        }
        (Curve::Ratio, Some(servers)) => {
            with(site, whole((at * f64::from(servers.get())).round().max(1.0)), None)
        }
    };
    let processes =
        if curve == Curve::Processes { whole_number(at)?.get().into() } else { sized.processes() };
    let of = |field: Use| {
        let mut demands = demands(&sized, field);
        demands.on_node *= processes / demands.processes;
        demands.processes = processes;
        let found = predict(&demands);
        (found.throughput * bytes, found.limit)
    };
    let (write, read) = (of(Use::written(bytes)), of(Use::read(bytes)));
    Ok(Point { at, client_nodes: sized.clients.nodes.get(), processes, write, read })
}

fn whole(number: f64) -> Option<NonZeroU32> {
    NonZeroU32::new(number as u32)
}

fn whole_number(number: f64) -> Result<NonZeroU32> {
    let found = whole(number).filter(|_| number.fract() == 0.0);
    found.ok_or_else(|| Error::invalid(format!("--at {number}"), "a whole number above zero"))
}

/// The first point that is as good as the best, by the geometric mean of writing and reading. Servers have none: their
/// bandwidth grows without end.
pub(super) fn knee(curve: Curve, points: &[Point]) -> Option<&Point> {
    if curve == Curve::Servers {
        return None;
    }
    let best = points.iter().map(Point::rate).fold(0.0, f64::max);
    points.iter().find(|point| point.rate() >= AS_GOOD * best)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::planner::examples;

    #[test]
    fn a_curve_by_ratio_keeps_the_servers_and_one_by_servers_the_ratio() {
        let site = examples::site("ceph").unwrap();
        let ratio = points(&site, Curve::Ratio, &[0.5, 2.0], 1e6).unwrap();
        assert_eq!([ratio[0].client_nodes, ratio[1].client_nodes], [8, 32]);
        let servers = points(&site, Curve::Servers, &[1.0, 4.0], 1e6).unwrap();
        assert_eq!([servers[0].client_nodes, servers[1].client_nodes], [4, 16]);
    }

    #[test]
    fn parts_of_processes_and_a_curve_by_servers_without_servers_are_refused() {
        let site = examples::site("two-cpus").unwrap();
        let half = points(&site, Curve::Processes, &[1.5], 1e6).unwrap_err().to_string();
        assert!(half.contains("--at 1.5; expected a whole number"), "{half}");
        let servers = points(&site, Curve::Servers, &[1.0], 1e6).unwrap_err().to_string();
        assert!(servers.contains("--curve processes"), "{servers}");
    }

    proptest! {
        #[test]
        fn more_servers_clients_or_processes_never_make_it_slower(
            name in proptest::sample::select(&["nextgenio-daos", "lustre", "ceph"][..]),
            curve in proptest::sample::select(&[Curve::Servers, Curve::Ratio, Curve::Processes][..]),
            from in 1_u32..40, more in 1_u32..40, bytes in 1e3_f64..1e8
        ) {
            let site = examples::site(name).unwrap();
            let at = [f64::from(from), f64::from(from + more)];
            let found = points(&site, curve, &at, bytes).unwrap();
            prop_assert!(found[1].write.0 >= found[0].write.0 * (1.0 - 1e-9));
            prop_assert!(found[1].read.0 >= found[0].read.0 * (1.0 - 1e-9));
        }
    }
}
