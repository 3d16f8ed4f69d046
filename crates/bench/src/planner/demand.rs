//! The demands of a field: how long it keeps each resource of a site busy.
//!
//! What must stay true: a demand depends on a field and on redundancy, never on how many units of a resource there are. So more
//! units never make a site slower.

use super::{
    site::{Asked, Cost, EngineKind, Redundancy, Site},
    units::Rate,
};
use crate::harness::spread::MIB;

/// What happens to a field: how often it is written and read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Use {
    pub(super) bytes: f64,
    pub(super) writes: f64,
    pub(super) reads: f64,
}

impl Use {
    pub(super) fn written(bytes: f64) -> Self {
        Self { bytes, writes: 1.0, reads: 0.0 }
    }

    pub(super) fn read(bytes: f64) -> Self {
        Self { bytes, writes: 0.0, reads: 1.0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    ClientProcessors,
    ClientSend,
    ClientReceive,
    ServerReceive,
    ServerSend,
    Services,
    Devices,
    Metadata,
}

impl Kind {
    /// The name in tables.
    pub(super) fn name(self, engine: EngineKind) -> &'static str {
        match self {
            Self::ClientProcessors => "client processors",
            Self::ClientSend => "client network, sending",
            Self::ClientReceive => "client network, receiving",
            Self::ServerReceive => "server network, receiving",
            Self::ServerSend => "server network, sending",
            Self::Services => engine.service(),
            Self::Devices => "devices",
            Self::Metadata => "metadata servers",
        }
    }

    /// Whether processes of other nodes do not use the same unit.
    pub(super) fn is_of_clients(self) -> bool {
        matches!(self, Self::ClientSend | Self::ClientReceive)
    }

    /// Whether an operation waits in line there. Processors and devices only set a bound: devices work behind caches and
    /// services, and a process that has a processor of its own waits for none.
    pub(super) fn has_queue(self) -> bool {
        !matches!(self, Self::ClientProcessors | Self::Devices)
    }
}

/// Units of one kind, each of which serves an equal part of the fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Resource {
    pub(super) kind: Kind,
    pub(super) units: f64,
    /// Seconds of one unit for a field.
    pub(super) busy: f64,
}

impl Resource {
    /// The most fields in a second.
    pub(super) fn most(&self) -> f64 {
        self.units / self.busy
    }
}

/// The demands of a field on a site.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Demands {
    pub(super) resources: Vec<Resource>,
    /// Seconds of a field in which its process shares nothing: its own processor time, and waiting for answers.
    pub(super) alone: f64,
    /// Processes, and those on one node.
    pub(super) processes: f64,
    pub(super) on_node: f64,
}

/// Bytes that cross each part for one byte of a field.
struct Amplified {
    client_send: f64,
    server_receive: f64,
    server_send: f64,
    /// What services write, and what they write to devices.
    served: f64,
    stored: f64,
    /// What a server collects from others to answer a read.
    gathered: f64,
}

/// Copies are forwarded by the first server that gets the bytes. Parity is computed by the first server on RADOS, by the client
/// on DAOS, and below the file system with the posix engine, where copies are made, too. On RADOS the first server also answers
/// reads: it has one piece and collects the others.
fn amplified(engine: EngineKind, redundancy: &Redundancy) -> Amplified {
    let stored = redundancy.stored();
    let plain = Amplified {
        client_send: 1.0,
        server_receive: 1.0,
        server_send: 0.0,
        served: stored,
        stored,
        gathered: 0.0,
    };
    match (engine, redundancy) {
        (EngineKind::Posix, _) => Amplified { served: 1.0, ..plain },
        (EngineKind::Daos, Redundancy::Parity { .. }) => {
            Amplified { client_send: stored, server_receive: stored, ..plain }
        }
        (_, Redundancy::Copies { .. }) => {
            Amplified { server_receive: stored, server_send: stored - 1.0, ..plain }
        }
        (EngineKind::Rados, Redundancy::Parity { data, .. }) => {
            let piece = 1.0 / f64::from(data.get());
            let forwarded = stored - piece;
            Amplified {
                server_receive: 1.0 + forwarded,
                server_send: forwarded,
                gathered: 1.0 - piece,
                ..plain
            }
        }
    }
}

/// The demands of a field that is used so.
pub(super) fn demands(site: &Site, field: Use) -> Demands {
    let (written, read) = (field.bytes * field.writes, field.bytes * field.reads);
    let more = amplified(site.engine, &site.redundancy);
    let clients = &site.clients;
    let nodes = f64::from(clients.nodes.get());
    let cpu = of_both(field, |cost| (cost.cpu_per_field.seconds(), cost.cpu_per_mib.seconds()), site);
    let wait = of_both(field, |cost| (cost.wait_per_field.seconds(), cost.wait_per_mib.seconds()), site);
    let asked = |count: fn(Asked) -> f64| {
        site.access
            .as_ref()
            .map_or(0.0, |access| count(access.write) * field.writes + count(access.read) * field.reads)
    };
    let mut resources = Vec::new();
    let mut add = |kind, units, busy| {
        if busy > 0.0 {
            resources.push(Resource { kind, units, busy });
        }
    };
    let at = |rate: Option<Rate>, bytes: f64| rate.map_or(0.0, |rate| bytes / rate.0);
    add(Kind::ClientProcessors, nodes * clients.cores_per_node, cpu);
    let mut alone = cpu + wait;
    let storing_nodes = site.servers.as_ref().map_or(nodes, |servers| f64::from(servers.nodes.get()));
    if let Some(servers) = &site.servers {
        add(Kind::ClientSend, nodes, at(clients.send, written * more.client_send));
        add(Kind::ClientReceive, nodes, at(clients.receive, read));
        let received = written * more.server_receive + read * more.gathered;
        let sent = written * more.server_send + read * (1.0 + more.gathered);
        add(Kind::ServerReceive, storing_nodes, received / servers.receive.0);
        add(Kind::ServerSend, storing_nodes, sent / servers.send.0);
        alone += asked(|asked| asked.round_trips) * servers.round_trip.seconds();
    }
    if let Some(services) = &site.services {
        let left = if written > 0.0 && read > 0.0 { services.mixed } else { 1.0 };
        let of_metadata = if site.metadata.is_none() { asked(|asked| asked.metadata) } else { 0.0 };
        let operations = (asked(|asked| asked.operations) + of_metadata) * services.operation.seconds();
        let bytes = written * more.served / services.write.0 + read / services.read.0;
        add(Kind::Services, storing_nodes * f64::from(services.per_node.get()), bytes / left + operations);
    }
    if let Some(devices) = &site.devices {
        let busy = written * more.stored / devices.write.0 + read / devices.read.0;
        add(Kind::Devices, storing_nodes * f64::from(devices.per_node.get()), busy);
    }
    if let Some(metadata) = &site.metadata {
        let busy = asked(|asked| asked.metadata) * metadata.operation.seconds();
        add(Kind::Metadata, f64::from(metadata.servers.get()), busy);
    }
    Demands { resources, alone, processes: site.processes(), on_node: site.processes() / nodes }
}

/// Seconds of writing and reading a field, each with a part for the field and one for its bytes.
fn of_both(field: Use, parts: impl Fn(Cost) -> (f64, f64), site: &Site) -> f64 {
    let of = |cost: Cost| {
        let (per_field, per_mib) = parts(cost);
        per_field + per_mib * field.bytes / MIB
    };
    of(site.costs.write) * field.writes + of(site.costs.read) * field.reads
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::planner::examples;

    fn busy(site: &Site, field: Use, kind: Kind) -> f64 {
        let found = demands(site, field).resources.into_iter().find(|resource| resource.kind == kind);
        found.map_or(0.0, |resource| resource.busy)
    }

    #[test]
    fn parity_below_the_file_system_keeps_devices_busy_but_not_storage_targets() {
        let site = examples::site("lustre").unwrap();
        let mut plain = site.clone();
        plain.redundancy = Redundancy::default();
        let of = |site, kind| busy(site, Use::written(1e6), kind);
        assert_eq!(of(&site, Kind::Services), of(&plain, Kind::Services));
        assert!((of(&site, Kind::Devices) / of(&plain, Kind::Devices) - 1.25).abs() < 1e-9, "8 and 2 pieces");
    }

    #[test]
    fn a_read_from_rados_collects_the_pieces_of_other_servers() {
        let plain = examples::site("ceph").unwrap();
        let mut site = plain.clone();
        site.redundancy =
            Redundancy::Parity { data: NonZeroU32::new(4).unwrap(), parity: NonZeroU32::new(2).unwrap() };
        let of = |site, kind| busy(site, Use::read(1e6), kind);
        assert!((of(&site, Kind::ServerSend) / of(&plain, Kind::ServerSend) - 1.75).abs() < 1e-9);
        assert_eq!(of(&plain, Kind::ServerReceive), 0.0);
        let received = of(&site, Kind::ServerReceive) * site.servers.unwrap().receive.0;
        assert!((received / 0.75e6 - 1.0).abs() < 1e-9, "{received}");
    }

    fn parts(engine: EngineKind, redundancy: &Redundancy) -> [f64; 6] {
        let more = amplified(engine, redundancy);
        [more.client_send, more.server_receive, more.server_send, more.served, more.stored, more.gathered]
    }

    #[test]
    fn copies_and_parity_cross_the_network_where_the_engine_makes_them() {
        let three = Redundancy::Copies { copies: NonZeroU32::new(3).unwrap() };
        let parity =
            Redundancy::Parity { data: NonZeroU32::new(4).unwrap(), parity: NonZeroU32::new(2).unwrap() };
        assert_eq!(parts(EngineKind::Rados, &three), [1.0, 3.0, 2.0, 3.0, 3.0, 0.0]);
        assert_eq!(parts(EngineKind::Daos, &three), [1.0, 3.0, 2.0, 3.0, 3.0, 0.0]);
        assert_eq!(parts(EngineKind::Posix, &three), [1.0, 1.0, 0.0, 1.0, 3.0, 0.0], "below the file system");
        assert_eq!(parts(EngineKind::Daos, &parity), [1.5, 1.5, 0.0, 1.5, 1.5, 0.0]);
        assert_eq!(
            parts(EngineKind::Posix, &parity),
            [1.0, 1.0, 0.0, 1.0, 1.5, 0.0],
            "below the file system"
        );
        // The first server keeps one piece of four and sends five; for a read it collects three.
        assert_eq!(parts(EngineKind::Rados, &parity), [1.0, 2.25, 1.25, 1.5, 1.5, 0.75]);
        assert_eq!(parts(EngineKind::Daos, &Redundancy::default()), [1.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
    }
}
