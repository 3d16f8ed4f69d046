//! The cases of a run: transports, directions, sizes and numbers of processes.

use serde_json::{Map, Value, json};

use super::{
    TransferArgs, Transport,
    play::{Direction, Plan},
};
use crate::harness::study::labels;

#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) transport: Transport,
    pub(super) plan: Plan,
    pub(super) per_node: usize,
    /// Variables of the environment of MPI ranks, where several sets are compared.
    pub(super) variables: Option<String>,
}

impl Case {
    pub(super) fn labels(&self, nodes: usize) -> Map<String, Value> {
        let mut labels = labels([
            ("transport", json!(self.transport)),
            ("direction", json!(self.plan.direction)),
            ("size", self.plan.size.into()),
            ("nodes", nodes.into()),
            ("processes_per_node", self.per_node.into()),
        ]);
        if let Some(variables) = &self.variables {
            labels.insert("variables".to_owned(), variables.clone().into());
        }
        labels
    }
}

/// All cases, of each transport that can be used.
pub(super) fn all(args: &TransferArgs, is_tcp: bool, is_mpi: bool) -> Vec<Case> {
    let mut ways = Vec::new();
    if is_tcp {
        ways.push((Transport::Tcp, None));
    }
    if is_mpi && args.mpi.variables.is_empty() {
        ways.push((Transport::Mpi, None));
    } else if is_mpi {
        ways.extend(args.mpi.variables.iter().map(|set| (Transport::Mpi, Some(set.clone()))));
    }
    let plans = args.plans();
    let mut cases = Vec::new();
    for per_node in &args.processes {
        for plan in &plans {
            cases.extend(ways.iter().map(|(transport, variables)| Case {
                transport: *transport,
                plan: plan.clone(),
                per_node: *per_node,
                variables: variables.clone(),
            }));
        }
    }
    cases
}

/// The name of a direction in records.
pub(super) fn direction_name(direction: Direction) -> Value {
    json!(direction)
}
