//! The machine of a figure: processor, memory, kernel, and the version of this program.

use std::fs;

use serde::Serialize;

/// The machine and the program, as recorded with the figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Machine {
    pub(crate) isotach: &'static str,
    pub(crate) cpu: String,
    pub(crate) cpus: usize,
    pub(crate) memory_gib: u64,
    pub(crate) kernel: String,
    /// Runnable processes on average over the minute before the run.
    pub(crate) load: String,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let first = |text: String| text.split_ascii_whitespace().next().unwrap_or_default().to_owned();
        Self {
            isotach: env!("CARGO_PKG_VERSION"),
            cpu: value_of(&read("/proc/cpuinfo"), "model name"),
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            memory_gib: read_kb("/proc/meminfo", "MemTotal").div_ceil(1 << 20),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: first(read("/proc/loadavg")),
        }
    }

    pub(crate) fn text(&self) -> String {
        let Self { isotach, cpu, cpus, memory_gib, kernel, load } = self;
        format!(
            "Isotach {isotach}; {cpus} CPUs ({cpu}), {memory_gib} GiB; Linux {kernel}; load {load} at the start"
        )
    }
}

/// Bytes of memory that can be allocated without swapping.
pub(crate) fn memory_available() -> u64 {
    read_kb("/proc/meminfo", "MemAvailable") << 10
}

/// A value in a file of the kernel, in kB; 0 if it is not there.
pub(super) fn read_kb(path: &str, name: &str) -> u64 {
    value_of(&fs::read_to_string(path).unwrap_or_default(), name).parse().unwrap_or_default()
}

/// The value of a `name : value kB` line.
fn value_of(text: &str, name: &str) -> String {
    let line = text.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == name);
    line.map_or("", |(_, value)| value.trim().trim_end_matches(" kB")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_whole_name_and_lose_their_unit() {
        let text = "MemTotalX: 1 kB\nMemTotal:       25165824 kB\nmodel name\t: A: B\n";
        assert_eq!(value_of(text, "MemTotal"), "25165824");
        assert_eq!(value_of(text, "model name"), "A: B");
        assert_eq!(value_of(text, "absent"), "");
    }

    #[test]
    fn this_machine_has_processors_and_a_kernel() {
        let machine = Machine::this();
        assert!(machine.cpus > 0 && machine.memory_gib > 0 && !machine.kernel.is_empty(), "{machine:?}");
    }
}
