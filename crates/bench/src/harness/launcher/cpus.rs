//! The binding of processes to processors: one processor each while there are enough, from the sockets in turns.

use std::{collections::BTreeMap, fs};

use serde::{Deserialize, Serialize};

/// A socket and its processors that this program may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Socket {
    pub(crate) number: u32,
    pub(crate) cpus: Vec<usize>,
}

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

/// The processor of the process with number `local` on its node. The sockets take turns, so that each gets as many
/// processes; when all processors are taken, the first is used again.
pub(crate) fn cpu_of(sockets: &[Socket], local: usize) -> Option<usize> {
    let largest = sockets.iter().map(|socket| socket.cpus.len()).max()?;
    let rounds =
        (0..largest).flat_map(|round| sockets.iter().filter_map(move |socket| socket.cpus.get(round)));
    let order: Vec<usize> = rounds.copied().collect();
    order.get(local % order.len()).copied()
}

/// Binds the calling thread, and the threads that it starts, to a processor, if that is allowed.
pub(crate) fn bind(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_take_sockets_in_turns_and_wrap_around() {
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
