//! The answer to "what do I need?": the least servers and client nodes, like those of a site, with which a window fits.

use std::num::NonZeroU32;

use serde_json::{Value, json};

use super::{
    demand::{Kind, Resource},
    site::Site,
    window::{Outlook, Window},
};
use crate::{Error, Result};

/// More nodes than that are no answer.
const NODES_MAX: u32 = 1 << 20;
/// Servers that are tried, by the least number that could do with endless clients.
const FACTORS: [f64; 5] = [1.0, 1.1, 1.25, 1.5, 2.0];
/// Answers with so many times the nodes of the smallest one are left out.
const NODES_FACTOR: u32 = 4;
/// The part of metadata servers that a window may take: beyond it they would need endless clients.
const METADATA_USED_MAX: f64 = 0.8;

/// A site of another size on which the window fits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) site: Site,
    pub(super) outlook: Outlook,
    /// Whether no other answer has fewer nodes in all.
    pub(super) is_smallest: bool,
}

impl Answer {
    pub(super) fn servers(&self) -> u32 {
        self.site.servers.as_ref().map_or(0, |servers| servers.nodes.get())
    }

    pub(super) fn nodes(&self) -> u32 {
        self.servers() + self.site.clients.nodes.get()
    }

    pub(super) fn units(&self, kind: Kind) -> f64 {
        self.outlook.resource(kind).map_or(0.0, |resource| resource.units)
    }

    /// The answer with what all answers of its window share.
    pub(super) fn json(&self, needed: &Needed) -> Value {
        json!({
            "servers_for_speed": needed.for_speed,
            "servers_for_space": needed.for_space,
            "servers": self.servers(),
            "client_nodes": self.site.clients.nodes,
            "services": self.units(Kind::Services),
            "devices": self.units(Kind::Devices),
            "metadata_servers": self.units(Kind::Metadata),
            "has_fewest_nodes": self.is_smallest,
            "outlook": self.outlook.json(&self.site),
        })
    }
}

/// The answers for a window, with more and more servers and fewer and fewer clients.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Needed {
    pub(super) window: Window,
    /// The least servers that are fast enough with endless clients.
    pub(super) for_speed: u32,
    /// The least servers that hold the volume; none where the site does not say.
    pub(super) for_space: Option<u32>,
    pub(super) answers: Vec<Answer>,
}

/// The sites, like this one, on which a window fits.
///
/// # Errors
/// A site without servers, which cannot be enlarged, or a window that no number of nodes below a million fits.
pub(super) fn need(site: &Site, window: Window) -> Result<Needed> {
    if site.servers.is_none() {
        let what = format!("--need for {}, which has no servers", site.name);
        return Err(Error::invalid(
            what,
            "a site with the section `servers`, as `isotach plan --example lustre` prints",
        ));
    }
    let site = with_metadata(site, window);
    let none = || {
        Error::invalid("no number of servers up to a million is enough", "a longer window or faster hardware")
    };
    let outlook = |servers| Outlook::of(&with(&site, None, Some(servers)), window);
    let for_speed = least(|servers| is_fast(&outlook(servers))).ok_or_else(none)?;
    let for_space = least(|servers| outlook(servers).has_space()).ok_or_else(none)?;
    let mut answers: Vec<Answer> = Vec::new();
    for factor in FACTORS {
        let servers = (f64::from(for_speed.max(for_space).get()) * factor).ceil() as u32;
        let Some(servers) = NonZeroU32::new(servers) else { continue };
        let fits = |nodes| Outlook::of(&with(&site, Some(nodes), Some(servers)), window).fits();
        let Some(nodes) = least(fits) else { continue };
        let site = with(&site, Some(nodes), Some(servers));
        let outlook = Outlook::of(&site, window);
        if answers.last().is_none_or(|last| last.site.clients.nodes > nodes) {
            answers.push(Answer { site, outlook, is_smallest: false });
        }
    }
    let smallest = answers.iter().map(Answer::nodes).min().ok_or_else(none)?;
    // With just enough servers a window needs clients almost without end.
    answers.retain(|answer| answer.nodes() / NODES_FACTOR <= smallest);
    if let Some(answer) = answers.iter_mut().find(|answer| answer.nodes() == smallest) {
        answer.is_smallest = true;
    }
    let for_space = site.space().is_some().then_some(for_space.get());
    Ok(Needed { window, for_speed: for_speed.get(), for_space, answers })
}

/// The site with other numbers of nodes.
pub(super) fn with(site: &Site, clients: Option<NonZeroU32>, servers: Option<NonZeroU32>) -> Site {
    let mut site = site.clone();
    site.clients.nodes = clients.unwrap_or(site.clients.nodes);
    if let (Some(own), Some(servers)) = (&mut site.servers, servers) {
        own.nodes = servers;
    }
    site
}

/// The site with enough metadata servers, and no fewer than it has.
fn with_metadata(site: &Site, window: Window) -> Site {
    let mut site = site.clone();
    let outlook = Outlook::of(&site, window);
    if let (Some(metadata), Some(found)) = (&mut site.metadata, outlook.resource(Kind::Metadata)) {
        let needed = (window.pace() * found.busy / METADATA_USED_MAX).ceil() as u32;
        metadata.servers = metadata.servers.max(NonZeroU32::new(needed).unwrap_or(NonZeroU32::MIN));
    }
    site
}

/// Whether the servers are fast enough, if there were clients without end.
fn is_fast(outlook: &Outlook) -> bool {
    let is_of_servers =
        |resource: &&Resource| !resource.kind.is_of_clients() && resource.kind != Kind::ClientProcessors;
    let mut servers = outlook.demands.resources.iter().filter(is_of_servers);
    servers.all(|resource| outlook.needed(resource) <= 1.0)
}

/// The least number for which something holds, if it holds for all larger ones.
fn least(holds: impl Fn(NonZeroU32) -> bool) -> Option<NonZeroU32> {
    let (mut low, mut high) = (0, NODES_MAX);
    if !holds(NonZeroU32::new(high)?) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(NonZeroU32::new(middle)?) { high = middle } else { low = middle }
    }
    NonZeroU32::new(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::examples;

    fn hour(tib: f64) -> Window {
        Window { fields: 25e6, bytes: tib * (1_u64 << 40) as f64, seconds: 3600.0, read_back: 0.7 }
    }

    #[test]
    fn what_is_needed_fits_and_one_node_less_does_not() {
        for name in ["nextgenio-daos", "lustre", "ceph"] {
            let site = examples::site(name).unwrap();
            let needed = need(&site, hour(180.0)).unwrap();
            let answers = &needed.answers;
            assert_eq!(answers.iter().filter(|answer| answer.is_smallest).count(), 1, "{name}");
            let least = needed.for_speed.max(needed.for_space.unwrap());
            assert!(answers.iter().all(|answer| answer.servers() >= least), "{name}");
            for answer in answers {
                assert!(answer.outlook.fits(), "{name}: {answer:?}");
                if let Some(fewer) = NonZeroU32::new(answer.site.clients.nodes.get() - 1) {
                    let smaller = with(&answer.site, Some(fewer), None);
                    assert!(!Outlook::of(&smaller, hour(180.0)).fits(), "{name} with {fewer} client nodes");
                }
            }
            assert!(answers.is_sorted_by_key(Answer::servers), "{name}");
            let clients = answers.iter().rev().map(|answer| answer.site.clients.nodes);
            assert!(clients.is_sorted(), "{name}: more servers need fewer clients");
        }
    }

    #[test]
    fn a_larger_volume_never_needs_fewer_nodes() {
        let site = examples::site("ceph").unwrap();
        let smallest = |tib| need(&site, hour(tib)).unwrap().answers.iter().map(Answer::nodes).min();
        let found: Vec<_> = [10.0, 70.0, 180.0, 700.0].map(smallest).to_vec();
        assert!(found.is_sorted(), "{found:?}");
    }

    #[test]
    fn a_site_without_servers_cannot_be_enlarged() {
        let error = need(&examples::site("two-cpus").unwrap(), hour(70.0)).unwrap_err();
        assert!(error.to_string().contains("the section `servers`"), "{error}");
    }
}
