//! Calibration: what a field costs one process on this machine, and what its memory or disk does at most.
//!
//! What must stay true: figures are medians of what the clients and plain processes of `bench` measure themselves.

use std::{io::Write, path::Path};

use super::{
    site::{Clients, Cost, Costs, Devices, EngineKind, Redundancy, Site},
    units::{Rate, Span},
};
use crate::{
    Error, Result,
    harness::{
        folders::{self, create_folders, prepare_memory, scratch},
        launcher::{Launcher, this_program},
        machine::Machine,
        spread::{MIB, median_of},
        usage::Total,
    },
    workloads::{
        client::ClientOp,
        load::{Load, client_tasks, plain_tasks, store},
        plain::PlainOp,
    },
};

/// Fields of these sizes separate what a field costs from what its bytes do. With steps of 100 fields.
const SMALL: (usize, u64) = (4096, 100);
const LARGE: (usize, u64) = (MIB as usize, 4);

/// Measures in a temporary folder of `parent`.
pub(super) fn measure(parent: &Path, repetitions: u32, progress: &mut impl Write) -> Result<Site> {
    let launcher = Launcher::local(this_program()?)?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u32;
    let parent = parent.canonicalize().map_err(Error::io("find", parent))?;
    let mut bench = Bench { parent: &parent, sync: !folders::is_memory(&parent), launcher };
    let (mut small, mut large, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    let mut together = Vec::new();
    for repetition in 1..=repetitions {
        small.push(bench.fields(SMALL)?);
        large.push(bench.fields(LARGE)?);
        plain.push(bench.plain(cores)?);
        together.push(bench.archive_together(cores)?);
        // A closed standard error is no reason to stop.
        let _ = writeln!(
            progress,
            "[{repetition}/{repetitions}] measured with 1 process, and the limit with {cores}"
        );
    }
    let rate = |which: fn(&[Total; 2]) -> Total| {
        Rate(
            median_of(&plain, |both| {
                let total = which(both);
                total.bytes as f64 / total.seconds
            })
            .max(1.0),
        )
    };
    let busy = median_of(&together, |total: &Total| (total.user + total.sys) / total.seconds);
    // Never none at all; hundredths are more than can be said.
    let free = (busy.clamp(0.01, f64::from(cores)) * 100.0).round() / 100.0;
    let machine = Machine::this();
    let where_ = folders::title(&parent);
    let source =
        |what: &str| format!("measured: {what}, medians of {repetitions}, in {where_}; {}", machine.text());
    let count = |number: u32| std::num::NonZeroU32::new(number).unwrap_or(std::num::NonZeroU32::MIN);
    Ok(Site {
        name: format!("this machine, {where_}"),
        engine: EngineKind::Posix,
        clients: Clients {
            nodes: count(1),
            processes_per_node: count(cores),
            cores_per_node: free,
            send: None,
            receive: None,
            source: source(&format!(
                "processor time of {cores} processes at once, archiving fields of 4 KiB"
            )),
        },
        servers: None,
        services: None,
        devices: Some(Devices {
            per_node: count(1),
            write: rate(|both| both[0]),
            read: rate(|both| both[1]),
            capacity: None,
            source: source(&format!("plain writes and reads of 1 MiB by {cores} processes")),
        }),
        metadata: None,
        redundancy: Redundancy::default(),
        access: None,
        costs: Costs {
            write: cost(&small, &large, |both| both[0]),
            read: cost(&small, &large, |both| both[1]),
            source: source("archive and retrieve by 1 process, fields of 4 KiB and of 1 MiB"),
        },
    })
}

/// What a field costs by the medians of small and of large ones; `which` picks writing or reading.
fn cost(small: &[[Total; 2]], large: &[[Total; 2]], which: fn(&[Total; 2]) -> Total) -> Cost {
    let of = |all: &[[Total; 2]], part: fn(&Total) -> f64| median_of(all, |both| part(&which(both)));
    let parts = |part| line((SMALL.0, of(small, part)), (LARGE.0, of(large, part)));
    let (cpu, wait) = (parts(cpu), parts(waited));
    Cost { cpu_per_field: cpu.0, cpu_per_mib: cpu.1, wait_per_field: wait.0, wait_per_mib: wait.1 }
}

/// Seconds of processor time for a field.
fn cpu(total: &Total) -> f64 {
    (total.user + total.sys) / total.fields.max(1) as f64
}

/// Other seconds of a field, in which its process waits.
fn waited(total: &Total) -> f64 {
    (total.seconds / total.fields.max(1) as f64 - cpu(total)).max(0.0)
}

/// The line through two points: at no bytes, and what a MiB adds. Neither is negative.
pub(super) fn line((small, at_small): (usize, f64), (large, at_large): (usize, f64)) -> (Span, Span) {
    let mib = |bytes: usize| bytes as f64 / MIB;
    let slope = ((at_large - at_small) / (mib(large) - mib(small))).max(0.0);
    (Span::of_seconds(at_small - slope * mib(small)), Span::of_seconds(slope))
}

struct Bench<'a> {
    parent: &'a Path,
    sync: bool,
    launcher: Launcher,
}

impl Bench<'_> {
    /// One process archives fields and one retrieves them.
    fn fields(&mut self, (size, steps): (usize, u64)) -> Result<[Total; 2]> {
        let load = Load { size, procs: 1, steps };
        let folder = scratch(self.parent)?;
        prepare_memory(folder.path(), load.bytes())?;
        let store = store(folder.path(), self.sync);
        let mut run = |op| {
            let tasks = client_tasks(load.clients(op, 1), &[], Some(&store))?;
            self.launcher.total(tasks)
        };
        Ok([run(ClientOp::Archive)?, run(ClientOp::Retr1)?])
    }

    /// As many processes as processors archive at once: what they get of the processors.
    fn archive_together(&mut self, procs: u32) -> Result<Total> {
        let load = Load { size: SMALL.0, procs: procs as usize, steps: SMALL.1 };
        let folder = scratch(self.parent)?;
        prepare_memory(folder.path(), load.bytes())?;
        let store = store(folder.path(), self.sync);
        self.launcher.total(client_tasks(load.clients(ClientOp::Archive, 1), &[], Some(&store))?)
    }

    /// As many processes as processors write plain files and read them.
    fn plain(&mut self, procs: u32) -> Result<[Total; 2]> {
        let load = Load { size: LARGE.0, procs: procs as usize, steps: LARGE.1 };
        let folder = scratch(self.parent)?;
        prepare_memory(folder.path(), load.bytes())?;
        let [plain] = create_folders(folder.path(), ["plain"])?;
        let mut run = |op| self.launcher.total(plain_tasks(&load.plain(op, &plain, self.sync))?);
        Ok([run(PlainOp::Write)?, run(PlainOp::Read)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_two_sizes_are_divided_between_a_field_and_its_bytes() {
        let found = line((4096, 6.44e-6), (LARGE.0, 353e-6));
        assert_eq!(found, (Span(5081), Span(347_919)));
        // 5.081 us and a 256th of 347.919 us are 6.44 us.
        assert_eq!(
            line((4096, 5e-6), (LARGE.0, 4e-6)),
            (Span(5000), Span(0)),
            "noise gives no negative cost"
        );
    }
}
