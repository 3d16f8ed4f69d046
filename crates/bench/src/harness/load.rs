//! How much the processes of a measurement move, and their command lines.

use std::{
    ffi::OsString,
    io::{ErrorKind, Write},
    path::Path,
};

use crate::{
    Error, Result,
    harness::{
        machine::{is_memory, memory_available},
        team::Line,
    },
    workloads::ensemble::FIELDS_PER_STEP,
};

/// Bytes that the processes of one measurement move in all, about.
const BYTES: u64 = 1 << 30;
/// Fields that they move in all, at most.
const FIELDS_MAX: u64 = 100_000;
/// What the processes of one measurement move.
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

    /// The same of so many fields in all, at most.
    pub(crate) fn at_most(self, fields: u64) -> Self {
        let steps = fields / FIELDS_PER_STEP / self.procs.max(1) as u64;
        Self { steps: self.steps.min(steps.max(1)), ..self }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.procs as u64 * self.steps * FIELDS_PER_STEP * self.size as u64
    }

    /// Plain workers: the same bytes, one file per process, one sync per step.
    pub(crate) fn plain(&self, op: &str, folder: &Path, sync: bool) -> Vec<Line> {
        let sync_every = if sync { FIELDS_PER_STEP } else { 0 };
        let line = |number: usize| {
            let path = folder.join(number.to_string());
            let numbers = numbers_of([self.steps * FIELDS_PER_STEP, self.size as u64, sync_every]);
            words(["worker", op]).chain([path.into_os_string()]).chain(numbers).collect()
        };
        (0..self.procs).map(line).collect()
    }

    /// One client that lists what all clients have archived.
    pub(crate) fn list(&self) -> Line {
        self.client("list", 1, self.procs)
    }

    /// Clients: each process has a number of its own.
    pub(crate) fn clients(&self, op: &str) -> Vec<Line> {
        self.clients_from(op, 1)
    }

    /// Clients with numbers that no others have.
    pub(crate) fn more_clients(&self, op: &str) -> Vec<Line> {
        self.clients_from(op, 1 + self.procs)
    }

    fn clients_from(&self, op: &str, first: usize) -> Vec<Line> {
        (first..first + self.procs).map(|number| self.client(op, number, 1)).collect()
    }

    /// A client with so many numbers from the first on.
    fn client(&self, op: &str, first: usize, numbers: usize) -> Line {
        let shape = numbers_of([self.size as u64, first as u64, numbers as u64, 0, self.steps]);
        words(["client", op]).chain(shape).collect()
    }
}

pub(crate) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = OsString> {
    words.into_iter().map(OsString::from).collect::<Vec<_>>().into_iter()
}

pub(crate) fn numbers_of<const N: usize>(numbers: [u64; N]) -> impl Iterator<Item = OsString> {
    numbers.into_iter().map(|number| number.to_string().into())
}

pub(crate) fn with<'a>(mut line: Line, more: impl IntoIterator<Item = &'a str>) -> Line {
    line.extend(words(more));
    line
}

/// Writes as many bytes as a measurement will, to a file that is then removed. A virtual machine gets memory from its
/// host when it is first used, and may give back what is free; whoever comes first would pay for that. Memory that was
/// taken in another way, or for something else, is not what the next file gets. No more is written than the folder has
/// room for: whether that is enough the measurement will say.
pub(crate) fn make_memory_ready(folder: &Path, bytes: u64) -> Result<()> {
    let mut file = tempfile::tempfile_in(folder).map_err(Error::io("make a file in", folder))?;
    let block = vec![0x5a; 1 << 20];
    // Of what is to go to a device the system begins to write at a tenth of its memory, and would go on meanwhile.
    let part = if is_memory(folder) { 2 } else { 10 };
    let bytes = bytes.min(memory_available() / part);
    for _ in 0..bytes.div_ceil(block.len() as u64) {
        match file.write_all(&block) {
            Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(()),
            written => written.map_err(Error::io("write a file in", folder))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &Line) -> String {
        line.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn a_figure_and_its_limit_move_the_same_bytes_with_the_same_syncs() {
        let load = Load::new(1 << 20, 4, false);
        let plain = load.plain("write", Path::new("/data"), true);
        let clients = load.clients("archive");
        assert_eq!((plain.len(), clients.len()), (4, 4));
        assert_eq!(text(&plain[3]), "worker write /data/3 200 1048576 100");
        assert_eq!(text(&clients[3]), "client archive 1048576 4 1 0 2");
        assert_eq!(text(&load.list()), "client list 1048576 1 4 0 2", "of all of them");
    }

    #[test]
    fn every_process_has_a_step_however_large_its_fields_are() {
        assert_eq!(Load::new(1 << 30, 16, true).steps, 1);
        assert_eq!(Load::new(4096, 1, false).steps, 1000);
        assert_eq!(Load::new(4096, 4, false).at_most(2000).steps, 5);
        assert_eq!(Load::new(4096, 16, false).at_most(100).steps, 1);
    }
}
