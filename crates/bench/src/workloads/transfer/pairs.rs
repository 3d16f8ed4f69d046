//! The figures of each pair of a case.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::play::{Direction, Plan, node_of};
use crate::harness::{
    events::{Moment, Operation, ProcessLog},
    launcher::Phase,
    spread::{MIB, Spread},
    study::labels,
};

/// The field of a result with the figures of all pairs.
pub(crate) const PAIRS: &str = "pairs";
/// The field with the distribution of one-way times over all round trips, in microseconds.
pub(crate) const ONE_WAY_US: &str = "one_way_us";

/// One direction of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PairFigures {
    /// The sender, or who began a round trip, with its node.
    pub(super) from: u32,
    pub(super) from_node: String,
    pub(super) to: u32,
    pub(super) to_node: String,
    /// The bandwidth of what has arrived; none for round trips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mib_per_s: Option<f64>,
    /// The median of half a round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) one_way_us: Option<f64>,
}

/// The further fields of the result of a phase.
pub(super) fn fields(phase: &Phase, plan: &Plan, hosts: &[String]) -> Map<String, Value> {
    let processes = phase.logs.len() as u32;
    let node =
        |process: u32| hosts.get(node_of(process, processes, hosts.len())).cloned().unwrap_or_default();
    let half = processes / 2;
    let is_ping = plan.direction == Direction::PingPong;
    let pair = |(_, process, log): &(u32, u32, ProcessLog)| {
        let partner = if *process < half { process + half } else { process - half };
        // Receivers record what arrives; who begins a round trip records it.
        let (from, to) = if is_ping { (*process, partner) } else { (partner, *process) };
        (!log.operations.is_empty()).then(|| PairFigures {
            from,
            from_node: node(from),
            to,
            to_node: node(to),
            mib_per_s: (!is_ping).then(|| bandwidth(&log.operations)),
            one_way_us: is_ping.then(|| Spread::of(halves(&log.operations)).median),
        })
    };
    let mut pairs: Vec<PairFigures> = phase.logs.iter().filter_map(pair).collect();
    pairs.sort_by_key(|pair| (pair.from, pair.to));
    let mut fields =
        labels([(PAIRS, json!(pairs)), ("messages_per_operation", plan.messages_per_operation().into())]);
    if is_ping {
        let all = phase.all().flat_map(|log| halves(&log.operations)).collect();
        fields.insert(ONE_WAY_US.to_owned(), json!(Spread::of(all)));
    }
    fields
}

/// Half of each round trip in microseconds.
fn halves(operations: &[Operation]) -> Vec<f64> {
    let half = |one: &Operation| (one.at(Moment::IoEnd) - one.at(Moment::IoStart)) as f64 / 2e3;
    operations.iter().map(half).collect()
}

/// MiB/s from the first start to the last end.
fn bandwidth(operations: &[Operation]) -> f64 {
    let start = operations.iter().map(|one| one.at(Moment::IoStart)).min().unwrap_or(0);
    let end = operations.iter().map(|one| one.at(Moment::IoEnd)).max().unwrap_or(0);
    let bytes: u64 = operations.iter().map(|one| one.bytes).sum();
    bytes as f64 / MIB / ((end - start) as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(of_processes: [&[(i64, i64)]; 4]) -> Phase {
        let operation = |(start, end): &(i64, i64)| {
            let mut times = [0; Moment::COUNT];
            times[Moment::IoStart as usize] = start * 1_000;
            times[Moment::IoEnd as usize] = end * 1_000;
            Operation { iteration: 0, bytes: 1 << 20, wrong: false, times }
        };
        let log = |(process, times): (u32, &[(i64, i64)])| {
            let operations = times.iter().map(operation).collect();
            (process / 2, process, ProcessLog { operations, ..ProcessLog::default() })
        };
        let logs = (0..).zip(of_processes).map(log).collect();
        Phase { name: "transfer".to_owned(), released: 0, logs }
    }

    fn found(direction: Direction, phase: &Phase) -> (Vec<PairFigures>, Map<String, Value>) {
        let plan = Plan { direction, size: 1 << 20, messages: None, seconds: 1.0, timeout: 1.0 };
        let fields = fields(phase, &plan, &["a", "b"].map(str::to_owned));
        (serde_json::from_value(fields[PAIRS].clone()).unwrap(), fields)
    }

    #[test]
    fn the_bandwidth_of_a_pair_is_what_arrives_by_its_own_time() {
        let phase = phase([&[], &[], &[(0, 1_000_000), (1_000_000, 2_000_000)], &[(0, 500_000)]]);
        let (pairs, fields) = found(Direction::OneWay, &phase);
        let shown: Vec<_> = pairs
            .iter()
            .map(|one| (one.from, &*one.from_node, one.to, &*one.to_node, one.mib_per_s))
            .collect();
        assert_eq!(shown, [(0, "a", 2, "b", Some(1.0)), (1, "a", 3, "b", Some(2.0))]);
        assert!(!fields.contains_key(ONE_WAY_US));
    }

    #[test]
    fn latency_is_half_a_round_trip_of_who_began_it() {
        let (pairs, fields) =
            found(Direction::PingPong, &phase([&[(0, 10), (10, 30)], &[(0, 20)], &[], &[]]));
        assert_eq!((pairs[0].from, pairs[0].to, pairs[0].one_way_us), (0, 2, Some(7.5)));
        assert_eq!((pairs[1].from, pairs[1].one_way_us, pairs[1].mib_per_s), (1, Some(10.0), None));
        assert_eq!(fields[ONE_WAY_US]["median"], 10.0);
        assert_eq!(fields[ONE_WAY_US]["max"], 10.0);
    }
}
