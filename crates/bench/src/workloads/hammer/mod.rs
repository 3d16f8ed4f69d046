//! Hammer: fields of a forecast through the field API, as fdb-hammer does it with FDB.

mod play;

use std::io::Write;

use clap::Args;
use isotach_object::Registry;

pub(crate) use self::play::{Task, play};

use self::play::Act;
use crate::{
    Error, Result,
    harness::study::{Case, Custody, Study, StudyArgs, print_table},
    workloads::forecast::{self, Forecast, ForecastArgs, Pace, PaceArgs},
};

/// Options of hammer, with fdb-hammer's names.
#[derive(Debug, Clone, Args)]
pub struct HammerArgs {
    /// Write the fields (the default); with --read and --list, before these
    #[arg(long)]
    pub(crate) write: bool,
    /// Read the fields; without --write those that a run with the same options and --keep has left in --pool
    #[arg(long)]
    pub(crate) read: bool,
    /// List the fields; without --write as with --read
    #[arg(long)]
    pub(crate) list: bool,
    /// Leave the pools and the fields in them
    #[arg(long)]
    pub(crate) keep: bool,
    /// Also show how the time of the processes went over the calls of the field API
    #[arg(long)]
    pub(crate) statistics: bool,
    /// Read each field by a request of its own, instead of each step of a member
    #[arg(long, conflicts_with = "itt")]
    pub(crate) one_by_one: bool,
    /// Compare every byte of what is read, not header and both ends of the values alone
    #[arg(long)]
    pub(crate) full_check: bool,
    /// Keep the rhythm of a forecast: steps in windows of time, and readers that ask until a step is there. The defaults are
    /// --step-window 10, --random-delay 100, --poll-period 1 and --poll-max-attempts 200
    #[arg(long)]
    pub(crate) itt: bool,
    /// The rhythm
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
pub(crate) fn run(args: &HammerArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let acts = args.acts();
    let custody = args.custody(&acts)?;
    if !args.itt {
        args.pace.check_unused()?;
    }
    let cases = cases(args, &acts)?;
    let mut study = Study::begin("hammer", &args.study.site, registry)?;
    study.custody = custody;
    study.run(
        &args.study,
        &cases,
        |task, pool| crate::Task::Hammer(Task { pool: pool.to_owned(), ..task.clone() }),
        |pool| forecast::prepare(pool, registry),
    )?;
    study.finish_with(&args.study, out, |record, out| print_table(record, args.statistics, out))
}

impl HammerArgs {
    /// What there is to do, in this order.
    fn acts(&self) -> Vec<Act> {
        let writes = self.write || !(self.read || self.list);
        let all = [(writes, Act::Write), (self.read, Act::Read), (self.list, Act::List)];
        all.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, act)| act).collect()
    }

    fn custody(&self, acts: &[Act]) -> Result<Custody> {
        let writes = acts.contains(&Act::Write);
        if !writes && self.study.site.pools.is_empty() {
            let expected = "--pool with what a run with --keep has left, or --write as well";
            return Err(Error::invalid("nothing to read or list", expected));
        }
        if !writes {
            return Ok(Custody::Existing);
        }
        let runs =
            self.study.repetitions as usize * self.study.processes.len() * self.forecast.sizes.len().max(1);
        match (self.keep, self.study.site.pools.is_empty()) {
            (false, _) => Ok(Custody::Remove),
            (true, true) => Err(Error::invalid("--keep without --pool", "--pool, for what is left")),
            (true, false) if runs > 1 => Err(Error::invalid(
                format!("--keep with {runs} runs, each of which needs the pool"),
                "--repetitions 1, one size and one number of processes",
            )),
            (true, false) => Ok(Custody::Keep),
        }
    }
}

fn cases(args: &HammerArgs, acts: &[Act]) -> Result<Vec<Case<Task>>> {
    let pace = args.itt.then(|| Pace::ITT.with(&args.pace));
    let case = |forecast: Forecast| {
        let mut labels = forecast.labels();
        if args.itt {
            labels.insert("itt".to_owned(), true.into());
        }
        let task = |act: &Act| Task {
            pool: String::new(),
            forecast: forecast.clone(),
            act: *act,
            one_by_one: args.one_by_one,
            full_check: args.full_check,
            pace,
        };
        let bytes = |task: &Task, processes| match task.act {
            Act::Write => task.forecast.bytes(processes),
            Act::Read | Act::List => 0,
        };
        // Windows of time, not the device, say how long steps take.
        let flush_every = pace.is_none().then(|| forecast.shape.block() as u64);
        Case { labels, plays: acts.iter().map(task).collect(), bytes, flush_every }
    };
    Ok(Forecast::all(&args.forecast)?.into_iter().map(case).collect())
}
