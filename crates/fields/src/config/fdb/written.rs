//! FDB's file as written: exactly the keys that FDB knows.

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_yaml_ng::Value;

use super::super::yaml;
use crate::Action;

pub(super) const LOCAL: &str = "local";
pub(super) const SELECT: &str = "select";

const FILES: &str = "it is about the layout of FDB's own files";
const SERVERS: &str = "it is about FDB's servers, and a store here needs none";

/// The file as a whole, or a lane of `type: select`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "a mapping with spaces, as FDB has it")]
pub(super) struct Level {
    #[serde(rename = "type")]
    kind: Option<String>,
    pub(super) engine: Option<String>,
    pub(super) store: Option<String>,
    pub(super) schema: Option<String>,
    pub(super) spaces: Option<Vec<SpaceAsWritten>>,
    pub(super) fdbs: Option<Vec<Level>>,
    pub(super) select: Option<String>,
    #[serde(default)]
    pub(super) excludes: Vec<String>,
    #[serde(default, deserialize_with = "switch")]
    writable: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    visitable: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    visit: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    list: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    retrieve: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    archive: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    wipe: Option<bool>,
    #[serde(default, deserialize_with = "mode")]
    pub(super) permissions: Option<String>,
    #[serde(rename = "fdb_home")]
    pub(super) fdb_home: Option<String>,
    // The layout of FDB's own files.
    use_sub_toc: Option<IgnoredAny>,
    #[serde(rename = "preloadTocBTree")]
    preload_toc_btree: Option<IgnoredAny>,
    toc_serialisation_version: Option<IgnoredAny>,
    statistics: Option<IgnoredAny>,
    limits: Option<IgnoredAny>,
    daos: Option<IgnoredAny>,
    rados: Option<IgnoredAny>,
    #[serde(rename = "fam_roots")]
    fam_roots: Option<IgnoredAny>,
    // Its servers.
    server_port: Option<IgnoredAny>,
    server_threaded: Option<IgnoredAny>,
    data_port_start: Option<IgnoredAny>,
    data_port_count: Option<IgnoredAny>,
    data_listen_hostname: Option<IgnoredAny>,
    supported_connections: Option<IgnoredAny>,
    prefer_single_connection: Option<IgnoredAny>,
    networks: Option<IgnoredAny>,
    // The addresses of servers.
    host: Option<IgnoredAny>,
    port: Option<IgnoredAny>,
    stores: Option<IgnoredAny>,
    field_location_endpoints: Option<IgnoredAny>,
    lanes: Option<IgnoredAny>,
}

impl Level {
    pub(super) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or(LOCAL)
    }

    pub(super) fn switches(&self) -> Switches {
        let visit = if self.visitable == Some(false) { self.visitable } else { self.visit };
        let visit_key = if self.visitable == Some(false) { "visitable" } else { "visit" };
        let Self { writable, list, retrieve, archive, wipe, .. } = *self;
        Switches { writable, visit, visit_key, list, retrieve, archive, wipe }
    }

    /// A key that cannot be honoured, and its replacement.
    pub(super) fn refused(&self) -> Option<(&'static str, &'static str)> {
        let expected = "no servers: name the pools themselves, as roots";
        let all = [
            ("host", &self.host),
            ("port", &self.port),
            ("stores", &self.stores),
            ("fieldLocationEndpoints", &self.field_location_endpoints),
            ("lanes", &self.lanes),
        ];
        all.into_iter().find_map(|(key, there)| there.is_some().then_some((key, expected)))
    }

    /// The keys without effect that are set, each with the reason.
    pub(super) fn without_effect(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let other = "it is about another engine of FDB's";
        let kind = (self.kind() == "catalogue").then_some(IgnoredAny);
        let permissions = self.permissions.as_ref().map(|_| IgnoredAny);
        [
            ("type", kind, "a catalogue is a local FDB here, without a server"),
            ("permissions", permissions, "new files have the rights that the umask leaves"),
            ("useSubToc", self.use_sub_toc, FILES),
            ("preloadTocBTree", self.preload_toc_btree, FILES),
            ("tocSerialisationVersion", self.toc_serialisation_version, FILES),
            ("statistics", self.statistics, "`isotach bench` and `--json` tell times and rates"),
            ("limits", self.limits, "reading ahead is bounded without it"),
            ("daos", self.daos, other),
            ("rados", self.rados, other),
            ("fam_roots", self.fam_roots, other),
            ("serverPort", self.server_port, SERVERS),
            ("serverThreaded", self.server_threaded, SERVERS),
            ("dataPortStart", self.data_port_start, SERVERS),
            ("dataPortCount", self.data_port_count, SERVERS),
            ("dataListenHostname", self.data_listen_hostname, SERVERS),
            ("supportedConnections", self.supported_connections, SERVERS),
            ("preferSingleConnection", self.prefer_single_connection, SERVERS),
            ("networks", self.networks, SERVERS),
        ]
        .into_iter()
        .filter_map(|(key, there, why)| there.map(|_| (key, why)))
    }
}

/// A space as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", expecting = "a mapping with roots")]
pub(super) struct SpaceAsWritten {
    pub(super) name: Option<String>,
    pub(super) handler: Option<String>,
    pub(super) regex: Option<String>,
    pub(super) roots: Option<Vec<Root>>,
    pub(super) catalogue_roots: Option<Vec<Root>>,
    pub(super) store_roots: Option<Vec<Root>>,
    mars_disks: Option<IgnoredAny>,
    path: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "switch")]
    writable: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    visit: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    list: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    retrieve: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    archive: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    wipe: Option<bool>,
}

impl SpaceAsWritten {
    /// An FDB key for roots that is not supported here.
    pub(super) fn unknown_here(&self) -> Option<&'static str> {
        let all = [("marsDisks", &self.mars_disks), ("path", &self.path)];
        all.into_iter().find_map(|(key, there)| there.is_some().then_some(key))
    }

    pub(super) fn switches(&self) -> Switches {
        let Self { writable, visit, list, retrieve, archive, wipe, .. } = *self;
        Switches { writable, visit, visit_key: "visit", list, retrieve, archive, wipe }
    }
}

/// A root as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with path")]
pub(super) struct Root {
    pub(super) path: String,
    #[serde(rename = "name")]
    _name: Option<String>,
    #[serde(default, deserialize_with = "switch")]
    writable: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    visit: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    list: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    retrieve: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    archive: Option<bool>,
    #[serde(default, deserialize_with = "switch")]
    wipe: Option<bool>,
}

impl Root {
    pub(super) fn switches(&self) -> Switches {
        let Self { writable, visit, list, retrieve, archive, wipe, .. } = *self;
        Switches { writable, visit, visit_key: "visit", list, retrieve, archive, wipe }
    }
}

/// The switches of one place.
pub(super) struct Switches {
    writable: Option<bool>,
    visit: Option<bool>,
    /// How `visit` is spelled there.
    visit_key: &'static str,
    list: Option<bool>,
    retrieve: Option<bool>,
    archive: Option<bool>,
    wipe: Option<bool>,
}

impl Switches {
    /// The forbidden actions with their keys. A switch of one action precedes the switch of two.
    pub(super) fn forbidden(&self) -> impl Iterator<Item = (Action, &'static str)> {
        let of = |own: Option<bool>, key, both: Option<bool>, both_key| match (own, both) {
            (Some(false), _) => Some(key),
            (None, Some(false)) => Some(both_key),
            _ => None,
        };
        let visit = self.visit_key;
        [
            (Action::List, of(self.list, "list", self.visit, visit)),
            (Action::Retrieve, of(self.retrieve, "retrieve", self.visit, visit)),
            (Action::Archive, of(self.archive, "archive", self.writable, "writable")),
            (Action::Wipe, of(self.wipe, "wipe", self.writable, "writable")),
        ]
        .into_iter()
        .filter_map(|(action, key)| key.map(|key| (action, key)))
    }
}

/// A switch, in all spellings that FDB accepts.
fn switch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    match value.as_str() {
        Some("yes" | "on" | "True" | "TRUE" | "true") => return Ok(Some(true)),
        Some("no" | "off" | "False" | "FALSE" | "false") => return Ok(Some(false)),
        _ => {}
    }
    match (value.as_bool(), value.as_u64()) {
        (Some(on), _) => Ok(Some(on)),
        (None, Some(number @ 0..=1)) => Ok(Some(number == 1)),
        _ => Err(yaml::custom("a switch that is neither on nor off: expected true or false")),
    }
}

/// File modes, which YAML reads as numbers where they are not quoted.
fn mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Some(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        other => other.as_u64().map(|number| number.to_string()).unwrap_or_default(),
    }))
}

/// Whether files of this mode may be read by all.
pub(super) fn is_open(mode: &str) -> bool {
    let digits = mode.trim_start_matches("0o").trim_start_matches('0');
    u32::from_str_radix(digits, 8).is_ok_and(|mode| mode & 0o444 == 0o444)
}
