//! The measurements of the peers, and their form in a record.

use serde_json::{Map, Value};

use crate::{
    Result,
    harness::{
        measurement::{Case, Measurement, Peer},
        metrics::Figures,
        study::{Extras, Record, ResultRecord, labels, limit_fields},
    },
};

pub(super) const LIST: &str = "list";
pub(super) const MEMORY_COPY: &str = "memory copy";

/// Adds a measurement to a record.
pub(super) fn add(measured: &Measurement, record: &mut Record) -> Result<()> {
    let Measurement { what, case, total, fields_per_s, .. } = measured;
    let active = total.procs * if measured.is_beside() { 2 } else { 1 };
    let mut figures = Figures::of_total(total);
    let is_list = *what == LIST;
    if is_list {
        // Fields are counted; none of their bytes is moved.
        (figures.bytes, figures.global_timing_bandwidth) = (0, 0.0);
    }
    let mut more = labels([("fields_per_s", (*fields_per_s).into())]);
    more.extend(total.lifetime_s.map(|seconds| ("lifetime_s".to_owned(), seconds.into())));
    if let Some((limit, is_poor)) = measured.limit_mib_per_s.zip(measured.is_limit_overlap_poor) {
        more.extend(limit_fields(measured.mib_per_s, limit, is_poor));
    }
    let number = record.add_case(labels_of(measured.peer, case, active));
    record.add_result(ResultRecord {
        case: number,
        repetition: case.repetition - 1,
        phase: (*what).to_owned(),
        figures,
        extras: Extras { listed_per_s: is_list.then_some(*fields_per_s), ..Extras::default() },
        more,
        ..ResultRecord::default()
    })
}

/// The labels of a case in a record, with so many processes at work, including those of another phase.
pub(super) fn labels_of(peer: Option<Peer>, case: &Case, active: usize) -> Map<String, Value> {
    let mut all = labels([
        ("size", case.size.into()),
        ("store", case.place.as_str().into()),
        ("sync", case.sync.into()),
        ("nodes", 1.into()),
        ("processes_per_node", active.into()),
    ]);
    if case.procs != active {
        all.extend(labels([("archived_by", case.procs.into())]));
    }
    match peer {
        Some(Peer::Limit) => all.extend(labels([("limit", "plain".into())])),
        None | Some(Peer::Isotach) => {}
        Some(other) => all.extend(labels([("peer", other.to_string().into())])),
    }
    all
}
