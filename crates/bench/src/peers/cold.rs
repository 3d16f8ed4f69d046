//! Cold retrievals: before each, all files of the peer and of its limit are dropped from the page cache.

use std::{io::Write, path::Path, process::Command};

use super::{Clients, Comparison};
use crate::{
    Error, Result,
    harness::{cold::make_cold, folders, launcher::Launcher, measurement::Case},
    workloads::{
        client::{ClientMode, ClientOp},
        ensemble::Order,
        load::{Load, client_tasks},
    },
};

/// What is retrieved, how, and in which order.
const COLD: [(&str, ClientOp, Order); 6] = [
    ("cold retrieve", ClientOp::Retr1, Order::Stored),
    ("cold retrieve, one request", ClientOp::Bulk, Order::Stored),
    ("cold retrieve of every tenth", ClientOp::Retr1, Order::Tenth),
    ("cold retrieve of every tenth, one request", ClientOp::Bulk, Order::Tenth),
    ("cold retrieve backwards", ClientOp::Retr1, Order::Backwards),
    ("cold retrieve backwards, one request", ClientOp::Bulk, Order::Backwards),
];

/// Refuses a folder in memory, which is the page cache.
pub(super) fn check_device(folder: &Path) -> Result<()> {
    match folders::is_memory(folder) {
        true => Err(Error::invalid(format!("--cold in {}", folders::title(folder)), "a folder on a device")),
        false => Ok(()),
    }
}

/// Refuses another build whose clients know no order. It is asked without a store.
pub(super) fn check_build(program: &Path) -> Result<()> {
    let load = Load { size: 4096, procs: 1, steps: 1 };
    for order in [Order::Tenth, Order::Backwards] {
        let tasks = client_tasks(load.clients_in(order, ClientOp::Retr1), &[ClientMode::Null], None)?;
        Launcher::local(Command::new(program))?.total(tasks).map_err(|error| {
            let what = format!("--cold --before {}: {error}", program.display());
            Error::invalid(what, "a build that has `bench peers --cold` itself")
        })?;
    }
    Ok(())
}

impl<W: Write> Comparison<'_, W> {
    /// Measures the cold retrievals of what is archived below `folder`: each right after its limit.
    pub(super) fn measure_cold(
        &mut self,
        clients: &mut Clients,
        case: &Case,
        load: &Load,
        folder: &Path,
        plain: &Path,
    ) -> Result<()> {
        for (what, op, order) in COLD {
            make_cold(folder)?;
            let limit = self.limit(what, case, &load.plain_in(order, plain))?;
            make_cold(folder)?;
            self.one(what, clients, case, load.clients_in(order, op), Some(&limit))?;
        }
        Ok(())
    }
}
