//! Whether a processor is free for reading ahead.
//!
//! Reading ahead on other threads pays only where a processor is free. Where all are busy, it takes the time of others, and the fields
//! that are ahead need more memory than the processor's cache has.

use std::{cell::Cell, fs, sync::OnceLock};

/// How many bytes a thread reads between two looks at the processors.
const LOOK_AFTER: u64 = 32 << 20;
/// So many looks in a row must contradict what is known: a program that runs for a moment changes nothing.
const LOOKS: u32 = 3;

thread_local! {
    static CONTENTION: Cell<Contention> = Cell::default();
}

/// Whether all processors are busy, as seen by the calling thread, which is about to read this many bytes.
pub(crate) fn are_processors_busy(bytes: u64) -> bool {
    let after = |cell: &Cell<Contention>| {
        let mut contention = cell.take();
        contention.count(bytes, Look::now);
        cell.set(contention);
        contention.is_busy
    };
    // A thread that ends has no state any more.
    CONTENTION.try_with(after).unwrap_or(false)
}

/// Lets the calling thread find a processor free from now on, however busy the machine is.
#[cfg(test)]
pub(super) fn take_processors_for_free() {
    CONTENTION.set(Contention { bytes_left: u64::MAX, ..Contention::default() });
}

/// What a thread knows of the processors.
#[derive(Debug, Clone, Copy, Default)]
struct Contention {
    is_busy: bool,
    has_looked: bool,
    /// How many bytes are read before the next look.
    bytes_left: u64,
    /// How many looks in a row have contradicted `is_busy`.
    contradictions: u32,
}

/// The threads of the machine that run or wait for a processor, and the number of processors.
#[derive(Debug, Clone, Copy)]
struct Look {
    runnable: usize,
    processors: usize,
}

impl Contention {
    fn count(&mut self, bytes: u64, look: impl FnOnce() -> Option<Look>) {
        if let Some(left) = self.bytes_left.checked_sub(bytes) {
            self.bytes_left = left;
            return;
        }
        self.bytes_left = LOOK_AFTER;
        let Some(look) = look() else { return };
        self.contradictions = if look.contradicts(self.is_busy) { self.contradictions + 1 } else { 0 };
        // The first look decides alone.
        let enough = if self.has_looked { LOOKS } else { 1 };
        if self.contradictions >= enough {
            (self.is_busy, self.contradictions) = (!self.is_busy, 0);
        }
        self.has_looked = true;
    }
}

impl Look {
    /// `None` where the kernel does not tell.
    fn now() -> Option<Self> {
        // Three averages, then the runnable threads of all: `0.20 0.18 0.12 1/80 11206`, proc_loadavg(5).
        let text = fs::read_to_string("/proc/loadavg").ok()?;
        let (runnable, _) = text.split_ascii_whitespace().nth(3)?.split_once('/')?;
        Some(Self { runnable: runnable.parse().ok()?, processors: processors()? })
    }

    /// Where nothing is read ahead, a processor is free if there are fewer threads than processors. Where a thread reads ahead,
    /// processors are busy if there are more.
    fn contradicts(self, is_busy: bool) -> bool {
        if is_busy { self.runnable < self.processors } else { self.runnable > self.processors }
    }
}

/// The processors of the machine. This process may be bound to some of them, but the runnable threads are those of all.
fn processors() -> Option<usize> {
    static PROCESSORS: OnceLock<Option<usize>> = OnceLock::new();
    *PROCESSORS.get_or_init(|| count(fs::read_to_string("/sys/devices/system/cpu/online").ok()?.trim()))
}

/// The number of processors in a list such as `0-3,8`.
fn count(list: &str) -> Option<usize> {
    let of_range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(last.checked_sub(first)? + 1)
    };
    list.split(',').map(of_range).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Reads so many MiB beside others on a machine with two processors. Returns the number of looks.
    fn read(contention: &mut Contention, mib: u64, runnable: impl Fn(u32) -> usize) -> u32 {
        let mut looks = 0;
        for _ in 0..mib {
            contention.count(MIB, || {
                looks += 1;
                Some(Look { runnable: runnable(looks), processors: 2 })
            });
        }
        looks
    }

    fn is_busy_after(mib: u64, runnable: impl Fn(u32) -> usize) -> bool {
        let mut contention = Contention::default();
        read(&mut contention, mib, runnable);
        contention.is_busy
    }

    #[test]
    fn the_first_look_decides_alone_and_later_ones_only_together() {
        assert!(is_busy_after(1, |_| 3));
        assert!(!is_busy_after(1, |_| 2));
        assert!(!is_busy_after(90, |look| if look > 1 { 3 } else { 2 }));
        assert!(is_busy_after(130, |look| if look > 1 { 3 } else { 2 }));
        assert!(!is_busy_after(1024, |look| if look % 3 == 1 { 2 } else { 3 }));
    }

    #[test]
    fn a_thread_for_each_processor_leaves_it_as_it_is() {
        let mut contention = Contention::default();
        read(&mut contention, 1, |_| 4);
        read(&mut contention, 1024, |_| 2);
        assert!(contention.is_busy, "no processor is free");
        read(&mut contention, 130, |_| 1);
        assert!(!contention.is_busy, "one is free");
        read(&mut contention, 1024, |_| 2);
        assert!(!contention.is_busy, "the caller and its thread have one each");
    }

    #[test]
    fn looks_are_rare() {
        assert_eq!(read(&mut Contention::default(), 1024, |_| 1), 32);
    }

    #[test]
    fn without_an_answer_of_the_kernel_all_stays_as_it_is() {
        let mut contention = Contention::default();
        read(&mut contention, 1, |_| 4);
        contention.count(LOOK_AFTER + 1, || None);
        assert!(contention.is_busy);
    }

    #[test]
    fn processors_are_counted_from_the_kernels_list() {
        assert_eq!(["0", "0-3", "0-3,8", "0-1,4-5,9"].map(count), [Some(1), Some(4), Some(5), Some(5)]);
        assert_eq!(["", "x", "3-1", "0-"].map(count), [None; 4]);
    }

    #[test]
    fn the_kernel_tells_how_many_threads_and_processors_there_are() {
        let look = Look::now().expect("Linux has /proc and /sys");
        assert!(look.runnable >= 1 && look.processors >= 1);
    }
}
