//! Hammer: fields of a forecast through the field API, as fdb-hammer writes and reads them through FDB.

use std::{io::Write, ops::Range};

use clap::Args;
use isotach_object::Registry;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    harness::{
        events::Recorder,
        launcher::Process,
        study::{Case, Location, Retention, Study, StudyArgs, Work, print_table},
    },
    workloads::forecast::{self, Forecast, ForecastArgs, Pace, PaceArgs, Reader, Writer},
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
    let mut study = Study::begin(Run::NAME, &args.study.site, registry)?;
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

fn cases(args: &HammerArgs, actions: &[Action]) -> Result<Vec<Case<Run>>> {
    let pace = args.itt.then(|| Pace::ITT.with(&args.pace));
    let case = |forecast: Forecast| {
        let mut labels = forecast.labels();
        if args.itt {
            labels.insert("itt".to_owned(), true.into());
        }
        let run = |action: &Action| Run {
            forecast: forecast.clone(),
            action: *action,
            one_by_one: args.one_by_one,
            full_check: args.full_check,
            pace,
        };
        // With windows of time the device does not determine the time of a step.
        let flush_every = pace.is_none().then(|| forecast.shape.block() as u64);
        Case { labels, runs: actions.iter().map(run).collect(), flush_every }
    };
    Ok(Forecast::all(&args.forecast)?.into_iter().map(case).collect())
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Run {
    forecast: Forecast,
    action: Action,
    one_by_one: bool,
    full_check: bool,
    /// The pace; none for as fast as possible.
    pace: Option<Pace>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Action {
    Write,
    Read,
    List,
}

impl Work for Run {
    const NAME: &'static str = "hammer";

    fn bytes_written(&self, processes: u64) -> u64 {
        if self.action == Action::Write { self.forecast.bytes(processes) } else { 0 }
    }

    fn run(&self, location: &Location, process: &mut Process, registry: &Registry) -> Result<()> {
        let store = forecast::open(location, registry)?;
        let rank = process.rank;
        if self.action == Action::Write {
            let writer = Writer::new(store, &self.forecast, self.pace.unwrap_or(Pace::NONE))?;
            return process.phase("write", |recorder| writer.write(rank, recorder));
        }
        let members = self.forecast.shape.members(rank.neighbour(), 1);
        let reader = Reader::new(store, &self.forecast, self.full_check)?;
        if self.action == Action::List {
            let members: Vec<u32> = members.collect();
            return reader.phase("list", process, |reader, recorder| reader.list(&members, recorder));
        }
        reader.phase("read", process, |reader, recorder| self.read(reader, members, recorder))
    }
}

impl Run {
    /// Reads all steps of some members.
    fn read(&self, reader: &mut Reader, members: Range<u32>, recorder: &mut Recorder) -> Result<()> {
        self.forecast.shape.steps().try_for_each(|step| match (&self.pace, self.one_by_one) {
            (Some(pace), _) => reader.follow(members.clone().collect(), step, pace, recorder),
            (None, true) => members.clone().try_for_each(|member| reader.one_by_one(member, step, recorder)),
            (None, false) => members.clone().try_for_each(|member| reader.request(&[member], step, recorder)),
        })
    }
}
