//! The model: a closed queueing network in which every process has one field under way.
//!
//! Throughput is the solution of N = X (Z + sum of D / (1 - X D/K (N-1)/N)), where N are processes, Z is the time that a field
//! shares with no other, D the demand on a kind of resource and K the number of its units. It is approximate mean value
//! analysis by Bard (1979) and Schweitzer (1979), solved for K equal units, in which case it is exact for a balanced network
//! without Z: N / (N + K - 1) of the most. The bounds are the asymptotic ones of Lazowska and others, "Quantitative System
//! Performance" (1984), chapter 5.
//!
//! What must stay true: no resource is used more than entirely, and more units or more processes never lower the throughput.

use super::{
    demand::{Demands, Kind, Resource},
    site::EngineKind,
};

/// Steps of the search: each halves the interval, which has 53 bits.
const HALVINGS: u32 = 100;

/// What sets the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Too few processes: each waits for its own field.
    Processes,
    Resource(Kind),
}

impl Limit {
    /// The name in tables.
    pub(super) fn name(self, engine: EngineKind) -> &'static str {
        match self {
            Self::Processes => "number of processes",
            Self::Resource(kind) => kind.name(engine),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Predicted {
    /// Fields in a second.
    pub(super) throughput: f64,
    pub(super) limit: Limit,
    /// The bound that it comes close to with many processes.
    pub(super) bound: f64,
}

/// The throughput of a site.
pub(super) fn predict(demands: &Demands) -> Predicted {
    let (limit, bound) = bound(demands);
    let hard = |resource: &&Resource| !resource.kind.has_queue();
    let hard = demands.resources.iter().filter(hard).map(Resource::most).fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (0.0, bound);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        // Fields under way at this throughput, by Little's law.
        if middle * response(demands, middle) < demands.processes { low = middle } else { high = middle }
    }
    Predicted { throughput: high.min(hard), limit, bound }
}

/// The least of what processes could do without waiting for each other, and of what each resource can do.
fn bound(demands: &Demands) -> (Limit, f64) {
    let shared: f64 = queues(demands).map(|resource| resource.busy).sum();
    let alone = (Limit::Processes, demands.processes / (demands.alone + shared));
    let of = |resource: &Resource| (Limit::Resource(resource.kind), resource.most());
    demands.resources.iter().map(of).fold(alone, |least, next| if next.1 < least.1 { next } else { least })
}

fn queues(demands: &Demands) -> impl Iterator<Item = &Resource> {
    demands.resources.iter().filter(|resource| resource.kind.has_queue())
}

/// Seconds from the beginning of a field to its end, at so many fields in a second.
fn response(demands: &Demands, throughput: f64) -> f64 {
    let waiting = queues(demands).map(|resource| {
        let all = if resource.kind.is_of_clients() { demands.on_node } else { demands.processes };
        let others = ((all - 1.0) / all).max(0.0);
        let free = 1.0 - throughput / resource.most() * others;
        if free > 0.0 { resource.busy / free } else { f64::INFINITY }
    });
    demands.alone + waiting.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn network(processes: f64, alone: f64, resources: &[(Kind, f64, f64)]) -> Demands {
        let resources = resources.iter().map(|&(kind, units, busy)| Resource { kind, units, busy }).collect();
        Demands { resources, alone, processes, on_node: processes }
    }

    fn throughput(processes: f64, alone: f64, resources: &[(Kind, f64, f64)]) -> f64 {
        predict(&network(processes, alone, resources)).throughput
    }

    #[test]
    fn one_process_takes_the_sum_of_its_times() {
        let found = throughput(1.0, 0.5, &[(Kind::Services, 4.0, 0.25), (Kind::ServerSend, 2.0, 0.25)]);
        assert!((found - 1.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn equal_units_in_a_balanced_network_are_used_as_exact_analysis_says() {
        for (processes, units) in [(1.0, 1.0), (8.0, 1.0), (8.0, 8.0), (48.0, 24.0), (1152.0, 24.0)] {
            let found = throughput(processes, 0.0, &[(Kind::Services, units, 0.001)]);
            let exact = units / 0.001 * processes / (processes + units - 1.0);
            assert!((found / exact - 1.0).abs() < 1e-9, "{processes} on {units}: {found}, not {exact}");
        }
    }

    #[test]
    fn the_limit_is_the_scarcest_resource_or_a_lack_of_processes() {
        let resources = [(Kind::Services, 2.0, 0.1), (Kind::Devices, 1.0, 0.1)];
        let few = predict(&network(1.0, 1.0, &resources));
        assert_eq!(few.limit, Limit::Processes);
        let many = predict(&network(1e4, 1.0, &resources));
        assert_eq!((many.limit, many.throughput), (Limit::Resource(Kind::Devices), 10.0));
    }

    const KINDS: [Kind; 5] =
        [Kind::ClientProcessors, Kind::ServerReceive, Kind::Services, Kind::Devices, Kind::Metadata];

    fn any_network() -> impl Strategy<Value = (f64, f64, Vec<(Kind, f64, f64)>)> {
        let resource = (proptest::sample::select(&KINDS[..]), 1_u32..200, 1e-6_f64..0.1);
        let resource = resource.prop_map(|(kind, units, busy)| (kind, f64::from(units), busy));
        let all = proptest::collection::vec(resource, 1..6);
        ((1_u32..5000).prop_map(f64::from), 0.0_f64..0.1, all)
    }

    proptest! {
        #[test]
        fn no_bound_is_exceeded_and_no_resource_is_used_more_than_entirely((processes, alone, all) in any_network()) {
            let found = predict(&network(processes, alone, &all));
            prop_assert!(found.throughput > 0.0 && found.throughput <= found.bound * (1.0 + 1e-9));
            for (_, units, busy) in all {
                prop_assert!(found.throughput * busy / units <= 1.0 + 1e-9);
            }
        }

        #[test]
        fn more_units_and_more_processes_never_make_it_slower(
            (processes, alone, all) in any_network(), which in 0_usize..6, more in 1_u32..50
        ) {
            let before = throughput(processes, alone, &all);
            let mut larger = all.clone();
            larger[which % all.len()].1 += f64::from(more);
            prop_assert!(throughput(processes, alone, &larger) >= before * (1.0 - 1e-9));
            prop_assert!(throughput(processes + f64::from(more), alone, &all) >= before * (1.0 - 1e-9));
        }

        #[test]
        fn a_field_that_takes_longer_anywhere_never_makes_it_faster(
            (processes, alone, all) in any_network(), which in 0_usize..6, factor in 1.0_f64..10.0
        ) {
            let before = throughput(processes, alone, &all);
            let mut slower = all.clone();
            slower[which % all.len()].2 *= factor;
            prop_assert!(throughput(processes, alone, &slower) <= before * (1.0 + 1e-9));
        }
    }
}
