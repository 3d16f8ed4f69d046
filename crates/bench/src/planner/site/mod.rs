//! A site: the hardware that clients and servers have, and what a field costs on it. `read` reads it from YAML.
//!
//! What must stay true: every section says where its figures come from, and the command shows it.

mod read;

use std::{fmt, num::NonZeroU32};

use serde::{Deserialize, Serialize};

use super::units::{Rate, Size, Span};

/// The engine under the field store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EngineKind {
    Posix,
    Rados,
    Daos,
}

impl EngineKind {
    /// What serves bytes on a server node.
    pub(crate) fn service(self) -> &'static str {
        match self {
            Self::Posix => "storage targets",
            Self::Rados => "OSDs",
            Self::Daos => "engines",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Posix => "posix",
            Self::Rados => "rados",
            Self::Daos => "daos",
        })
    }
}

/// A site. Sections that are left out limit nothing: without `servers` the devices are those of the client nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) engine: EngineKind,
    pub(crate) clients: Clients,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) servers: Option<Servers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) services: Option<Services>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) devices: Option<Devices>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<Metadata>,
    #[serde(default, skip_serializing_if = "Redundancy::is_none")]
    pub(crate) redundancy: Redundancy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) access: Option<Access>,
    pub(crate) costs: Costs,
}

/// The nodes that processes write and read on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clients {
    pub(crate) nodes: NonZeroU32,
    pub(crate) processes_per_node: NonZeroU32,
    /// Processors that are free for the processes of a node. A part of one counts.
    pub(crate) cores_per_node: f64,
    /// Of one node, both ways at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) send: Option<Rate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) receive: Option<Rate>,
    pub(crate) source: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Servers {
    pub(crate) nodes: NonZeroU32,
    /// Of one node, both ways at once.
    pub(crate) send: Rate,
    pub(crate) receive: Rate,
    /// Of a request and its answer.
    #[serde(default)]
    pub(crate) round_trip: Span,
    pub(crate) source: String,
}

/// The processes that serve bytes: engines of DAOS, OSDs of Ceph, storage targets of Lustre.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Services {
    pub(crate) per_node: NonZeroU32,
    pub(crate) write: Rate,
    pub(crate) read: Rate,
    /// The time of an operation besides its bytes.
    #[serde(default)]
    pub(crate) operation: Span,
    /// The part of the bandwidth that is left where some write while others read: above 0, at most 1.
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub(crate) mixed: f64,
    pub(crate) source: String,
}

fn whole() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_whole(part: &f64) -> bool {
    *part == whole()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Devices {
    /// On each server node, or on each client node without servers.
    pub(crate) per_node: NonZeroU32,
    pub(crate) write: Rate,
    pub(crate) read: Rate,
    /// Of one device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) capacity: Option<Size>,
    pub(crate) source: String,
}

/// Servers for metadata alone. Without them metadata is an operation of a service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metadata {
    pub(crate) servers: NonZeroU32,
    /// The time of an operation on one of them.
    pub(crate) operation: Span,
    pub(crate) source: String,
}

/// What is stored besides the data: whole copies, or parity for pieces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Redundancy {
    Copies { copies: NonZeroU32 },
    Parity { data: NonZeroU32, parity: NonZeroU32 },
}

impl Default for Redundancy {
    fn default() -> Self {
        Self::Copies { copies: NonZeroU32::MIN }
    }
}

impl Redundancy {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Bytes on devices for each byte of a field.
    pub(crate) fn stored(&self) -> f64 {
        match self {
            Self::Copies { copies } => f64::from(copies.get()),
            Self::Parity { data, parity } => 1.0 + f64::from(parity.get()) / f64::from(data.get()),
        }
    }
}

/// What the engine asks of servers for a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Access {
    pub(crate) write: Asked,
    pub(crate) read: Asked,
    pub(crate) source: String,
}

/// Operations for one field, on average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// Of services, besides those of metadata.
    #[serde(default)]
    pub(crate) operations: f64,
    /// Of metadata: index entries, names, sizes, locks.
    #[serde(default)]
    pub(crate) metadata: f64,
    /// Those that the process waits for, one after another.
    #[serde(default)]
    pub(crate) round_trips: f64,
}

/// What a field costs its process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Costs {
    pub(crate) write: Cost,
    pub(crate) read: Cost,
    pub(crate) source: String,
}

/// Processor time, and time that the process waits for its own machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cost {
    pub(crate) cpu_per_field: Span,
    pub(crate) cpu_per_mib: Span,
    #[serde(default)]
    pub(crate) wait_per_field: Span,
    #[serde(default)]
    pub(crate) wait_per_mib: Span,
}

impl Site {
    /// Bytes that fit on all devices; none where a site does not say.
    pub(crate) fn space(&self) -> Option<f64> {
        let devices = self.devices.as_ref()?;
        let nodes = self.servers.as_ref().map_or(self.clients.nodes, |servers| servers.nodes);
        Some(f64::from(nodes.get()) * f64::from(devices.per_node.get()) * devices.capacity?.0)
    }

    /// Processes on all client nodes.
    pub(crate) fn processes(&self) -> f64 {
        f64::from(self.clients.nodes.get()) * f64::from(self.clients.processes_per_node.get())
    }
}
