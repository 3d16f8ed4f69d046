//! The rate of a phase, bytes or fields by time, and its unit.

use serde_json::{Map, Value};

use crate::harness::{
    spread::MIB,
    study::{LIMIT, ResultRecord},
};

/// From so many MiB/s on, rates are shown in GiB/s.
const GIB_FROM: f64 = 4096.0;
/// Where fields are counted, fields of at least this size are still measured by their bytes.
const COUNTED_BELOW: u64 = 1 << 16;

/// The kind of the rate of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rate {
    /// Global timing bandwidth.
    Global,
    /// Synchronous bandwidth, of iterations with other work between them.
    Synchronous,
    /// Fields by time, for small fields and for listings.
    Fields,
}

impl Rate {
    pub(crate) fn of(labels: &Map<String, Value>, result: &ResultRecord) -> Self {
        let is_small = || labels.get("size").and_then(Value::as_u64).is_some_and(|size| size < COUNTED_BELOW);
        match result {
            listing if listing.extras.listed_per_s.is_some() => Self::Fields,
            counted if counted.more.contains_key("fields_per_s") && is_small() => Self::Fields,
            in_turns if in_turns.iterations.len() > 1 => Self::Synchronous,
            _ => Self::Global,
        }
    }

    /// The rate of a result, in bytes or fields per second.
    pub(crate) fn value(self, result: &ResultRecord) -> f64 {
        match self {
            Self::Global => result.figures.global_timing_bandwidth,
            Self::Synchronous => result.figures.synchronous_bandwidth,
            Self::Fields => result
                .extras
                .listed_per_s
                .unwrap_or(result.figures.operations as f64 / result.figures.total_s),
        }
    }

    /// The rate of the limit of a result, in the same unit.
    pub(crate) fn limit(self, result: &ResultRecord) -> Option<f64> {
        let bytes = result.more.get(LIMIT)?.as_f64()? * MIB;
        let field = result.figures.bytes as f64 / result.figures.operations as f64;
        match self {
            Self::Fields => (field > 0.0).then(|| bytes / field),
            Self::Global | Self::Synchronous => Some(bytes),
        }
    }
}

/// The unit of bandwidths, the same for the whole page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    bytes: f64,
}

impl Unit {
    /// The unit for the highest bandwidth.
    pub(crate) fn of(highest: f64) -> Self {
        match highest / MIB < GIB_FROM {
            true => Self { name: "MiB/s", bytes: MIB },
            false => Self { name: "GiB/s", bytes: MIB * 1024.0 },
        }
    }

    pub(crate) fn shown(self, bandwidth: f64) -> f64 {
        bandwidth / self.bytes
    }

    pub(crate) fn of_rate(self, rate: Rate, value: f64) -> f64 {
        if rate == Rate::Fields { value } else { self.shown(value) }
    }

    pub(crate) fn text(self, rate: Rate) -> String {
        match rate {
            Rate::Global => self.name.to_owned(),
            Rate::Synchronous => format!("{}, synchronous", self.name),
            Rate::Fields => "fields/s".to_owned(),
        }
    }
}
