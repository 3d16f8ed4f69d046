//! How long this machine has been up: time that no clock's setting changes.

use std::{fs, time::Duration};

/// A moment since a start of this machine. Moments of one start can be compared, by whatever process they were taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Uptime {
    /// The system's name for this start of the machine, which no other start of any machine has.
    pub(crate) boot: String,
    milliseconds: i64,
}

impl Uptime {
    /// None where the system does not say it.
    pub(crate) fn now() -> Option<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        Self::parse(boot.trim(), &uptime)
    }

    fn parse(boot: &str, uptime: &str) -> Option<Self> {
        let (seconds, hundredths) = uptime.split_whitespace().next()?.split_once('.')?;
        let milliseconds =
            seconds.parse::<i64>().ok()?.checked_mul(1000)? + 10 * hundredths.parse::<i64>().ok()?;
        (!boot.is_empty()).then(|| Self { boot: boot.to_owned(), milliseconds })
    }

    /// The bytes of a note of this moment, which says nothing of which start it is.
    pub(crate) fn encode(&self) -> [u8; 8] {
        self.milliseconds.to_le_bytes()
    }

    /// How long before this the moment of a note of the same start was. None for a note that cannot be read.
    pub(crate) fn since(&self, note: &[u8]) -> Option<Duration> {
        let then = i64::from_le_bytes(note.try_into().ok()?);
        Some(Duration::from_millis(u64::try_from(self.milliseconds.saturating_sub(then)).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_two_moments_of_a_start_is_known() {
        let [first, second] = ["12.34 99.0", "3612.34 1.5"].map(|uptime| Uptime::parse("a", uptime).unwrap());
        assert_eq!(second.since(&first.encode()), Some(Duration::from_secs(3600)));
        assert_eq!(first.since(&second.encode()), Some(Duration::ZERO));
        assert_eq!(second.since(b"short"), None);
        assert!(Uptime::parse("", "1.00").is_none() && Uptime::parse("a", "nonsense").is_none());
    }

    #[test]
    fn this_machine_says_how_long_it_has_been_up() {
        let (first, second) = (Uptime::now().unwrap(), Uptime::now().unwrap());
        assert_eq!(first.boot, second.boot);
        assert!(second.since(&first.encode()).unwrap() < Duration::from_secs(600));
    }
}
