//! What one process measures of itself: times, processor time, peak memory.

use std::{fs, time::Duration};

use rustix::{
    param::clock_ticks_per_second,
    time::{ClockId, clock_gettime},
};
use serde::{Deserialize, Serialize};

/// One process's figures. As a line of JSON it begins with `{"t0"`, by which drivers know it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Begin and end, in seconds of CLOCK_MONOTONIC, so that processes can be compared.
    pub(crate) t0: f64,
    pub(crate) t1: f64,
    /// Processor time between them, in seconds.
    pub(crate) user: f64,
    pub(crate) sys: f64,
    /// The largest resident memory of the process's life.
    pub(crate) rss_kb: u64,
    pub(crate) fields: u64,
    pub(crate) bytes: u64,
    /// When the first field was done, in seconds after `t0`; 0 for none.
    pub(crate) first_s: f64,
    /// What closing took after `t1`, in seconds.
    pub(crate) close_s: f64,
}

/// A measurement that is running.
#[derive(Debug)]
pub(crate) struct Watch {
    figures: Figures,
    cpu: Cpu,
}

impl Watch {
    pub(crate) fn start() -> Self {
        let cpu = Cpu::now();
        Self { figures: Figures { t0: seconds(ClockId::Monotonic), ..Figures::default() }, cpu }
    }

    /// Counts one field; the first one's time is kept.
    pub(crate) fn field(&mut self, bytes: u64) {
        if self.figures.fields == 0 {
            self.figures.first_s = seconds(ClockId::Monotonic) - self.figures.t0;
        }
        self.figures.fields += 1;
        self.figures.bytes += bytes;
    }

    pub(crate) fn fields(&self) -> u64 {
        self.figures.fields
    }

    /// Ends the measurement; `close` is measured apart.
    pub(crate) fn stop(mut self, close: impl FnOnce()) -> Figures {
        self.figures.t1 = seconds(ClockId::Monotonic);
        let spent = Cpu::now().since(self.cpu);
        (self.figures.user, self.figures.sys) = (spent.user.as_secs_f64(), spent.sys.as_secs_f64());
        close();
        self.figures.close_s = seconds(ClockId::Monotonic) - self.figures.t1;
        self.figures.rss_kb = peak_memory_kb();
        self.figures
    }
}

fn seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Processor time of the process.
#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    user: Duration,
    sys: Duration,
    total: Duration,
}

impl Cpu {
    /// The total is exact to the nanosecond; user and system come in clock ticks.
    fn now() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let (user, sys) = ticks(&stat).unwrap_or_default();
        let tick = |count: u64| Duration::from_secs_f64(count as f64 / clock_ticks_per_second() as f64);
        let total = Duration::from_secs_f64(seconds(ClockId::ProcessCPUTime));
        Self { user: tick(user), sys: tick(sys), total }
    }

    /// What was spent since, the exact total shared out in the proportion of the ticks.
    fn since(self, before: Self) -> Self {
        let total = self.total.saturating_sub(before.total);
        let (user, sys) = (self.user.saturating_sub(before.user), self.sys.saturating_sub(before.sys));
        let share = match (user + sys).as_secs_f64() {
            0.0 => 0.0,
            both => sys.as_secs_f64() / both,
        };
        let sys = total.mul_f64(share);
        Self { user: total.saturating_sub(sys), sys, total }
    }
}

/// User and system ticks from `/proc/PID/stat`. The program's name, in parentheses, may hold anything.
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let (_, after) = stat.rsplit_once(')')?;
    // After the name come the state and the fields from number 4 on; user and system time are numbers 14 and 15.
    let mut fields = after.split_ascii_whitespace().skip(11);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// The peak resident memory. Not of getrusage, whose figure a child inherits from whoever started it.
fn peak_memory_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    high_water_kb(&status).unwrap_or_default()
}

fn high_water_kb(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_behind_a_name_with_parentheses_and_spaces() {
        let stat = "42 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 111 222 13 14";
        assert_eq!(ticks(stat), Some((111, 222)));
        assert_eq!(ticks("42 (cut"), None);
    }

    #[test]
    fn the_exact_total_is_shared_out_in_the_proportion_of_the_ticks() {
        let ms = Duration::from_millis;
        let before = Cpu::default();
        let after = Cpu { user: ms(30), sys: ms(10), total: ms(44) };
        let spent = after.since(before);
        assert_eq!((spent.user, spent.sys), (ms(33), ms(11)));
    }

    #[test]
    fn a_running_process_has_a_peak_and_its_work_takes_processor_time() {
        let watch = Watch::start();
        (0..3_000_000u64).for_each(|at| drop(std::hint::black_box(Box::new(at))));
        let figures = watch.stop(|| ());
        assert!(figures.t1 > figures.t0 && figures.user + figures.sys > 0.0, "{figures:?}");
        assert!(figures.rss_kb > 100, "{figures:?}");
    }

    #[test]
    fn the_line_begins_as_drivers_expect() {
        let line = serde_json::to_string(&Figures::default()).unwrap();
        assert!(line.starts_with(r#"{"t0":"#), "{line}");
    }
}
