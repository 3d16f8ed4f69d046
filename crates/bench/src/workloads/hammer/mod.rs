//! Hammer: fields of a forecast through the field API, as fdb-hammer writes and reads them through FDB.

mod play;

use std::io::Write;

use clap::Args;
use isotach_object::Registry;

pub(crate) use self::play::{NAME, run_process};

use self::play::{Action, Task};
use crate::{
    Error, Result,
    harness::{
        launcher,
        study::{Case, Location, Retention, Study, StudyArgs, Work, print_table},
    },
    workloads::forecast::{self, Forecast, ForecastArgs, Pace, PaceArgs},
};

/// Options of hammer, with fdb-hammer's names.
#[derive(Debug, Clone, Args)]
pub(crate) struct HammerArgs {
    /// Write the fields (the default); with --read and --list, before these
    #[arg(long)]
    pub(crate) write: bool,
    /// Read the fields; without --write those in --pool, from a run with --keep and the same options
    #[arg(long)]
    pub(crate) read: bool,
    /// List the fields; without --write as with --read
    #[arg(long)]
    pub(crate) list: bool,
    /// Leave the pools and the fields in them
    #[arg(long)]
    pub(crate) keep: bool,
    /// Also show the time of the processes by call of the field API
    #[arg(long)]
    pub(crate) statistics: bool,
    /// Read each field by a request of its own, instead of each step of a member
    #[arg(long, conflicts_with = "itt")]
    pub(crate) one_by_one: bool,
    /// Compare every byte that is read, instead of header and both ends of the values
    #[arg(long)]
    pub(crate) full_check: bool,
    /// Keep the pace of a forecast: steps in windows of time, and readers that poll until a step is available. The defaults are
    /// --step-window 10, --random-delay 100, --poll-period 1 and --poll-max-attempts 200
    #[arg(long)]
    pub(crate) itt: bool,
    /// The pace
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    /// The fields
    #[command(flatten)]
    pub(crate) forecast: ForecastArgs,
    /// Where, with how many processes, how often
    #[command(flatten)]
    pub(crate) study: StudyArgs,
}

pub(crate) fn run(args: &HammerArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let actions = args.actions();
    let retention = args.retention(&actions)?;
    if !args.itt {
        args.pace.check_unused()?;
    }
    let cases = cases(args, &actions)?;
    let mut study = Study::begin(NAME, &args.study.site, registry)?;
    study.retention = retention;
    study.run(&args.study, &cases, |pool| forecast::prepare(pool, registry))?;
    study.finish(&args.study, out, |record, out| print_table(record, args.statistics, out))
}

impl HammerArgs {
    fn actions(&self) -> Vec<Action> {
        let writes = self.write || !(self.read || self.list);
        let all = [(writes, Action::Write), (self.read, Action::Read), (self.list, Action::List)];
        all.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, action)| action).collect()
    }

    fn retention(&self, actions: &[Action]) -> Result<Retention> {
        let writes = actions.contains(&Action::Write);
        if !writes && self.study.site.pools.is_empty() {
            let expected = "--pool of a run with --keep, or --write as well";
            return Err(Error::invalid("nothing to read or list", expected));
        }
        if !writes {
            return Ok(Retention::Existing);
        }
        let runs =
            self.study.repetitions as usize * self.study.processes.len() * self.forecast.sizes.len().max(1);
        match (self.keep, self.study.site.pools.is_empty()) {
            (false, _) => Ok(Retention::Remove),
            (true, true) => Err(Error::invalid("--keep without --pool", "--pool, which says where")),
            (true, false) if runs > 1 => Err(Error::invalid(
                format!("--keep with {runs} runs, each of which needs the pool"),
                "--repetitions 1, one size and one number of processes",
            )),
            (true, false) => Ok(Retention::Keep),
        }
    }
}

fn cases(args: &HammerArgs, actions: &[Action]) -> Result<Vec<Case<Task>>> {
    let pace = args.itt.then(|| Pace::ITT.with(&args.pace));
    let case = |forecast: Forecast| {
        let mut labels = forecast.labels();
        if args.itt {
            labels.insert("itt".to_owned(), true.into());
        }
        let task = |action: &Action| Task {
            pool: String::new(),
            forecast: forecast.clone(),
            action: *action,
            one_by_one: args.one_by_one,
            full_check: args.full_check,
            pace,
        };
        // With windows of time the device does not determine the time of a step.
        let flush_every = pace.is_none().then(|| forecast.shape.block() as u64);
        Case { labels, runs: actions.iter().map(task).collect(), flush_every }
    };
    Ok(Forecast::all(&args.forecast)?.into_iter().map(case).collect())
}

impl Work for Task {
    fn task(&self, location: &Location) -> Result<launcher::Task> {
        launcher::Task::new(NAME, &Self { pool: location.to_string(), ..self.clone() })
    }

    fn bytes_written(&self, processes: u64) -> u64 {
        if self.action == Action::Write { self.forecast.bytes(processes) } else { 0 }
    }
}
