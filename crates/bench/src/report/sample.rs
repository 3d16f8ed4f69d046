//! Sample runs for tests.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::runs::Run;
use crate::harness::spread::MIB;

/// A run of some cases.
pub(crate) fn run(name: &str, workload: &str, cases: &[Value], results: &[Value]) -> Run {
    let numbered = |(number, labels): (usize, &Value)| {
        let mut case = labels.clone();
        case["number"] = number.into();
        case
    };
    let record = json!({
        "workload": workload, "driver": "", "command": [], "began": 0, "complete": true, "hosts": [], "problems": [],
        "pools": [], "cases": cases.iter().enumerate().map(numbered).collect::<Vec<_>>(), "results": results,
    });
    let record = serde_json::from_value(record).unwrap();
    Run { name: name.to_owned(), folder: PathBuf::new(), record, unread: Vec::new() }
}

/// A result of 1 MiB/s with further fields.
pub(crate) fn result(case: usize, repetition: u32, phase: &str, fields: &Value) -> Value {
    let mut result = json!({
        "case": case, "repetition": repetition, "phase": phase, "processes": 1, "operations": 1, "bytes": 1, "wrong": 0,
        "total_s": 1, "global_timing_bandwidth": MIB, "synchronous_bandwidth": 1, "iteration_s": spread(1.0),
        "latency_s": spread(1.0), "open_s": spread(1.0), "transfer_s": spread(1.0), "close_s": spread(1.0), "overlap": 1,
        "is_overlap_poor": false,
    });
    for (name, value) in fields.as_object().into_iter().flatten() {
        result[name] = value.clone();
    }
    result
}

/// A result of so many MiB/s.
pub(crate) fn fast(case: usize, repetition: u32, phase: &str, mib_per_s: f64) -> Value {
    result(case, repetition, phase, &json!({ "global_timing_bandwidth": mib_per_s * MIB }))
}

/// The distribution of equal figures.
pub(crate) fn spread(one: f64) -> Value {
    json!({"mean": one, "deviation": 0, "min": one, "median": one, "p95": one, "p99": one, "max": one})
}
