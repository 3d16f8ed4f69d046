//! The operational pattern: writers stream the members of an ensemble step by step. Readers take each step across all
//! members as soon as it is available, while the writers continue.

use std::io::Write;

use clap::Args;
use isotach_object::Registry;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    harness::{
        launcher::Process,
        study::{Case, Location, Study, StudyArgs, Work, print_table},
    },
    workloads::forecast::{self, Forecast, ForecastArgs, Pace, PaceArgs, Reader, Writer},
};

/// Options of the operational pattern.
#[derive(Debug, Clone, Args)]
pub(crate) struct OperationalArgs {
    /// Also show the time of the processes by call of the field API
    #[arg(long)]
    pub(crate) statistics: bool,
    /// Compare every byte that is read, instead of header and both ends of the values
    #[arg(long)]
    pub(crate) full_check: bool,
    /// The pace. The defaults are --step-window 0, --random-delay 0, --poll-period 0.01 and --poll-max-attempts 6000
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    /// The fields
    #[command(flatten)]
    pub(crate) forecast: ForecastArgs,
    /// Where, with how many processes, how often
    #[command(flatten)]
    pub(crate) study: StudyArgs,
}

pub(crate) fn run(args: &OperationalArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    check(args)?;
    let pace = Pace::NONE.with(&args.pace);
    let full_check = args.full_check;
    let case = |forecast: Forecast| Case {
        labels: forecast.labels(),
        // With windows of time the device does not determine the time of a step.
        flush_every: (pace.step_window == 0.0).then(|| forecast.shape.block() as u64),
        runs: vec![Run { forecast, full_check, pace }],
    };
    let cases: Vec<Case<Run>> = Forecast::all(&args.forecast)?.into_iter().map(case).collect();
    let mut study = Study::begin(Run::NAME, &args.study.site, registry)?;
    study.run(&args.study, &cases, |pool| forecast::prepare(pool, registry))?;
    study.finish(&args.study, out, |record, out| print_table(record, args.statistics, out))
}

/// Refuses processes that cannot be halved, and more readers than steps.
fn check(args: &OperationalArgs) -> Result<()> {
    args.study.check_halves("the operational pattern")?;
    for count in args.study.totals() {
        if count / 2 > args.forecast.nsteps as usize {
            let what = format!("{} readers and {} steps", count / 2, args.forecast.nsteps);
            return Err(Error::invalid(
                what,
                "at least as many steps (--nsteps) as readers, which share them",
            ));
        }
    }
    Ok(())
}

/// The work of all processes: the first half of them writes, the second half reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Run {
    forecast: Forecast,
    full_check: bool,
    pace: Pace,
}

impl Work for Run {
    const NAME: &'static str = "operational";

    fn bytes_written(&self, processes: u64) -> u64 {
        self.forecast.bytes(processes / 2)
    }

    fn run(&self, location: &Location, process: &mut Process, registry: &Registry) -> Result<()> {
        let store = forecast::open(location, registry)?;
        let (rank, shape) = (process.rank, &self.forecast.shape);
        let ((is_writer, number), writers) = (rank.half(), rank.processes / 2);
        if is_writer {
            let writer = Writer::new(store, &self.forecast, self.pace)?;
            return process.phase("write", |recorder| writer.write(rank, recorder));
        }
        let reader = Reader::new(store, &self.forecast, self.full_check)?;
        reader.phase("read", process, |reader, recorder| {
            // Readers take turns, so each has its own steps.
            let mut steps = shape.steps().skip(number as usize).step_by(writers as usize);
            let members = || shape.members(0, writers).collect();
            steps.try_for_each(|step| reader.follow(members(), step, &self.pace, recorder))
        })
    }
}
