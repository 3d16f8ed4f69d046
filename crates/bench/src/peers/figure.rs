//! The measurements of the peers, and their form in a record.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::Result;
use crate::harness::{
    measurement::Measurement,
    metrics::Figures,
    study::{Extras, Record, ResultRecord, labels, limit_fields},
    usage::Total,
};

/// The operation of listing.
pub(super) const LIST: &str = "list";
/// The operation of copying in memory.
pub(super) const MEMORY_COPY: &str = "memory copy";

/// A participant of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Peer {
    Limit,
    Isotach,
    FdbTuned,
    Fdb,
    FdbHammer,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Limit => "limit",
            Self::Isotach => "Isotach",
            Self::FdbTuned => "FDB tuned",
            Self::Fdb => "FDB",
            Self::FdbHammer => "fdb-hammer",
        })
    }
}

/// A measurement of a peer.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Figure {
    pub(super) peer: Peer,
    #[serde(flatten)]
    pub(super) measured: Measurement,
}

impl Figure {
    /// Whether it is one half of readers beside as many writers.
    pub(super) fn is_beside(&self) -> bool {
        self.measured.what.contains(" beside ")
    }

    pub(super) fn record(&self, total: &Total, record: &mut Record) -> Result<()> {
        let Self { peer, measured } = self;
        let labels = Labels {
            peer: *peer,
            place: &measured.place,
            size: measured.size,
            sync: measured.sync,
            active: measured.procs * if self.is_beside() { 2 } else { 1 },
            archived_by: measured.archived_by,
        };
        let case = record.add_case(labels.map());
        let (repetition, phase) = (measured.repetition - 1, measured.what.to_owned());
        let (mut figures, mut extras) = (Figures::of_total(total), Extras::default());
        if measured.what == LIST {
            // Fields are counted; none of their bytes is moved.
            (figures.bytes, figures.global_timing_bandwidth, figures.synchronous_bandwidth) = (0, 0.0, 0.0);
            extras.listed_per_s = Some(measured.fields_per_s);
        }
        let mut more = labels_of_rate(measured);
        if let Some((limit, is_poor)) = measured.limit_mib_per_s.zip(measured.is_limit_overlap_poor) {
            more.extend(limit_fields(measured.mib_per_s, limit, is_poor));
        }
        let iterations = Vec::new();
        record.add_result(ResultRecord { case, repetition, phase, figures, iterations, extras, more })
    }
}

fn labels_of_rate(measured: &Measurement) -> Map<String, Value> {
    let mut fields = labels([("fields_per_s", measured.fields_per_s.into())]);
    fields.extend(measured.lifetime_s.map(|seconds| ("lifetime_s".to_owned(), seconds.into())));
    fields
}

/// The labels of a case in a record.
pub(super) struct Labels<'l> {
    pub(super) peer: Peer,
    pub(super) place: &'l str,
    pub(super) size: usize,
    pub(super) sync: bool,
    /// Processes at work, including those of another phase.
    pub(super) active: usize,
    pub(super) archived_by: usize,
}

impl Labels<'_> {
    pub(super) fn map(&self) -> Map<String, Value> {
        let mut all = labels([
            ("size", self.size.into()),
            ("store", self.place.into()),
            ("sync", self.sync.into()),
            ("nodes", 1.into()),
            ("processes_per_node", self.active.into()),
        ]);
        if self.archived_by != self.active {
            all.extend(labels([("archived_by", self.archived_by.into())]));
        }
        match self.peer {
            Peer::Limit => all.extend(labels([("limit", "plain".into())])),
            Peer::Isotach => {}
            Peer::FdbTuned | Peer::Fdb | Peer::FdbHammer => {
                all.extend(labels([("peer", self.peer.to_string().into())]));
            }
        }
        all
    }
}
