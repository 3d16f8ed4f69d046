//! Where processes run: each on a processor of its own as long as there are enough, the sockets in turns.

use std::{collections::BTreeMap, fs};

use serde::{Deserialize, Serialize};

/// A socket and the processors on it that this program may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Socket {
    pub(crate) number: u32,
    pub(crate) cpus: Vec<usize>,
}

/// The sockets of this machine.
pub(crate) fn sockets() -> Vec<Socket> {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    let mut sockets: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for cpu in (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)) {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
        let number = fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
        sockets.entry(number.unwrap_or(0)).or_default().push(cpu);
    }
    sockets.into_iter().map(|(number, cpus)| Socket { number, cpus }).collect()
}

/// The processor of the process with this number within its node: the sockets in turns, so that each has as many; from the
/// first again when all are taken.
pub(crate) fn cpu_of(sockets: &[Socket], local: usize) -> Option<usize> {
    let most = sockets.iter().map(|socket| socket.cpus.len()).max()?;
    let rounds = (0..most).flat_map(|round| sockets.iter().filter_map(move |socket| socket.cpus.get(round)));
    let order: Vec<usize> = rounds.copied().collect();
    order.get(local % order.len()).copied()
}

/// Keeps the calling thread, and those it starts, on a processor. Where that is not allowed it stays where it is.
pub(crate) fn stay_on(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_spread_over_sockets_in_turns_and_begin_again_when_all_are_taken() {
        let socket = |number, cpus: &[usize]| Socket { number, cpus: cpus.to_vec() };
        let two = [socket(0, &[0, 1, 2]), socket(1, &[8, 9])];
        let taken: Vec<_> = (0..7).map(|local| cpu_of(&two, local).unwrap()).collect();
        assert_eq!(taken, [0, 8, 1, 9, 2, 0, 8]);
        assert_eq!(cpu_of(&[], 0), None);
    }

    #[test]
    fn this_machine_has_a_socket_with_processors() {
        assert!(sockets().iter().any(|socket| !socket.cpus.is_empty()));
    }
}
