//! The measurement of a process by itself: times, processor time, peak memory; and the sum over several processes.

use std::{fs, time::Duration};

use rustix::{
    param::clock_ticks_per_second,
    time::{ClockId, clock_gettime},
};
use serde::{Deserialize, Serialize};

use super::machine::read_kb;

/// The measurement of one process. Drivers recognise its line of JSON by the beginning, `{"t0"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Start and end in seconds of CLOCK_MONOTONIC, which all processes of a machine share.
    pub(crate) t0: f64,
    pub(crate) t1: f64,
    /// Processor time between them, in seconds.
    pub(crate) user: f64,
    pub(crate) sys: f64,
    /// Peak resident memory of the process.
    pub(crate) rss_kb: u64,
    pub(crate) fields: u64,
    pub(crate) bytes: u64,
    /// Seconds from `t0` until the first field was done; 0 without fields.
    pub(crate) first_s: f64,
    /// Seconds that closing took after `t1`.
    pub(crate) close_s: f64,
}

/// The sum of the measurements of several processes, from the first start to the last end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Total {
    pub(crate) procs: usize,
    pub(crate) seconds: f64,
    /// Seconds for which all processes were at work.
    #[serde(skip)]
    pub(crate) together_s: f64,
    #[serde(skip)]
    pub(crate) user: f64,
    #[serde(skip)]
    pub(crate) sys: f64,
    /// Of the process with the largest peak.
    #[serde(skip)]
    pub(crate) rss_kb: u64,
    pub(crate) fields: u64,
    pub(crate) bytes: u64,
    /// Of the process that waited longest for its first field.
    #[serde(skip)]
    pub(crate) first_s: f64,
    /// Of the process that took longest to close, which is not in `seconds`.
    pub(crate) close_s: f64,
    /// From the start of the first process to the end of the last, where `seconds` is what processes report themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lifetime_s: Option<f64>,
}

impl Total {
    pub(crate) fn of(all: &[Usage]) -> Self {
        let sum = |part: fn(&Usage) -> f64| all.iter().map(part).sum::<f64>();
        let max = |part: fn(&Usage) -> f64| all.iter().map(part).fold(f64::NEG_INFINITY, f64::max);
        let min = |part: fn(&Usage) -> f64| all.iter().map(part).fold(f64::INFINITY, f64::min);
        Self {
            procs: all.len(),
            seconds: max(|usage| usage.t1) - min(|usage| usage.t0),
            together_s: (min(|usage| usage.t1) - max(|usage| usage.t0)).max(0.0),
            user: sum(|usage| usage.user),
            sys: sum(|usage| usage.sys),
            rss_kb: all.iter().map(|usage| usage.rss_kb).max().unwrap_or_default(),
            fields: all.iter().map(|usage| usage.fields).sum(),
            bytes: all.iter().map(|usage| usage.bytes).sum(),
            first_s: max(|usage| usage.first_s),
            close_s: max(|usage| usage.close_s),
            lifetime_s: None,
        }
    }

    /// The part of the time in which all processes were at work.
    pub(crate) fn overlap(&self) -> f64 {
        if self.seconds > 0.0 { self.together_s / self.seconds } else { 1.0 }
    }
}

#[derive(Debug)]
pub(crate) struct Watch {
    usage: Usage,
    cpu: Cpu,
}

impl Watch {
    pub(crate) fn start() -> Self {
        let cpu = Cpu::now();
        Self { usage: Usage { t0: seconds(ClockId::Monotonic), ..Usage::default() }, cpu }
    }

    pub(crate) fn field(&mut self, bytes: u64) {
        if self.usage.fields == 0 {
            self.usage.first_s = seconds(ClockId::Monotonic) - self.usage.t0;
        }
        self.usage.fields += 1;
        self.usage.bytes += bytes;
    }

    pub(crate) fn fields(&self) -> u64 {
        self.usage.fields
    }

    /// Ends the measurement, and measures `close` separately.
    pub(crate) fn stop(mut self, close: impl FnOnce()) -> Usage {
        self.usage.t1 = seconds(ClockId::Monotonic);
        let spent = Cpu::now().since(self.cpu);
        (self.usage.user, self.usage.sys) = (spent.user.as_secs_f64(), spent.sys.as_secs_f64());
        close();
        self.usage.close_s = seconds(ClockId::Monotonic) - self.usage.t1;
        // That of getrusage would include the peak of the parent before exec.
        self.usage.rss_kb = read_kb("/proc/self/status", "VmHWM");
        self.usage
    }
}

fn seconds(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    user: Duration,
    sys: Duration,
    total: Duration,
}

impl Cpu {
    /// The total is exact to the nanosecond; the kernel counts user and system time in clock ticks.
    fn now() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let (user, sys) = ticks(&stat).unwrap_or_default();
        let tick = |count: u64| Duration::from_secs_f64(count as f64 / clock_ticks_per_second() as f64);
        let total = Duration::from_secs_f64(seconds(ClockId::ProcessCPUTime));
        Self { user: tick(user), sys: tick(sys), total }
    }

    /// The time since `before`: the exact total, divided in the proportion of the ticks.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_after_a_name_with_parentheses_and_spaces() {
        let stat = "42 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 111 222 13 14";
        assert_eq!(ticks(stat), Some((111, 222)));
        assert_eq!(ticks("42 (cut"), None);
    }

    #[test]
    fn the_exact_total_is_divided_in_the_proportion_of_the_ticks() {
        let ms = Duration::from_millis;
        let before = Cpu::default();
        let after = Cpu { user: ms(30), sys: ms(10), total: ms(44) };
        let spent = after.since(before);
        assert_eq!((spent.user, spent.sys), (ms(33), ms(11)));
    }

    #[test]
    fn a_process_measures_its_peak_memory_and_processor_time() {
        let watch = Watch::start();
        (0..3_000_000u64).for_each(|at| drop(std::hint::black_box(Box::new(at))));
        let usage = watch.stop(|| ());
        assert!(usage.t1 > usage.t0 && usage.user + usage.sys > 0.0, "{usage:?}");
        assert!(usage.rss_kb > 100, "{usage:?}");
    }

    #[test]
    fn the_line_of_json_begins_as_drivers_expect() {
        let line = serde_json::to_string(&Usage::default()).unwrap();
        assert!(line.starts_with(r#"{"t0":"#), "{line}");
    }

    #[test]
    fn a_total_adds_processes_up_from_the_first_start_to_the_last_end() {
        let one = Usage {
            t0: 1.0,
            t1: 3.0,
            user: 1.0,
            sys: 0.5,
            rss_kb: 10,
            fields: 5,
            bytes: 50,
            ..Usage::default()
        };
        let two = Usage { t0: 2.0, t1: 4.5, rss_kb: 30, first_s: 0.25, close_s: 0.5, ..one };
        let total = Total::of(&[one, two]);
        assert_eq!((total.procs, total.seconds, total.user, total.sys), (2, 3.5, 2.0, 1.0));
        assert_eq!(total.together_s, 1.0, "from the last start to the first end");
        assert_eq!((total.rss_kb, total.fields, total.bytes, total.first_s), (30, 10, 100, 0.25));
        assert_eq!((total.close_s, total.lifetime_s), (0.5, None), "after the time");
    }
}
