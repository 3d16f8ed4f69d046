//! What tells how fast a phase was: bytes or fields by time, and what these are shown in.

use serde_json::{Map, Value};

use super::measured::Row;
use crate::harness::{
    metrics::MIB,
    study::{LIMIT, ResultRecord},
};

/// From how many MiB/s on GiB/s are easier to read.
const GIB_FROM: f64 = 4096.0;
/// Where fields are counted, those from this size on are still measured by their bytes.
const COUNTED_BELOW: u64 = 1 << 16;

/// What tells how fast a phase was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rate {
    /// Global timing bandwidth.
    Global,
    /// Synchronous bandwidth, of iterations between which something else was done.
    Synchronous,
    /// Fields by time, where they are small or none of their bytes is moved.
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

    /// Of a result, in bytes or fields per second.
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

    /// Of the limit that was measured right before or after a result, in the same.
    pub(crate) fn limit(self, result: &ResultRecord) -> Option<f64> {
        let bytes = result.more.get(LIMIT)?.as_f64()? * MIB;
        let field = result.figures.bytes as f64 / result.figures.operations as f64;
        match self {
            Self::Fields => (field > 0.0).then(|| bytes / field),
            Self::Global | Self::Synchronous => Some(bytes),
        }
    }
}

/// A caption, behind what the rates of the rows are.
pub(crate) fn captioned(rows: &[&Row], caption: &str) -> String {
    let has = |rate: Rate| rows.iter().any(|row| row.rate == rate);
    let said = [
        (
            Rate::Global,
            "Global timing bandwidth: all bytes by the time from the first I/O start to the last I/O end of all processes.",
        ),
        (
            Rate::Synchronous,
            "Synchronous bandwidth: the mean over the iterations of the bytes of one by its own time from the first I/O start to the \
             last I/O end, since the writes and reads of an iteration wait for each other.",
        ),
        (Rate::Fields, "Fields by time, where they are small or are listed."),
    ];
    let said = said.into_iter().filter(|(rate, _)| has(*rate)).map(|(_, text)| text);
    said.chain([caption]).collect::<Vec<_>>().join(" ")
}

/// What bandwidths are shown in, the same in the whole page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    bytes: f64,
}

impl Unit {
    /// What suits the highest bandwidth.
    pub(crate) fn of(highest: f64) -> Self {
        match highest / MIB < GIB_FROM {
            true => Self { name: "MiB/s", bytes: MIB },
            false => Self { name: "GiB/s", bytes: MIB * 1024.0 },
        }
    }

    pub(crate) fn shown(self, bandwidth: f64) -> f64 {
        bandwidth / self.bytes
    }

    /// A rate in what it is shown in.
    pub(crate) fn of_rate(self, rate: Rate, value: f64) -> f64 {
        if rate == Rate::Fields { value } else { self.shown(value) }
    }

    /// What a rate is shown in.
    pub(crate) fn text(self, rate: Rate) -> String {
        match rate {
            Rate::Global => self.name.to_owned(),
            Rate::Synchronous => format!("{}, synchronous", self.name),
            Rate::Fields => "fields/s".to_owned(),
        }
    }
}
