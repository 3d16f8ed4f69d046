//! Whether the calling thread has to wait for a processor.
//!
//! Reading ahead on other threads pays only where a processor is free. Where all are busy, it takes the time of others, and the fields
//! that are ahead need more memory than the processor's cache has.

use std::{
    cell::Cell,
    fs,
    time::{Duration, Instant},
};

/// How many bytes a thread reads between two looks at the time for which it has waited.
const LOOK_AFTER: u64 = 32 << 20;
/// The same while processors are busy. Trying whether they still are costs as much as reading ahead does.
const LOOK_AFTER_BUSY: u64 = 512 << 20;
/// A look finds processors busy if the thread has waited for one for more than a third of the time.
const BUSY_ONE_IN: u32 = 3;
/// So many looks in a row must find them busy: a thread that begins takes the processor of the one that begins it.
const BUSY_LOOKS: u32 = 3;

thread_local! {
    static CONTENTION: Cell<Contention> = Cell::default();
}

/// Whether processors are busy, as seen by the calling thread, which is about to read this many bytes.
pub(crate) fn are_processors_busy(bytes: u64) -> bool {
    let after = |cell: &Cell<Contention>| {
        let mut contention = cell.take();
        contention.count(bytes, Look::now);
        cell.set(contention);
        contention.is_busy()
    };
    // A thread that ends has no state any more.
    CONTENTION.try_with(after).unwrap_or(false)
}

/// What a thread knows of the processors.
#[derive(Debug, Clone, Copy, Default)]
struct Contention {
    last: Option<Look>,
    /// How many bytes are read before the next look.
    bytes_left: u64,
    /// How many looks in a row have found processors busy.
    busy_looks: u32,
}

/// For how long a thread had waited for a processor at a moment.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    waited: Duration,
}

impl Contention {
    fn count(&mut self, bytes: u64, look: impl FnOnce() -> Option<Look>) {
        if let Some(left) = self.bytes_left.checked_sub(bytes) {
            self.bytes_left = left;
            return;
        }
        let now = look();
        let is_busy = self.last.zip(now).is_some_and(|(last, now)| now.is_busy_since(last));
        self.busy_looks = if is_busy { self.busy_looks.saturating_add(1) } else { 0 };
        self.last = now;
        self.bytes_left = if self.is_busy() { LOOK_AFTER_BUSY } else { LOOK_AFTER };
    }

    fn is_busy(&self) -> bool {
        self.busy_looks >= BUSY_LOOKS
    }
}

impl Look {
    /// `None` where the kernel does not count it.
    fn now() -> Option<Self> {
        // The time on a processor, the time of waiting for one, in nanoseconds, and the number of turns: proc(5).
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let waited = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(Self { at: Instant::now(), waited: Duration::from_nanos(waited) })
    }

    fn is_busy_since(self, last: Self) -> bool {
        self.waited.saturating_sub(last.waited) * BUSY_ONE_IN > self.at.duration_since(last.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Reads so many MiB. A millisecond passes from one look to the next, and the thread waits for this part of it. Returns the number
    /// of looks.
    fn read(contention: &mut Contention, mib: u64, waited: impl Fn(u32) -> f64) -> u32 {
        let begin = Instant::now();
        let (mut looks, mut total) = (0, Duration::ZERO);
        for _ in 0..mib {
            contention.count(MIB, || {
                total += Duration::from_millis(1).mul_f64(waited(looks));
                looks += 1;
                Some(Look { at: begin + Duration::from_millis(1) * looks, waited: total })
            });
        }
        looks
    }

    fn is_busy_after(mib: u64, waited: impl Fn(u32) -> f64) -> bool {
        let mut contention = Contention::default();
        read(&mut contention, mib, waited);
        contention.is_busy()
    }

    #[test]
    fn a_thread_that_waits_for_half_of_the_time_finds_processors_busy() {
        assert!(is_busy_after(130, |_| 0.5));
        assert!(!is_busy_after(130, |_| 0.25));
    }

    #[test]
    fn one_look_that_finds_processors_busy_is_not_enough() {
        assert!(!is_busy_after(64, |_| 0.5));
        assert!(!is_busy_after(1024, |look| if look % 3 == 0 { 0.0 } else { 0.5 }));
    }

    #[test]
    fn looks_are_rare_and_rarer_while_processors_are_busy() {
        assert_eq!(read(&mut Contention::default(), 1024, |_| 0.0), 32);
        assert_eq!(read(&mut Contention::default(), 1024, |_| 0.5), 5);
    }

    #[test]
    fn processors_that_are_free_again_and_a_kernel_that_does_not_count_end_it() {
        let mut contention = Contention::default();
        read(&mut contention, 130, |_| 0.5);
        let mut other = contention;
        read(&mut contention, 600, |_| 0.0);
        assert!(!contention.is_busy());
        other.count(LOOK_AFTER_BUSY + 1, || None);
        assert!(!other.is_busy());
    }

    #[test]
    fn the_kernel_tells_for_how_long_a_thread_has_waited() {
        assert!(Look::now().is_some_and(|look| look.waited < Duration::from_secs(3600)));
    }
}
