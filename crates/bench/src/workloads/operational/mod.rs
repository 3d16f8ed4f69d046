//! The operational pattern: writers stream the members of an ensemble step by step, and readers take each step across all
//! members as soon as it is there, while the writers go on.

mod play;

use std::io::Write;

use clap::Args;
use isotach_object::Registry;

pub(crate) use self::play::{Task, play};

use crate::{
    Error, Result,
    harness::study::{Case, Study, StudyArgs, print_table},
    workloads::forecast::{self, Forecast, ForecastArgs, Pace, PaceArgs},
};

/// Options of the operational pattern.
#[derive(Debug, Clone, Args)]
pub struct OperationalArgs {
    /// Also show how the time of the processes went over the calls of the field API
    #[arg(long)]
    pub(crate) statistics: bool,
    /// Compare every byte of what is read, not header and both ends of the values alone
    #[arg(long)]
    pub(crate) full_check: bool,
    /// The rhythm. The defaults are --step-window 0, --random-delay 0, --poll-period 0.01 and --poll-max-attempts 6000
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    /// The fields
    #[command(flatten)]
    pub(crate) forecast: ForecastArgs,
    /// Where, with how many processes, how often
    #[command(flatten)]
    pub(crate) study: StudyArgs,
}

/// Runs all cases.
pub(crate) fn run(args: &OperationalArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    check(args)?;
    let pace = Pace::NONE.with(&args.pace);
    let full_check = args.full_check;
    let case = |forecast: Forecast| Case {
        labels: forecast.labels(),
        // Windows of time, not the device, say how long steps take.
        flush_every: (pace.step_window == 0.0).then(|| forecast.shape.block() as u64),
        plays: vec![Task { pool: String::new(), forecast, full_check, pace }],
        bytes: |task, processes| task.forecast.bytes(processes / 2),
    };
    let cases: Vec<Case<Task>> = Forecast::all(&args.forecast)?.into_iter().map(case).collect();
    let mut study = Study::begin("operational", &args.study.site, registry)?;
    study.run(
        &args.study,
        &cases,
        |task, pool| crate::Task::Operational(Task { pool: pool.to_owned(), ..task.clone() }),
        |pool| forecast::prepare(pool, registry),
    )?;
    study.finish_with(&args.study, out, |record, out| print_table(record, args.statistics, out))
}

/// Half of the processes write and half read, and each reader must have a step.
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
