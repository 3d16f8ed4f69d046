//! The rhythm of writers and readers: windows for steps, and how often a reader asks.

use std::{
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, args::seconds};

/// Options for the rhythm, with fdb-hammer's names.
#[derive(Debug, Clone, Default, Args)]
pub struct PaceArgs {
    /// Seconds that each step of a writer takes at least: it waits for the rest of them
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) step_window: Option<f64>,
    /// Writers begin late, each by another time up to so many hundredths of the window
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    pub(crate) random_delay: Option<u8>,
    /// Seconds that a reader waits before it asks again
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) poll_period: Option<f64>,
    /// How often a reader asks without any news before it gives up
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) poll_max_attempts: Option<u32>,
}

/// The rhythm that a process keeps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pace {
    pub(crate) step_window: f64,
    pub(crate) random_delay: u8,
    pub(crate) poll_period: f64,
    pub(crate) poll_max_attempts: u32,
}

impl Pace {
    /// As fast as can be.
    pub(crate) const NONE: Self =
        Self { step_window: 0.0, random_delay: 0, poll_period: 0.01, poll_max_attempts: 6000 };
    /// fdb-hammer's own.
    pub(crate) const ITT: Self =
        Self { step_window: 10.0, random_delay: 100, poll_period: 1.0, poll_max_attempts: 200 };

    /// This pace, but for what is asked for.
    pub(crate) fn with(self, args: &PaceArgs) -> Self {
        Self {
            step_window: args.step_window.unwrap_or(self.step_window),
            random_delay: args.random_delay.unwrap_or(self.random_delay),
            poll_period: args.poll_period.unwrap_or(self.poll_period),
            poll_max_attempts: args.poll_max_attempts.unwrap_or(self.poll_max_attempts),
        }
    }

    /// How late a writer begins.
    pub(crate) fn delay(&self, writer: u32) -> Duration {
        // Multiples of the golden ratio are spread well, whatever the number of writers.
        let part = (f64::from(writer) * 0.618_033_988_749_895).fract();
        Duration::from_secs_f64(self.step_window * f64::from(self.random_delay) / 100.0 * part)
    }

    /// Waits for the rest of the window of a step that began then; false if it was over.
    pub(crate) fn end_step(&self, began: Instant) -> bool {
        let rest = Duration::from_secs_f64(self.step_window).checked_sub(began.elapsed());
        rest.inspect(|rest| thread::sleep(*rest)).is_some() || self.step_window == 0.0
    }

    /// Waits before the store is asked again.
    pub(crate) fn pause(&self) {
        thread::sleep(Duration::from_secs_f64(self.poll_period));
    }
}

impl PaceArgs {
    /// Refuses options that would do nothing.
    pub(crate) fn check_unused(&self) -> Result<()> {
        let given = [
            ("--step-window", self.step_window.is_some()),
            ("--random-delay", self.random_delay.is_some()),
            ("--poll-period", self.poll_period.is_some()),
            ("--poll-max-attempts", self.poll_max_attempts.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Error::invalid(format!("{name} without --itt"), "--itt as well")),
            None => Ok(()),
        }
    }
}
