//! The amount of data of a measurement, and the tasks of its processes.

use std::path::Path;

use crate::{
    Result,
    harness::launcher::Task,
    workloads::{
        client::{ClientArgs, ClientMode, ClientOp},
        ensemble::{FIELDS_PER_STEP, Order},
        plain::{Plain, PlainOp},
    },
};

/// The bytes that the processes of a measurement move in all, approximately.
const BYTES: u64 = 1 << 30;
/// The most fields that they move in all.
const FIELDS_MAX: u64 = 100_000;

/// The data that the processes of a measurement move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) size: usize,
    pub(crate) procs: usize,
    /// Steps of [`FIELDS_PER_STEP`] fields for each process.
    pub(crate) steps: u64,
}

impl Load {
    pub(crate) fn new(size: usize, procs: usize, quick: bool) -> Self {
        let fields = (BYTES / size.max(1) as u64).clamp(FIELDS_PER_STEP, FIELDS_MAX);
        let fields = if quick { fields / 10 } else { fields };
        Self { size, procs, steps: (fields / FIELDS_PER_STEP / procs.max(1) as u64).max(1) }
    }

    /// This load, reduced to at most so many fields in all.
    pub(crate) fn at_most(self, fields: u64) -> Self {
        let steps = fields / FIELDS_PER_STEP / self.procs.max(1) as u64;
        Self { steps: self.steps.min(steps.max(1)), ..self }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.procs as u64 * self.steps * FIELDS_PER_STEP * self.size as u64
    }

    /// Plain processes: the same bytes, one file each, one sync per step.
    pub(crate) fn plain(&self, op: PlainOp, folder: &Path, sync: bool) -> Vec<Plain> {
        let plain = |number: usize| Plain {
            op,
            path: folder.join(number.to_string()),
            count: self.steps * FIELDS_PER_STEP,
            order: Order::Stored,
            size: self.size,
            sync_every: if sync { FIELDS_PER_STEP } else { 0 },
            repeats: false,
        };
        (0..self.procs).map(plain).collect()
    }

    /// Plain processes that read blocks in an order.
    pub(crate) fn plain_in(&self, order: Order, folder: &Path) -> Vec<Plain> {
        let all = self.plain(PlainOp::Read, folder, false).into_iter();
        all.map(|plain| Plain { order, ..plain }).collect()
    }

    /// One client that lists the fields of all clients.
    pub(crate) fn list(&self) -> ClientArgs {
        self.client(ClientOp::List, 1, self.procs as u32)
    }

    /// A client for each process, with a number of its own: the numbers from `first` on.
    pub(crate) fn clients(&self, op: ClientOp, first: u32) -> Vec<ClientArgs> {
        (first..first + self.procs as u32).map(|number| self.client(op, number, 1)).collect()
    }

    /// Clients that retrieve fields in an order.
    pub(crate) fn clients_in(&self, order: Order, op: ClientOp) -> Vec<ClientArgs> {
        let modes: &[ClientMode] = match order {
            Order::Stored => &[],
            Order::Tenth => &[ClientMode::Tenth],
            Order::Backwards => &[ClientMode::Backwards],
        };
        let all = self.clients(op, 1).into_iter();
        all.map(|client| ClientArgs { modes: modes.to_vec(), ..client }).collect()
    }

    fn client(&self, op: ClientOp, first_number: u32, numbers: u32) -> ClientArgs {
        let (size, steps) = (self.size, self.steps as u32);
        ClientArgs { op, size, first_number, numbers, first_step: 0, steps, modes: Vec::new(), store: None }
    }
}

pub(crate) fn store(folder: &Path, sync: bool) -> String {
    format!("posix:{}{}", folder.display(), if sync { "" } else { "?sync=no" })
}

pub(crate) fn plain_tasks(all: &[Plain]) -> Result<Vec<Task>> {
    all.iter().map(Plain::task).collect()
}

/// The tasks of clients with further modes, in the store of a URI if they use one.
pub(crate) fn client_tasks(
    all: Vec<ClientArgs>,
    modes: &[ClientMode],
    store: Option<&str>,
) -> Result<Vec<Task>> {
    let task = |mut client: ClientArgs| {
        client.modes.extend(modes);
        client.store = store.map(str::to_owned);
        client.task()
    };
    all.into_iter().map(task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_and_its_limit_move_the_same_bytes_with_the_same_syncs() {
        let load = Load::new(1 << 20, 4, false);
        let plain = load.plain(PlainOp::Write, Path::new("/data"), true);
        let clients = load.clients(ClientOp::Archive, 1);
        assert_eq!((plain.len(), clients.len()), (4, 4));
        assert_eq!((&*plain[3].path, plain[3].count, plain[3].size), (Path::new("/data/3"), 200, 1 << 20));
        assert_eq!(plain[3].sync_every, 100);
        let shape = |client: &ClientArgs| {
            (client.size, client.first_number, client.numbers, client.first_step, client.steps)
        };
        assert_eq!(shape(&clients[3]), (1 << 20, 4, 1, 0, 2));
        assert_eq!(shape(&load.list()), (1 << 20, 1, 4, 0, 2), "of all of them");
    }

    #[test]
    fn every_process_has_a_step_however_large_its_fields_are() {
        assert_eq!(Load::new(1 << 30, 16, true).steps, 1);
        assert_eq!(Load::new(4096, 1, false).steps, 1000);
        assert_eq!(Load::new(4096, 4, false).at_most(2000).steps, 5);
        assert_eq!(Load::new(4096, 16, false).at_most(100).steps, 1);
    }
}
